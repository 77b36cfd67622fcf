//! Addresses and networks, such as those of the proxies that are trusted.

use std::net::IpAddr;

use super::value::Value;

/// A network in the form `10.0.0.0/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    base: u128,
    is_v4: bool,
    prefix: u8,
}

impl Network {
    /// Returns whether `address` is in it. An IPv4 address mapped into IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (bits, is_v4) = bits(address);
        is_v4 == self.is_v4 && mask(bits, self.prefix, is_v4) == self.base
    }
}

impl Network {
    /// Returns whether it is wider than the widest network that is anybody's own (`10.0.0.0/8`, `fc00::/7`): then it
    /// holds strangers.
    pub fn holds_strangers(&self) -> bool {
        self.prefix < if self.is_v4 { 8 } else { 7 }
    }
}

impl Value for Network {
    fn parse(text: &str) -> Result<Self, String> {
        parse(text).ok_or_else(|| "must be an address or a network, such as 10.0.0.0/8".to_owned())
    }
}

fn parse(text: &str) -> Option<Network> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix.parse::<u8>().ok()?)),
        None => (text, None),
    };
    let (bits, is_v4) = bits(address.parse().ok()?);
    let width = if is_v4 { 32 } else { 128 };
    let prefix = prefix.unwrap_or(width);
    (prefix <= width).then(|| Network {
        base: mask(bits, prefix, is_v4),
        is_v4,
        prefix,
    })
}

fn bits(address: IpAddr) -> (u128, bool) {
    match address.to_canonical() {
        IpAddr::V4(it) => (u128::from(it.to_bits()), true),
        IpAddr::V6(it) => (it.to_bits(), false),
    }
}

fn mask(bits: u128, prefix: u8, is_v4: bool) -> u128 {
    let width: u32 = if is_v4 { 32 } else { 128 };
    let host = width.saturating_sub(u32::from(prefix));
    bits.checked_shr(host)
        .and_then(|it| it.checked_shl(host))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contains(network: &str, address: &str) -> bool {
        Network::parse(network)
            .unwrap()
            .contains(address.parse().unwrap())
    }

    #[test]
    fn a_network_contains_exactly_its_addresses() {
        assert!(contains("10.1.0.0/16", "10.1.255.255"));
        assert!(!contains("10.1.0.0/16", "10.2.0.0"));
        assert!(contains("10.1.2.3/16", "10.1.0.1"));
        assert!(contains("192.0.2.7", "192.0.2.7"));
        assert!(!contains("192.0.2.7", "192.0.2.8"));
        assert!(contains("0.0.0.0/0", "203.0.113.9"));
        assert!(!contains("0.0.0.0/0", "2001:db8::1"));
        assert!(contains("2001:db8::/32", "2001:db8:ffff::1"));
        assert!(!contains("2001:db8::/32", "2001:db9::"));
        assert!(contains("::/0", "2001:db9::"));
    }

    #[test]
    fn a_mapped_address_counts_as_the_one_inside() {
        assert!(contains("10.0.0.0/8", "::ffff:10.1.2.3"));
        assert!(!contains("::/0", "::ffff:10.1.2.3"));
    }

    #[test]
    fn a_network_wider_than_any_private_one_holds_strangers() {
        for (network, expected) in [
            ("0.0.0.0/0", true),
            ("::/0", true),
            ("128.0.0.0/1", true),
            ("10.0.0.0/7", true),
            ("10.0.0.0/8", false),
            ("fc00::/6", true),
            ("fc00::/7", false),
            ("127.0.0.1", false),
        ] {
            let network = Network::parse(network).unwrap();
            assert_eq!(network.holds_strangers(), expected, "{network:?}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in [
            "",
            "10.0.0.0/33",
            "::/129",
            "10.0.0/8",
            "ten",
            "10.0.0.0/",
            "10.0.0.0/8/8",
        ] {
            assert!(Network::parse(text).is_err(), "{text}");
        }
    }
}
