//! Finds out where a request comes from, and whether it came over TLS.
//!
//! Headers of proxies are believed only when the peer is one of ours, and then only the hop that our
//! outermost proxy saw.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};

use crate::config::Network;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// The other end of the connection. Set by the listener.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// Where a request comes from, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived {
    /// The other end of the connection, if there is one.
    pub peer: Option<IpAddr>,
    /// The address of the client.
    pub address: IpAddr,
    /// Whether the client spoke TLS, to us or to our proxy.
    pub is_secure: bool,
}

/// Where the request with this head comes from, if `proxies` are the networks of our proxies.
pub fn find(parts: &Parts, proxies: &[Network]) -> Arrived {
    let peer = parts.extensions.get::<Peer>().map(|it| it.0.ip());
    let from = peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let (address, is_secure) = origin(from, &parts.headers, proxies);
    Arrived {
        peer,
        address,
        is_secure,
    }
}

fn origin(peer: IpAddr, headers: &HeaderMap, proxies: &[Network]) -> (IpAddr, bool) {
    let is_trusted = |it: IpAddr| proxies.iter().any(|network| network.contains(it));
    if !is_trusted(peer) {
        return (peer, false);
    }
    let hops: Vec<IpAddr> = elements(headers, &FORWARDED_FOR)
        .map_while(|it| it.parse().ok())
        .collect();
    let address = hops
        .iter()
        .copied()
        .find(|it| !is_trusted(*it))
        .or(hops.last().copied())
        .unwrap_or(peer);
    let is_secure = elements(headers, &FORWARDED_PROTO)
        .next()
        .is_some_and(|it| it.eq_ignore_ascii_case("https"));
    (address, is_secure)
}

/// The elements of a list header, the last one first: that is the one nearest to us.
fn elements<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lines: Vec<&str> = headers
        .get_all(name)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .collect();
    lines
        .into_iter()
        .rev()
        .flat_map(|it| it.rsplit(','))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::config::Value;

    #[test]
    fn only_our_proxies_are_believed() {
        let proxies: Vec<Network> = vec![Value::parse("10.0.0.0/8").unwrap()];
        for (peer, forwarded, proto, expected) in [
            ("192.0.2.1", "203.0.113.5", "https", ("192.0.2.1", false)),
            ("10.0.0.1", "203.0.113.5", "https", ("203.0.113.5", true)),
            (
                "10.0.0.1",
                "6.6.6.6, 203.0.113.5, 10.0.0.2",
                "http",
                ("203.0.113.5", false),
            ),
            ("10.0.0.1", "nonsense", "HTTPS", ("10.0.0.1", true)),
            (
                "10.0.0.1",
                "10.0.0.3, 10.0.0.2",
                "https",
                ("10.0.0.3", true),
            ),
        ] {
            let headers = HeaderMap::from_iter([
                (FORWARDED_FOR, HeaderValue::from_static(forwarded)),
                (FORWARDED_PROTO, HeaderValue::from_static(proto)),
            ]);
            let found = origin(peer.parse().unwrap(), &headers, &proxies);
            assert_eq!(
                found,
                (expected.0.parse().unwrap(), expected.1),
                "{peer} {forwarded}"
            );
        }
    }
}
