//! A receiver of webhooks, as somebody else would write it: it knows the secret and the specification, and nothing of the
//! service.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The answer to a request.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply {
    Status(u16),
    /// 302 to the same address.
    Redirect,
    /// 200 with fewer bytes than it says.
    Lie,
    /// 200 with bytes that have no end.
    Flood,
    /// Nothing, ever.
    Hang,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) line: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: String,
}

#[derive(Clone, Debug)]
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Receiver {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let receiver = Self {
            address: listener.local_addr().expect("an address"),
            received: Arc::default(),
            replies: Arc::default(),
        };
        let of_task = receiver.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let receiver = of_task.clone();
                tokio::spawn(async move { receiver.serve(stream).await });
            }
        });
        receiver
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/hook?from=lectern", self.address)
    }

    /// Answers the next requests so, and those behind them with 204.
    pub(super) fn reply(&self, replies: &[Reply]) {
        self.replies.lock().expect("no panic").extend(replies);
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.received.lock().expect("no panic").clone()
    }

    /// The titles in the bodies, in the order in which they came.
    pub(super) fn titles(&self) -> Vec<String> {
        let received = self.received();
        let title = |it: &Received| it.json()["data"]["title"].as_str().map(ToOwned::to_owned);
        received.iter().filter_map(title).collect()
    }

    async fn serve(&self, mut stream: TcpStream) {
        while let Some(request) = read(&mut stream).await {
            self.received.lock().expect("no panic").push(request);
            let reply = self.replies.lock().expect("no panic").pop_front();
            let answer = match reply.unwrap_or(Reply::Status(204)) {
                Reply::Status(status) => {
                    format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n")
                }
                Reply::Redirect => format!(
                    "HTTP/1.1 302 Found\r\nlocation: {}\r\ncontent-length: 0\r\n\r\n",
                    self.url()
                ),
                Reply::Lie => "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nshort".to_owned(),
                Reply::Flood => {
                    let head = "HTTP/1.1 200 OK\r\ncontent-length: 100000000000\r\n\r\n";
                    if stream.write_all(head.as_bytes()).await.is_ok() {
                        while stream.write_all(&[b'x'; 1024]).await.is_ok() {}
                    }
                    return;
                }
                Reply::Hang => {
                    std::future::pending::<()>().await;
                    return;
                }
            };
            let written = stream.write_all(answer.as_bytes()).await;
            if written.is_err() || matches!(reply, Some(Reply::Lie)) {
                return;
            }
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    loop {
        if let Some(request) = parse(&bytes) {
            return Some(request);
        }
        let mut part = [0; 4096];
        let length = stream.read(&mut part).await.ok()?;
        if length == 0 {
            return None;
        }
        bytes.extend_from_slice(&part[..length]);
    }
}

fn parse(bytes: &[u8]) -> Option<Received> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let line = lines.next()?.to_owned();
    let headers = lines.filter_map(|it| it.split_once(": "));
    let headers: BTreeMap<String, String> = headers
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length")?.parse().ok()?;
    (body.len() >= length).then(|| Received {
        line,
        body: body.get(..length).unwrap_or_default().to_owned(),
        headers,
    })
}

impl Received {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("JSON")
    }

    pub(super) fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    /// Returns whether it is signed with `secret`.
    pub(super) fn is_signed(&self, secret: &str) -> bool {
        let key = secret.strip_prefix("whsec_").expect("a secret");
        let key = STANDARD.decode(key).expect("base64");
        let time = &self.headers["webhook-timestamp"];
        let text = format!("{}.{time}.{}", self.id(), self.body);
        let mac = STANDARD.encode(hmac(&key, text.as_bytes()));
        self.headers["webhook-signature"] == format!("v1,{mac}")
    }
}

/// HMAC-SHA-256 as RFC 2104 has it.
fn hmac(key: &[u8], text: &[u8]) -> Vec<u8> {
    assert!(key.len() <= 64, "a longer key is hashed first");
    let pad = |with: u8| -> Vec<u8> {
        let key = key.iter().copied().chain(std::iter::repeat(0)).take(64);
        key.map(|it| it ^ with).collect()
    };
    let inner = Sha256::digest([&pad(0x36), text].concat());
    Sha256::digest([pad(0x5c), inner.to_vec()].concat()).to_vec()
}
