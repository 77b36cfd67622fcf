//! The addresses to which webhooks may be sent: those of the public internet, unless the service is told otherwise.

#[cfg(test)]
mod tests;

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use entity_core::primitives::is_web_address;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Resolves names, and finds public addresses only. A connection is made to what it found, so that nobody can give a name
/// another address in between.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolver {
    pub(super) allows_private: bool,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let found: Vec<_> = found
                .filter(|it| allows_private || is_public(it.ip()))
                .collect();
            if found.is_empty() {
                return Err(NotPublic.into());
            }
            let found: Addrs = Box::new(found.into_iter());
            Ok(found)
        })
    }
}

/// A name has no public address.
#[derive(derive_more::Display, Clone, Copy, Debug)]
#[display("the host has no public address")]
pub(super) struct NotPublic;

impl Error for NotPublic {}

/// Returns the host of the address.
///
/// # Errors
/// Returns a message about the address if nothing may be sent there.
pub(super) fn host(url: &str, allows_private: bool) -> Result<String, String> {
    let message = match allows_private {
        true => "must be an address that begins with `https://` or `http://`",
        false => "must be an address that begins with `https://`",
    };
    let wrong = || message.to_owned();
    let parsed = Url::parse(url).ok().filter(|_| is_web_address(url));
    let parsed = parsed.ok_or_else(wrong)?;
    if parsed.scheme() != "https" && !allows_private {
        return Err(wrong());
    }
    if !parsed.username().is_empty() || parsed.password().is_some() || parsed.fragment().is_some() {
        return Err("must have neither a user name nor a fragment".to_owned());
    }
    let host = parsed.host_str().ok_or_else(wrong)?;
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse();
    match literal {
        Ok(address) if !allows_private && !is_public(address) => {
            Err("must be a public address".to_owned())
        }
        _ => Ok(host.to_owned()),
    }
}

/// Returns whether the address is one of the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

/// Public are the addresses of networks (`2000::/3`) that neither document something nor carry an address of version 4.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let is_special =
        (a == 0x2001 && (b < 0x200 || b == 0xdb8)) || a == 0x2002 || (a == 0x3fff && b < 0x1000);
    a & 0xe000 == 0x2000 && !is_special
}
