//! Settings that make sense, but not where people rely on them.

use crate::config::{Config, Network, Problem, WebOrigin};

/// What is unsafe about `config`.
pub(super) fn inspect(config: &Config) -> Vec<Problem> {
    let is_https = config.public_url.as_ref().is_some_and(WebOrigin::is_https);
    let has_plain_origin = config.csrf_trusted_origins.iter().any(|it| !it.is_https());
    let has_wildcard = config.trusted_proxies.iter().any(Network::holds_strangers);
    let rules = [
        (
            !is_https,
            "svc.serverUrl",
            "must be the public address, beginning with https: people's passwords must not cross a network in the clear",
        ),
        (
            !config.cookie_says_secure(false),
            "cookie.secure",
            "must be `always`, or `auto` with an https address in `svc.serverUrl`: browsers would send the session \
             in the clear",
        ),
        (
            !config.cookie_http_only,
            "cookie.httponly",
            "must be true: a script in a page could read the session",
        ),
        (
            has_plain_origin,
            "csrf.trustedOrigins",
            "must name https addresses only: whoever sits between can write the pages of the others",
        ),
        (
            has_wildcard,
            "proxy.trusted",
            "must name the addresses of your proxies: this holds strangers, who could say that they are anybody",
        ),
    ];
    rules
        .into_iter()
        .filter(|(is_broken, ..)| *is_broken)
        .map(|(_, key, message)| Problem::new(key, message))
        .collect()
}
