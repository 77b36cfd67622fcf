//! Tests of which addresses are public.

use super::*;

#[test]
fn only_addresses_of_the_public_internet_are_public() {
    for public in [
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.0",
        "172.32.0.1",
        "223.255.255.255",
        "2606:4700::1",
        "2a00::1",
    ] {
        assert!(is_public(public.parse().unwrap()), "{public}");
    }
    for private in [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2001::1",
        "2001:db8::1",
        "2002:808:808::1",
        "3fff::1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "ff02::1",
    ] {
        assert!(!is_public(private.parse().unwrap()), "{private}");
    }
}

#[test]
fn an_address_names_a_public_host_over_tls() {
    for (url, expected) in [
        ("https://a.example/x?y=1", "a.example"),
        ("https://A.example:8443", "a.example"),
        ("https://8.8.8.8/", "8.8.8.8"),
        ("https://[2a00::1]/", "[2a00::1]"),
    ] {
        assert_eq!(host(url, false).as_deref(), Ok(expected), "{url}");
    }
    for wrong in [
        "",
        "x",
        "http://a.example/",
        "ftp://a.example/",
        "https://",
        "https://a:b@a.example/",
        "https://a.example/#x",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://2130706433/",
        "https://127.0.0.1./",
        "https://[::1]/",
        "https://[::ffff:127.0.0.1]/",
        "https://[fe80::1]/",
        "javascript:alert(1)",
    ] {
        assert!(host(wrong, false).is_err(), "{wrong}");
    }
    assert_eq!(
        host("http://127.0.0.1:80/", true).as_deref(),
        Ok("127.0.0.1")
    );
    assert!(host("ftp://127.0.0.1/", true).is_err());
}

#[tokio::test]
async fn a_name_of_this_machine_is_not_found() {
    let found = async |allows_private| {
        let name = "localhost".parse().unwrap();
        Resolver { allows_private }.resolve(name).await
    };
    let refused = found(false).await.err().unwrap();
    assert!(refused.is::<NotPublic>(), "{refused}");
    assert!(found(true).await.unwrap().next().is_some());
}
