//! Finds the client address of a request, its protocol, and its host, by the headers of trusted proxies.
//!
//! Headers of proxies are believed only when the peer is one of ours, and then only the entries of our proxies: each
//! list is read from its end, and entries before the first stranger's may be forged.

mod forwarded;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::http::header::HOST;
use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName};

use crate::base::config::{Config, ProxyHeader};

const FORWARDED: HeaderName = HeaderName::from_static("forwarded");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");

/// Headers that proxies add to the requests that they pass on.
const OF_PROXIES: [HeaderName; 6] = [
    FORWARDED,
    FORWARDED_FOR,
    FORWARDED_PROTO,
    FORWARDED_HOST,
    HeaderName::from_static("x-real-ip"),
    HeaderName::from_static("via"),
];

/// The other end of the connection. Set by the listener.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// The client address of a request, and its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress {
    /// The other end of the connection, if there is one.
    pub peer: Option<IpAddr>,
    /// The address of the client.
    pub address: IpAddr,
    /// True if the client spoke TLS, to us or to our proxy.
    pub is_secure: bool,
}

/// Finds the client address of the request with this head.
pub fn find(parts: &Parts, config: &Config) -> ClientAddress {
    let client = client(parts, config);
    ClientAddress {
        peer: peer(parts),
        address: client.address,
        is_secure: client.is_secure,
    }
}

/// The host that the client named to our outermost proxy, if the proxy forwards it.
pub fn host(parts: &Parts, config: &Config) -> Option<String> {
    client(parts, config).host
}

/// Returns whether the client itself is on this machine: the connection comes from it, and no proxy made it, neither one of
/// ours nor one that nobody told us of.
pub fn is_local(parts: &Parts, config: &Config) -> bool {
    let is_forwarded = OF_PROXIES.iter().any(|it| parts.headers.contains_key(it));
    peer(parts).is_some_and(|it| it.is_loopback() && !config.proxy.trusts(it)) && !is_forwarded
}

/// Returns the base URL of links in answers: `own`, the address of the service; unless nobody set that one and a client
/// on this machine calls it by another loopback name, because browsers keep a cookie for that name.
pub(crate) fn base_url(parts: &Parts, config: &Config, own: &Arc<str>) -> Arc<str> {
    let mut named = parts.headers.get_all(HOST).iter();
    let named = match (named.next(), named.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    };
    let is_free = config.session.public_url.is_none() && is_local(parts, config);
    match named.filter(|it| is_free && is_loopback(it)) {
        Some(host) => format!("http://{host}").into(),
        None => Arc::clone(own),
    }
}

/// Returns whether `host` is a loopback name, perhaps with a port.
fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let name = authority.host();
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let is_address = address
        .parse::<IpAddr>()
        .is_ok_and(|it| it.to_canonical().is_loopback());
    !host.contains('@') && (name.eq_ignore_ascii_case("localhost") || is_address)
}

/// The sender of a request, as far as we and our proxies can tell.
#[derive(Debug, PartialEq, Eq)]
struct Client {
    address: IpAddr,
    is_secure: bool,
    host: Option<String>,
}

fn peer(parts: &Parts) -> Option<IpAddr> {
    let peer = parts.extensions.get::<Peer>()?;
    Some(peer.0.ip().to_canonical())
}

fn client(parts: &Parts, config: &Config) -> Client {
    let address = peer(parts).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let client = Client {
        address,
        is_secure: false,
        host: None,
    };
    match config.proxy.header {
        _ if !config.proxy.trusts(address) => client,
        ProxyHeader::XForwarded => by_x_forwarded(client, &parts.headers, config),
        ProxyHeader::Forwarded => by_forwarded(client, &parts.headers, config),
    }
}

/// Follows the addresses towards the client. Each was written by one of ours until one is a stranger's.
fn by_x_forwarded(mut client: Client, headers: &HeaderMap, config: &Config) -> Client {
    let addresses = list(headers, &FORWARDED_FOR);
    for address in addresses.rsplit(',').map_while(node) {
        client.address = address;
        if !config.proxy.trusts(address) {
            break;
        }
    }
    let protocols = list(headers, &FORWARDED_PROTO);
    client.is_secure = last(&protocols).is_some_and(is_https);
    client.host = last(&list(headers, &FORWARDED_HOST)).map(ToOwned::to_owned);
    client
}

/// The same by `Forwarded`, where each hop has one element.
fn by_forwarded(mut client: Client, headers: &HeaderMap, config: &Config) -> Client {
    for hop in forwarded::hops(&list(headers, &FORWARDED)) {
        if let Some(protocol) = &hop.protocol {
            client.is_secure = is_https(protocol);
        }
        client.host = hop.host.or(client.host);
        let Some(address) = hop.address.as_deref().and_then(node) else {
            break;
        };
        client.address = address;
        if !config.proxy.trusts(address) {
            break;
        }
    }
    client
}

/// Joins the lines of a list header. Bytes that are not text are replaced: to leave out their line would lose the entry
/// of a proxy.
fn list(headers: &HeaderMap, name: &HeaderName) -> String {
    let lines: Vec<_> = headers
        .get_all(name)
        .iter()
        .map(|it| String::from_utf8_lossy(it.as_bytes()))
        .collect();
    lines.join(",")
}

/// The last element of a list, if it is not empty: the one nearest to us.
fn last(list: &str) -> Option<&str> {
    list.rsplit(',')
        .next()
        .map(str::trim)
        .filter(|it| !it.is_empty())
}

fn is_https(protocol: &str) -> bool {
    protocol.eq_ignore_ascii_case("https")
}

/// The address of a hop, which may come with a port, and if it has colons in brackets.
fn node(text: &str) -> Option<IpAddr> {
    // RFC 7239 lets a proxy hide the port, which then begins with a line.
    let text = text.trim();
    let text = text.rsplit_once(":_").map_or(text, |(address, _)| address);
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address = text
        .parse::<IpAddr>()
        .ok()
        .or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
        .or_else(|| bracketed().map(|it: Ipv6Addr| IpAddr::V6(it)))?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests;
