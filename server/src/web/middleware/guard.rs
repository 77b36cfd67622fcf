//! Refuses requests that no endpoint should have to think about: wrong hosts, overlong targets, tunnels,
//! encoded bodies, and announced bodies that are too large.

use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HOST};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use entity_core::{Error, ErrorKind, Result};

use crate::base::address;
use crate::base::config::Config;

/// Refuses overlong targets, tunnels, encoded bodies, and announced bodies that are too large for a request that brings
/// files or none.
///
/// # Errors
/// It is one of these.
pub fn check(parts: &Parts, config: &Config, brings_files: bool) -> Result<()> {
    let uri = &parts.uri;
    let query = uri.query().map_or(0, |it| it.len() + 1);
    if uri.path().len() + query > config.limits.uri_bytes.0 {
        return Err(Error::new(ErrorKind::UriTooLong, "the address is too long"));
    }
    // `/direct/` and `/portal/` alone are start pages, as `/` is, and the addresses of folders end with a slash.
    let path = uri.path();
    let is_folder = path.starts_with("/access/content/");
    if path.contains("//")
        || (path.ends_with('/') && !is_folder && !matches!(path, "/" | "/direct/" | "/portal/"))
    {
        return Err(Error::bad_request(
            "the path must not have an empty segment",
        ));
    }
    // A tunnel has no address here that could say what it takes.
    if parts.method == Method::CONNECT && uri.path().is_empty() {
        return Err(Error::method_not_allowed(Vec::new()));
    }
    let most = match brings_files {
        // The fields of the form come on top.
        true => config
            .files
            .size
            .0
            .saturating_add(config.limits.other_body.0),
        false => config.limits.other_body.0,
    };
    check_body(&parts.headers, most)
}

/// Insists on exactly one host; the same one if the target names one too; one of ours if ours are listed.
///
/// # Errors
/// It is otherwise.
pub fn check_host(parts: &Parts, config: &Config) -> Result<()> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let named = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().unwrap_or_default(),
        (None, _) => return Err(Error::bad_request("the request must name its host")),
        (Some(_), Some(_)) => {
            return Err(Error::bad_request("the request must name one host only"));
        }
    };
    if parts
        .uri
        .authority()
        .is_some_and(|it| !it.as_str().eq_ignore_ascii_case(named))
    {
        return Err(Error::bad_request("the request names two different hosts"));
    }
    match is_ours(parts, named, config) {
        true => Ok(()),
        false => Err(Error::bad_request(
            "this service does not answer for that host",
        )),
    }
}

/// Returns whether the host is one of ours, if these are listed: that which the client named, not what our proxy made of it.
fn is_ours(parts: &Parts, named: &str, config: &Config) -> bool {
    if config.hosts.is_empty() {
        return true;
    }
    let told = address::host(parts, config);
    let name = name_of(told.as_deref().unwrap_or(named));
    config.hosts.iter().any(|it| it.eq_ignore_ascii_case(name))
}

/// The host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => host,
    }
}

fn check_body(headers: &HeaderMap, most: usize) -> Result<()> {
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
        Some(length) if length > most => Err(Error::new(
            ErrorKind::TooLarge,
            format!("the body must not be longer than {most} bytes"),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderValue, Request};

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

    fn config(hosts: &str) -> Config {
        Config::with(&[("hosts", hosts)])
    }

    fn request(target: &str, hosts: &[&str]) -> Parts {
        let builder = Request::builder().uri(target);
        hosts
            .iter()
            .fold(builder, |it, host| it.header(HOST, *host))
            .body(())
            .unwrap()
            .into_parts()
            .0
    }

    #[test]
    fn http_2_a_request_names_one_host_and_it_is_ours() {
        for (ours, target, hosts, is_fine) in [
            ("", "/a", &["any.example"][..], true),
            ("", "/a", &[], false),
            ("", "/a", &["a.example", "a.example"], false),
            ("", "http://a.example/a", &["a.example"], true),
            ("", "http://evil.example/a", &["a.example"], false),
            ("", "http://a.example:81/a", &["a.example"], false),
            ("a.example,b.example", "/a", &["B.example:8080"], true),
            ("a.example", "/a", &["a.example.evil"], false),
            ("a.example", "/a", &["evil.a.example"], false),
            (
                "a.example",
                "http://evil.example/a",
                &["evil.example"],
                false,
            ),
        ] {
            let checked = check_host(&request(target, hosts), &config(ours));
            assert_eq!(checked.is_ok(), is_fine, "{ours} {target} {hosts:?}");
        }
    }

    #[test]
    fn dos_1_what_can_not_be_served_is_refused_before_the_body() {
        let config = config("");
        let refusal = |change: fn(&mut Parts)| {
            let mut request = request("/a", &["a.example"]);
            change(&mut request);
            check(&request, &config, false).err().map(|it| it.kind())
        };
        assert_eq!(refusal(|_| ()), None);
        let connect = |it: &mut Parts| {
            it.method = Method::CONNECT;
            it.uri = "a.example:443".parse().unwrap();
        };
        assert_eq!(refusal(connect), Some(ErrorKind::MethodNotAllowed));
        assert_eq!(
            refusal(|it| it.uri = format!("/{}", "a".repeat(4096)).parse().unwrap()),
            Some(ErrorKind::UriTooLong)
        );
        assert_eq!(
            refusal(|it| set(it, CONTENT_ENCODING, "gzip")),
            Some(ErrorKind::UnsupportedMediaType)
        );
        assert_eq!(refusal(|it| set(it, CONTENT_ENCODING, "identity")), None);
        assert_eq!(refusal(|it| set(it, CONTENT_LENGTH, "1048576")), None);
        for length in ["1048577", "18446744073709551615"] {
            let mut request = request("/a", &["a.example"]);
            set(&mut request, CONTENT_LENGTH, length);
            let error = check(&request, &config, false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TooLarge, "{length}");
        }
    }

    #[test]
    fn http_4_behind_a_proxy_the_host_is_what_the_client_named() {
        let config = Config::with(&[("hosts", "a.example"), ("proxy.trusted", "127.0.0.1")]);
        for (peer, told, is_fine) in [
            ("127.0.0.1:9", "a.example", true),
            ("127.0.0.1:9", "evil.example, a.example", true),
            ("127.0.0.1:9", "a.example, evil.example", false),
            ("192.0.2.1:9", "a.example", false),
        ] {
            let mut request = request("/a", &["inner.example"]);
            let peer = address::Peer(peer.parse().unwrap());
            request.extensions.insert(peer);
            set(
                &mut request,
                axum::http::HeaderName::from_static("x-forwarded-host"),
                told,
            );
            let checked = check_host(&request, &config);
            assert_eq!(checked.is_ok(), is_fine, "{peer:?} {told}");
        }
    }

    fn set(request: &mut Parts, name: axum::http::HeaderName, value: &'static str) {
        let value = HeaderValue::from_static(value);
        request.headers.insert(name, value);
    }
}
