//! Rules that settings must keep together: a service that breaks one does not start.

use std::net::Ipv6Addr;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::{Config, CookieSecure, Problem, SameSite};

/// The number of header fields a request of a browser behind a proxy has.
const FIELDS_OF_BROWSERS: usize = 32;
/// The number of bytes the head of such a request has, with the cookies of neighbours.
const LEAST_HEAD: usize = 4096;
/// The number of bytes the address of a page with filters has.
const LEAST_URI: usize = 512;

/// What is wrong with `config` as a whole.
pub(super) fn check(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_cookie(config, &mut problems);
    check_session(config, &mut problems);
    check_limits(config, &mut problems);
    check_texts(config, &mut problems);
    check_files(config, &mut problems);
    problems
}

fn check_cookie(config: &Config, problems: &mut Vec<Problem>) {
    let mut wrong = |key: &str, message: &str| problems.push(Problem::new(key, message));
    if !is_token(&config.cookie_name) {
        wrong(
            "svc.cookieName",
            "must be letters, digits and !#$%&'*+-.^_`|~ only",
        );
    }
    let is_id = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    if config.server_id.len() > 32 || !config.server_id.chars().all(is_id) {
        wrong(
            "svc.serverId",
            "must be at most 32 letters, digits, _ and -",
        );
    }
    let is_domain = |it: &String| {
        it.chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '.' || it == '-')
    };
    if !config.cookie_domain.as_ref().is_none_or(is_domain) {
        wrong(
            "svc.cookieDomain",
            "must be a domain, such as lectern.example",
        );
    }
    let is_secure = config.cookie_says_secure(false);
    let has_prefix = |prefix: &str| {
        config
            .cookie_name
            .get(..prefix.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(prefix))
    };
    if (has_prefix("__Host-") || has_prefix("__Secure-")) && !is_secure {
        wrong(
            "svc.cookieName",
            "needs `cookie.secure` = always with this prefix",
        );
    }
    if has_prefix("__Host-") && config.cookie_domain.is_some() {
        wrong(
            "svc.cookieDomain",
            "must be empty when the cookie's name begins with __Host-",
        );
    }
    if config.cookie_same_site == SameSite::None && !is_secure {
        wrong(
            "cookie.samesite",
            "needs `cookie.secure` = always when it is none",
        );
    }
    if config.cookie_secure == CookieSecure::Never && config.server_url().starts_with("https:") {
        wrong(
            "cookie.secure",
            "must not be never when `svc.serverUrl` begins with https",
        );
    }
}

fn check_session(config: &Config, problems: &mut Vec<Problem>) {
    if config.session_timeout.is_zero() {
        problems.push(Problem::new(
            "session.timeout",
            "must be at least one second",
        ));
    }
    if config.session_max_lifetime < config.session_timeout {
        problems.push(Problem::new(
            "session.maxLifetime",
            "must not be shorter than `session.timeout`",
        ));
    }
}

fn check_limits(config: &Config, problems: &mut Vec<Problem>) {
    for (key, timeout) in [
        ("limits.firstByteTimeout", config.first_byte_timeout),
        ("limits.headerTimeout", config.header_timeout),
        ("limits.bodyTimeout", config.body_timeout),
        ("limits.idleTimeout", config.idle_timeout),
        ("limits.writeTimeout", config.write_timeout),
        ("limits.requestDeadline", config.request_deadline),
        ("limits.statementTime", config.statement_time),
        ("limits.writeHold", config.write_hold),
        ("pool.wait", config.pool_wait),
        ("shutdown.hardStop", config.hard_stop),
        ("login.addressInterval", config.login_address_interval),
        ("feeds.interval", config.feeds_interval),
        ("admission.wait", config.admission_wait),
        ("retention.interval", config.retention_interval),
    ] {
        if timeout.is_zero() {
            problems.push(Problem::new(key, "must be longer than 0"));
        }
    }
    if config.header_fields < FIELDS_OF_BROWSERS {
        let message = format!(
            "must be at least {FIELDS_OF_BROWSERS}: with fewer, browsers and proxies would be refused"
        );
        problems.push(Problem::new("limits.headerFields", message));
    }
    for (key, bytes, least) in [
        ("limits.headerBytes", config.header_bytes.0, LEAST_HEAD),
        ("limits.uriBytes", config.uri_bytes.0, LEAST_URI),
    ] {
        if bytes < least {
            let message = format!("must be at least {least} bytes: browsers send as much");
            problems.push(Problem::new(key, message));
        }
    }
    if config.answer_bytes.0 > config.answer_memory.0 {
        problems.push(Problem::new(
            "limits.answerBytes",
            "must not be larger than `limits.answerMemory`",
        ));
    }
    if config.hard_stop < config.drain_delay {
        problems.push(Problem::new(
            "shutdown.hardStop",
            "must not be shorter than `shutdown.drainDelay`",
        ));
    }
}

fn check_texts(config: &Config, problems: &mut Vec<Problem>) {
    if !config.hosts.iter().all(|it| is_host(it)) {
        problems.push(Problem::new(
            "hosts",
            "must be names or addresses of hosts, without a port: lectern.example, 192.0.2.1, [2001:db8::1]",
        ));
    }
    if !config.log_level.split(',').all(is_log_level) {
        problems.push(Problem::new(
            "log.level",
            "must be off, error, warn, info, debug or trace, or one of these for a part, such as info,sqlx=warn",
        ));
    }
}

fn check_files(config: &Config, problems: &mut Vec<Problem>) {
    let has_store = config.files_url.is_some();
    for (key, is_set) in [
        ("files.endpoint", config.files_endpoint.is_some()),
        ("files.region", config.files_region.is_some()),
        ("files.accessKey", config.files_access_key.is_some()),
        ("files.secretKey", config.files_secret_key.is_some()),
    ] {
        if is_set && !has_store {
            problems.push(Problem::new(
                key,
                "needs `files.url`, the bucket that it is about",
            ));
        }
    }
    if config.files_access_key.is_some() != config.files_secret_key.is_some() {
        problems.push(Problem::new(
            "files.accessKey",
            "and `files.secretKey` must both be set, or neither",
        ));
    }
}

/// Returns whether `text` can be the host of a request.
fn is_host(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "-._".contains(it)),
    }
}

/// Returns whether `text` is a level, or one for a part. A misspelt level alone would be taken for the name of a part.
fn is_log_level(text: &str) -> bool {
    let has_part = text.contains(['=', '[']);
    EnvFilter::try_new(text).is_ok() && (has_part || text.parse::<LevelFilter>().is_ok())
}

/// Returns whether `text` is a token in the sense of RFC 9110.
fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(it))
}
