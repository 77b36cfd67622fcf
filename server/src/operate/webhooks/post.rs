//! One request to a webhook.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use entity_core::{Error, Result};
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::header::{CONTENT_TYPE, USER_AGENT};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use sha2::Sha256;
use tokio::sync::{Notify, OnceCell};

use super::address::{self, Resolver};

/// The beginning of secrets, as the specification has it.
pub(super) const SECRET: &str = "whsec_";

/// The time that an attempt takes at most, and how long the connection.
const WHOLE: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(5);
/// The maximum number of bytes of an answer that are read, and thrown away.
const ANSWER: usize = 64 << 10;
/// The `User-Agent` of the service.
const AGENT: &str = concat!("Lectern/", env!("CARGO_PKG_VERSION"));

/// Sends requests to webhooks. The client for them is made when something is first sent.
#[derive(Debug)]
pub(crate) struct Post {
    allows_private: bool,
    client: OnceCell<Client>,
    news: Arc<Notify>,
}

/// A delivery as it is sent.
pub(super) struct DeliveryRequest<'a> {
    /// The id by which the receiver knows it again.
    pub(super) id: &'a str,
    pub(super) url: &'a str,
    /// The secret.
    pub(super) key: &'a str,
    pub(super) body: String,
    /// The time of the attempt.
    pub(super) time: DateTime<Utc>,
}

impl Post {
    pub(crate) fn new(allows_private: bool) -> Self {
        Self {
            allows_private,
            client: OnceCell::new(),
            news: Arc::new(Notify::new()),
        }
    }

    /// Wakes the sender of this node.
    pub(super) fn wake(&self) {
        self.news.notify_one();
    }

    /// Returns the notification that wakes the sender.
    pub(super) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.news)
    }

    /// Sends `letter`, and returns the status of the answer, or why there is none.
    pub(super) async fn send(
        &self,
        letter: &DeliveryRequest<'_>,
    ) -> Result<Result<u16, &'static str>> {
        let client = self
            .client
            .get_or_try_init(async || client(self.allows_private));
        let client = client.await?;
        // The address was looked at when it was written, perhaps under another setting. The resolver sees no literal one.
        if address::host(letter.url, self.allows_private).is_err() {
            return Ok(Err(UNREACHED));
        }
        let time = letter.time.timestamp().to_string();
        let Some(signature) = sign(letter, &time) else {
            return Ok(Err("there is no secret to sign with: rotate it"));
        };
        let request = client
            .post(letter.url)
            .header(CONTENT_TYPE, "application/json")
            .header(USER_AGENT, AGENT)
            .header("webhook-id", letter.id)
            .header("webhook-timestamp", time)
            .header("webhook-signature", signature)
            .body(letter.body.clone());
        Ok(match request.send().await {
            Ok(response) => {
                let status = response.status().as_u16();
                discard(response).await;
                Ok(status)
            }
            Err(error) => Err(reason(&error)),
        })
    }
}

fn client(allows_private: bool) -> Result<Client> {
    // The library for TLS wants to be told once in a process which ciphers it uses; who told it first is right.
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder()
        .timeout(WHOLE)
        .connect_timeout(CONNECT)
        .redirect(Policy::none())
        .no_proxy()
        .https_only(!allows_private)
        .dns_resolver(Resolver { allows_private })
        .pool_max_idle_per_host(1)
        .build()
        .map_err(Error::internal)
}

/// Reads the answer, so that the connection can be used again, unless it is too long. Nothing depends on it any more.
async fn discard(mut response: Response) {
    let mut read = 0_usize;
    while let Ok(Some(part)) = response.chunk().await {
        read = read.saturating_add(part.len());
        if read > ANSWER {
            return;
        }
    }
}

/// Returns the signature, if the secret is one.
fn sign(letter: &DeliveryRequest<'_>, time: &str) -> Option<String> {
    let key = letter.key.strip_prefix(SECRET)?;
    let key = STANDARD.decode(key).ok()?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    for part in [letter.id, ".", time, ".", &letter.body] {
        mac.update(part.as_bytes());
    }
    Some(format!(
        "v1,{}",
        STANDARD.encode(mac.finalize().into_bytes())
    ))
}

/// One reason for both, so that nobody learns which names there are in the network of the service.
const UNREACHED: &str = "the host can't be reached, or its address is not public";

/// Returns in a few words why there is no answer. They tell nothing of what is in the network of the service.
fn reason(error: &reqwest::Error) -> &'static str {
    match () {
        () if error.is_timeout() => "there was no answer in time",
        () if error.is_connect() => UNREACHED,
        () => "the host broke off",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_specification() {
        // The example of the specification's own libraries.
        let letter = DeliveryRequest {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            url: "",
            key: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            body: r#"{"test": 2432232314}"#.to_owned(),
            time: DateTime::default(),
        };
        assert_eq!(
            sign(&letter, "1614265330").as_deref(),
            Some("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        );
    }
}
