//! Tests of the proxies that are believed, and how far.

use axum::http::{HeaderValue, Request};

use crate::base::address::*;

/// A service behind proxies of 10.0.0.0/8 that write this header.
fn config(header: &str) -> Config {
    Config::with(&[("proxy.trusted", "10.0.0.0/8"), ("proxy.header", header)])
}

fn arrive(
    config: &Config,
    peer: &str,
    headers: &[(&'static str, &[u8])],
) -> (String, bool, Option<String>) {
    let (mut parts, ()) = Request::new(()).into_parts();
    parts
        .extensions
        .insert(Peer(SocketAddr::new(peer.parse().unwrap(), 4711)));
    for (name, value) in headers {
        let value = HeaderValue::from_bytes(value).unwrap();
        parts.headers.append(*name, value);
    }
    let arrived = find(&parts, config);
    assert_eq!(
        arrived.peer.unwrap(),
        peer.parse::<IpAddr>().unwrap().to_canonical()
    );
    (
        arrived.address.to_string(),
        arrived.is_secure,
        host(&parts, config),
    )
}

const FOR: &str = "x-forwarded-for";
const PROTO: &str = "x-forwarded-proto";
const HOST: &str = "x-forwarded-host";

#[test]
fn http_4_only_our_proxies_are_believed_and_only_their_own_word() {
    let config = config("x-forwarded");
    for (peer, headers, expected) in [
        // A stranger's word is nothing, whatever it is.
        (
            "192.0.2.1",
            &[(FOR, &b"203.0.113.5"[..]), (PROTO, b"https"), (HOST, b"a")][..],
            ("192.0.2.1", false, None),
        ),
        ("10.0.0.1", &[], ("10.0.0.1", false, None)),
        (
            "10.0.0.1",
            &[(FOR, b"203.0.113.5"), (PROTO, b"https"), (HOST, b"a")],
            ("203.0.113.5", true, Some("a")),
        ),
        // What stands before the first stranger is the stranger's word.
        (
            "10.0.0.1",
            &[
                (FOR, b"6.6.6.6, 203.0.113.5, 10.0.0.2"),
                (PROTO, b"https, http"),
            ],
            ("203.0.113.5", false, None),
        ),
        (
            "10.0.0.1",
            &[(FOR, b"6.6.6.6"), (FOR, b"203.0.113.5")],
            ("203.0.113.5", false, None),
        ),
        (
            "10.0.0.1",
            &[(FOR, b"10.0.0.3, 10.0.0.2"), (PROTO, b"HTTPS")],
            ("10.0.0.3", true, None),
        ),
        (
            "10.0.0.1",
            &[(FOR, b"nonsense"), (PROTO, b"httpsx")],
            ("10.0.0.1", false, None),
        ),
        (
            "10.0.0.1",
            &[(FOR, b"nonsense, 10.0.0.2")],
            ("10.0.0.2", false, None),
        ),
        // A line that is no text does not take its neighbours along.
        (
            "10.0.0.1",
            &[(FOR, b"6.6.6.6"), (FOR, b"\xff, 203.0.113.5")],
            ("203.0.113.5", false, None),
        ),
        (
            "10.0.0.1",
            &[(FOR, b"6.6.6.6"), (FOR, b"\xff")],
            ("10.0.0.1", false, None),
        ),
        // The other header is a client's.
        (
            "10.0.0.1",
            &[("forwarded", b"for=6.6.6.6;proto=https;host=a")],
            ("10.0.0.1", false, None),
        ),
    ] {
        let (address, is_secure, host) = arrive(&config, peer, headers);
        assert_eq!(
            (address.as_str(), is_secure, host.as_deref()),
            expected,
            "{peer} {headers:?}"
        );
    }
}

#[test]
fn addresses_come_with_ports_in_brackets_and_inside_of_others() {
    for (text, expected) in [
        ("203.0.113.5", Some("203.0.113.5")),
        (" 203.0.113.5:1234 ", Some("203.0.113.5")),
        ("203.0.113.5:_hidden", Some("203.0.113.5")),
        ("2001:db8::1", Some("2001:db8::1")),
        ("[2001:db8::1]", Some("2001:db8::1")),
        ("[2001:db8::1]:80", Some("2001:db8::1")),
        ("::ffff:203.0.113.5", Some("203.0.113.5")),
        ("[203.0.113.5]", None),
        ("203.0.113.5:port", None),
        ("unknown", None),
        ("", None),
    ] {
        let expected = expected.map(|it| it.parse().unwrap());
        assert_eq!(node(text), expected, "{text}");
    }
}

#[test]
fn a_peer_inside_of_another_address_is_that_peer() {
    let headers = [(FOR, &b"203.0.113.5"[..])];
    let (address, ..) = arrive(&config("x-forwarded"), "::ffff:10.0.0.1", &headers);
    assert_eq!(address, "203.0.113.5");
}

#[test]
fn http_4_the_header_of_the_standard_is_read_alike() {
    let config = config("forwarded");
    for (peer, value, expected) in [
        (
            "192.0.2.1",
            "for=203.0.113.5;proto=https;host=a",
            ("192.0.2.1", false, None),
        ),
        ("10.0.0.1", "", ("10.0.0.1", false, None)),
        (
            "10.0.0.1",
            "for=203.0.113.5;proto=https;host=a",
            ("203.0.113.5", true, Some("a")),
        ),
        (
            "10.0.0.1",
            "FOR=\"203.0.113.5:80\";Proto=HTTPS;host=\"a:80\"",
            ("203.0.113.5", true, Some("a:80")),
        ),
        (
            "10.0.0.1",
            "for=\"[2001:db8::1]:_x\"",
            ("2001:db8::1", false, None),
        ),
        (
            "10.0.0.1",
            "for=6.6.6.6;proto=https;host=evil, for=203.0.113.5;proto=http",
            ("203.0.113.5", false, None),
        ),
        // Who spoke TLS, and to which host, is what the outermost of our proxies saw.
        (
            "10.0.0.1",
            "for=6.6.6.6;host=evil, for=203.0.113.5;proto=https;host=a, for=10.0.0.2;proto=http;host=inner",
            ("203.0.113.5", true, Some("a")),
        ),
        // A hop that hides itself ends what can be told.
        (
            "10.0.0.1",
            "for=6.6.6.6;proto=http, for=unknown;proto=https",
            ("10.0.0.1", true, None),
        ),
        (
            "10.0.0.1",
            "for=6.6.6.6, for=_hidden, for=10.0.0.2",
            ("10.0.0.2", false, None),
        ),
        (
            "10.0.0.1",
            "for=6.6.6.6, proto=https",
            ("10.0.0.1", true, None),
        ),
        // What a client leaves open spoils nothing.
        (
            "10.0.0.1",
            "for=\"6.6.6.6, for=203.0.113.5;proto=http",
            ("203.0.113.5", false, None),
        ),
        (
            "10.0.0.1",
            "for=203.0.113.5;for=6.6.6.6",
            ("10.0.0.1", false, None),
        ),
    ] {
        let headers = [
            ("forwarded", value.as_bytes()),
            (FOR, b"7.7.7.7"),
            (PROTO, b"https"),
            (HOST, b"evil"),
        ];
        let (address, is_secure, host) = arrive(&config, peer, &headers);
        assert_eq!(
            (address.as_str(), is_secure, host.as_deref()),
            expected,
            "{peer} {value}"
        );
    }
}

#[test]
fn only_a_client_without_a_proxy_is_on_this_machine() {
    let mut config = config("x-forwarded");
    let is_local_from = |config: &Config, from: &str, header: Option<&'static str>| {
        let (mut parts, ()) = Request::new(()).into_parts();
        let from = SocketAddr::new(from.parse().unwrap(), 4711);
        parts.extensions.insert(Peer(from));
        if let Some(name) = header {
            parts.headers.append(name, HeaderValue::from_static("a"));
        }
        is_local(&parts, config)
    };
    assert!(is_local_from(&config, "127.0.0.1", None));
    assert!(is_local_from(&config, "::1", None));
    assert!(!is_local_from(&config, "192.0.2.1", None));
    for header in [
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-proto",
        "via",
        "x-real-ip",
    ] {
        assert!(
            !is_local_from(&config, "127.0.0.1", Some(header)),
            "{header}"
        );
    }
    config.proxy.trusted = vec![crate::base::config::Value::parse("127.0.0.1").unwrap()];
    assert!(
        !is_local_from(&config, "127.0.0.1", None),
        "a proxy of ours"
    );
}
