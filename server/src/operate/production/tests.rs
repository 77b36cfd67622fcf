//! Tests of the rules of the profile.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::base::config::{ConfigSources, load};

/// The settings of a service that is fit, with `changes` to them.
fn config(changes: &str) -> Config {
    let mut arguments = vec![
        ("profile", "production"),
        ("svc.serverUrl", "https://lectern.example"),
        ("csrf.trustedOrigins", "https://portal.example"),
        ("proxy.trusted", "10.0.0.0/8,::1"),
    ];
    arguments.extend(changes.split(';').filter_map(|it| it.split_once('=')));
    let given = ConfigSources {
        arguments: arguments
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect(),
        ..ConfigSources::default()
    };
    load(&given).config.unwrap()
}

#[test]
fn conf_1_unsafe_settings_are_refused_by_their_keys() {
    for (changes, expected) in [
        ("cookie.httponly=false", &["cookie.httponly"][..]),
        ("", &[]),
        ("csrf.mode=token", &[]),
        ("cookie.secure=always", &[]),
        ("svc.serverUrl=", &["svc.serverUrl", "cookie.secure"]),
        (
            "svc.serverUrl=http://lectern.example",
            &["svc.serverUrl", "cookie.secure"],
        ),
        (
            "svc.serverUrl=http://lectern.example;cookie.secure=always",
            &["svc.serverUrl"],
        ),
        (
            "svc.serverUrl=;cookie.secure=never",
            &["svc.serverUrl", "cookie.secure"],
        ),
        (
            "csrf.trustedOrigins=https://a.example,http://b.example",
            &["csrf.trustedOrigins"],
        ),
        ("proxy.trusted=0.0.0.0/0", &["proxy.trusted"]),
        ("proxy.trusted=10.0.0.1,::/0", &["proxy.trusted"]),
        ("proxy.trusted=0.0.0.0/1,128.0.0.0/1", &["proxy.trusted"]),
        ("proxy.trusted=", &[]),
        ("database=postgres://db.example/lectern", &["files.folder"]),
        (
            "database=postgres://db.example/lectern;files.folder=/srv/files",
            &[],
        ),
        (
            "database=postgres://db.example/lectern;files.url=s3://b",
            &[],
        ),
    ] {
        let found = settings::inspect(&config(changes));
        let keys: Vec<&str> = found.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, expected, "{changes}");
    }
}

#[test]
fn conf_1_doubtful_settings_are_warned_of_by_their_keys() {
    for (changes, expected) in [
        ("", &[][..]),
        ("log.level=info,sqlx=warn", &[]),
        ("log.level=info,sqlx=trace", &["log.level"]),
        ("log.level=debug", &["log.level"]),
        ("login.accountFailures=1000000", &["login.accountFailures"]),
        ("login.addressFailures=1000000", &["login.accountFailures"]),
        ("svc.cookieDomain=lectern.example", &[]),
        ("svc.cookieDomain=uni.ac.uk", &[]),
        ("svc.cookieDomain=.ac.uk", &["svc.cookieDomain"]),
        ("svc.cookieDomain=GitHub.io", &["svc.cookieDomain"]),
        ("files.url=s3://b;files.endpoint=https://s3.example", &[]),
        (
            "files.url=s3://b;files.endpoint=http://s3.example",
            &["files.endpoint"],
        ),
    ] {
        let found = settings::warn(&config(changes));
        let keys: Vec<&str> = found.iter().map(|it| it.key.as_str()).collect();
        assert_eq!(keys, expected, "{changes}");
    }
}

#[test]
fn conf_1_files_that_others_may_use_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lectern.toml");
    assert_eq!(files::inspect("--config", &path), None, "it is not there");
    fs::write(&path, "").unwrap();
    for (mode, is_refused) in [
        (0o600, false),
        (0o640, false),
        (0o660, false),
        (0o644, true),
        (0o606, true),
        (0o602, true),
    ] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let found = files::inspect("--config", &path);
        assert_eq!(found.is_some(), is_refused, "{mode:o}");
    }
}

#[test]
fn a_refusal_has_one_line_for_each_finding() {
    let findings = Findings {
        refused: vec![Problem::new("a", "is wrong"), Problem::new("b", "too")],
        warned: vec![Problem::new("c", "is odd")],
    };
    let refusal = findings.accept().unwrap_err().to_string();
    assert_eq!(
        refusal.lines().skip(1).collect::<Vec<_>>(),
        ["  `a`: is wrong", "  `b`: too"]
    );
    let findings = Findings {
        refused: Vec::new(),
        warned: vec![Problem::new("c", "is odd")],
    };
    assert_eq!(findings.accept().unwrap().len(), 1);
}
