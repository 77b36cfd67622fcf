//! Refuses requests that no endpoint should have to think about: wrong hosts, overlong targets, methods
//! that nobody offers, encoded bodies, and announced bodies that are too large.

use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HOST};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use entity_core::{Error, ErrorKind, Result, Verb};
use tokio::time::timeout;

use crate::app::App;
use crate::config::Config;

/// The layer. It also ends the work on a request that takes too long.
pub async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    if let Err(error) = examine(&request, &app.config) {
        return app.refuse(&error, request.headers());
    }
    let headers = request.headers().clone();
    let deadline = deadline(&request, &app.config);
    match timeout(deadline, next.run(request)).await {
        Ok(response) => response,
        Err(_elapsed) => {
            let error = Error::unavailable("the request took too long: try again", 1);
            app.refuse(&error, &headers)
        }
    }
}

/// How long the request may take: reading its body has a time limit of its own.
fn deadline(request: &Request, config: &Config) -> Duration {
    match request.method().is_safe() {
        true => config.request_deadline,
        false => config.request_deadline + config.body_timeout,
    }
}

fn examine(request: &Request, config: &Config) -> Result<()> {
    if request.uri().to_string().len() > config.uri_bytes.0 {
        return Err(Error::new(ErrorKind::UriTooLong, "the address is too long"));
    }
    if !is_offered(request.method()) {
        return Err(Error::method_not_allowed(Verb::ALL.to_vec()));
    }
    check_host(request, config)?;
    check_body(request.headers(), config)
}

fn is_offered(method: &Method) -> bool {
    [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ]
    .contains(method)
}

/// Exactly one host; the same one if the target names one too; one of ours if ours are listed.
fn check_host(request: &Request, config: &Config) -> Result<()> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let named = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        (None, _) => return Err(Error::bad_request("the request must name its host")),
        (Some(_), Some(_)) => {
            return Err(Error::bad_request("the request must name one host only"));
        }
    };
    if request
        .uri()
        .authority()
        .is_some_and(|it| !it.as_str().eq_ignore_ascii_case(named))
    {
        return Err(Error::bad_request("the request names two different hosts"));
    }
    let name = name_of(named);
    match config.hosts.is_empty() || config.hosts.iter().any(|it| it.eq_ignore_ascii_case(name)) {
        true => Ok(()),
        false => Err(Error::bad_request(
            "this service does not answer for that host",
        )),
    }
}

/// The host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

fn check_body(headers: &HeaderMap, config: &Config) -> Result<()> {
    if headers
        .get(CONTENT_ENCODING)
        .is_some_and(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity"))
    {
        return Err(Error::new(
            ErrorKind::UnsupportedMediaType,
            "send the body without a content encoding",
        ));
    }
    let length = headers
        .get(CONTENT_LENGTH)
        .and_then(|it| it.to_str().ok())
        .and_then(|it| it.parse::<usize>().ok());
    match length {
        Some(length) if length > config.other_body.0 => Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "the body must not be longer than {} bytes",
                config.other_body.0
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_no_part_of_the_name() {
        for (host, name) in [
            ("a.edu", "a.edu"),
            ("a.edu:8080", "a.edu"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(name_of(host), name);
        }
    }
}
