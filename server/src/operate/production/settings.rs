//! Settings that make sense, but not where people rely on them.

use psl::{List, Psl as _};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use crate::base::config::{Config, Network, Problem};

/// More failed logins than this are no limit for whoever guesses passwords.
const GUESSES: usize = 1_000;

/// The settings in `config` that are unsafe.
pub(super) fn inspect(config: &Config) -> Vec<Problem> {
    let has_plain_origin = config.csrf.trusted_origins.iter().any(|it| !it.is_https());
    let has_plain_reader = config.cors_origins.iter().any(|it| !it.is_https());
    let has_wildcard = config.proxy.trusted.iter().any(Network::holds_strangers);
    let mut found = Problem::of_broken([
        (
            !config.session.has_https(),
            "svc.serverUrl",
            "must be the public address, beginning with https: people's passwords must not cross a network in the clear",
        ),
        (
            !config.session.is_always_secure(),
            "cookie.secure",
            "must be `always`, or `auto` with an https address in `svc.serverUrl`: browsers would send the session \
             in the clear",
        ),
        (
            !config.session.cookie_http_only,
            "cookie.httponly",
            "must be true: a script in a page could read the session",
        ),
        (
            has_plain_origin,
            "csrf.trustedOrigins",
            "must name https addresses only: whoever sits between can write the pages of the others",
        ),
        (
            has_plain_reader,
            "cors.origins",
            "must name https addresses only: whoever sits between can read by the pages of the others",
        ),
        (
            lacks_secret(config),
            "auth.trustedSecret",
            "must be a secret that the proxy sends in `X-Proxy-Secret`: whoever reaches this port from its machine could \
             say that they are anybody",
        ),
        (
            has_wildcard,
            "proxy.trusted",
            "must name the addresses of your proxies: this holds strangers, who could say that they are anybody",
        ),
    ]);
    found.extend(lacks_store(config));
    found
}

/// Returns whether everything at a trusted address may name users.
fn lacks_secret(config: &Config) -> bool {
    config.auth.trusted_header.is_some() && config.auth.trusted_secret.is_none()
}

/// A service whose database several nodes can share, and that stores files where only this node may find them.
pub(super) fn lacks_store(config: &Config) -> Option<Problem> {
    let is_alone = config.database.is_file();
    let is_told = config.files.folder.is_some() || config.files.url.is_some();
    (!is_alone && !is_told).then(|| {
        Problem::new(
            "files.folder",
            "must be a folder that all nodes of the service share, or `files.url` a bucket: files would be missing on \
             some of them",
        )
    })
}

/// The settings in `config` that are allowed and worth a second thought.
pub(super) fn warn(config: &Config) -> Vec<Problem> {
    let domain = config.session.cookie_domain.as_deref().unwrap_or_default();
    let has_plain_endpoint = config
        .files
        .endpoint
        .as_ref()
        .is_some_and(|it| !it.is_https());
    Problem::of_broken([
        (
            logs_too_much(&config.log.level),
            "log.level",
            "logs in great detail (`debug` or `trace`): statements with people's data fill the log; use `info`",
        ),
        (
            config.login.account_failures > GUESSES || config.login.address_failures > GUESSES,
            "login.accountFailures",
            "and `login.addressFailures` hardly limit who guesses passwords: use at most 1000",
        ),
        (
            lacks_secret(config),
            "auth.trustedSecret",
            "is empty: each program that can connect from a trusted address can say that it is anybody; set it to a \
             secret that the proxy sends in `X-Proxy-Secret`",
        ),
        (
            has_plain_endpoint,
            "files.endpoint",
            "begins with http: files cross the network in the clear, as is fit for one of your own only; use https",
        ),
        (
            is_public_suffix(domain),
            "svc.cookieDomain",
            "is a public suffix, under which strangers have hosts: browsers refuse such a cookie; use your own domain",
        ),
    ])
}

/// Returns whether some part of the service logs at a level below `info`.
fn logs_too_much(levels: &str) -> bool {
    EnvFilter::try_new(levels)
        .ok()
        .and_then(|it| it.max_level_hint())
        .is_some_and(|it| it > LevelFilter::INFO)
}

/// Returns whether `domain` is one below which anybody can register names, by the public suffix list.
fn is_public_suffix(domain: &str) -> bool {
    let domain = domain.trim_start_matches('.').to_ascii_lowercase();
    List.suffix(domain.as_bytes())
        .is_some_and(|it| it.is_known() && it.as_bytes() == domain.as_bytes())
}
