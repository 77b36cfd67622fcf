//! Rules that settings must keep together: a service that breaks one does not start.

use std::net::Ipv6Addr;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::{Config, CookieSecure, FileSettings, Problem, SameSite, SessionSettings};

/// The number of header fields a request of a browser behind a proxy has.
const FIELDS_OF_BROWSERS: usize = 32;
/// The number of bytes the head of such a request has, with the cookies of neighbours.
const LEAST_HEAD: usize = 4096;
/// The number of bytes the address of a page with filters has.
const LEAST_URI: usize = 512;

/// The problems of `config` as a whole.
pub(super) fn check(config: &Config) -> Vec<Problem> {
    let mut problems = check_session(&config.session);
    problems.extend(check_times(config));
    problems.extend(check_limits(config));
    problems.extend(check_files(&config.files));
    problems
}

fn check_session(session: &SessionSettings) -> Vec<Problem> {
    let is_id = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    let is_domain = |it: char| it.is_ascii_alphanumeric() || it == '.' || it == '-';
    let is_secure = session.is_always_secure();
    let domain = session.cookie_domain.as_deref();
    let has_prefix = |prefix: &str| {
        let start = session.cookie_name.get(..prefix.len());
        start.is_some_and(|it| it.eq_ignore_ascii_case(prefix))
    };
    Problem::of_broken([
        (
            !is_token(&session.cookie_name),
            "svc.cookieName",
            "must be letters, digits and !#$%&'*+-.^_`|~ only",
        ),
        (
            session.server_id.len() > 32 || !session.server_id.chars().all(is_id),
            "svc.serverId",
            "must be at most 32 letters, digits, _ and -",
        ),
        (
            !domain.is_none_or(|it| it.chars().all(is_domain)),
            "svc.cookieDomain",
            "must be a domain, such as lectern.example",
        ),
        (
            (has_prefix("__Host-") || has_prefix("__Secure-")) && !is_secure,
            "svc.cookieName",
            "needs `cookie.secure` = always with this prefix",
        ),
        (
            has_prefix("__Host-") && domain.is_some(),
            "svc.cookieDomain",
            "must be empty when the cookie's name begins with __Host-",
        ),
        (
            session.cookie_same_site == SameSite::None && !is_secure,
            "cookie.samesite",
            "needs `cookie.secure` = always when it is none",
        ),
        (
            session.cookie_secure == CookieSecure::Never && session.has_https(),
            "cookie.secure",
            "must not be never when `svc.serverUrl` begins with https",
        ),
        (
            session.timeout.is_zero(),
            "session.timeout",
            "must be at least one second",
        ),
        (
            session.max_lifetime < session.timeout,
            "session.maxLifetime",
            "must not be shorter than `session.timeout`",
        ),
    ])
}

fn check_times(config: &Config) -> impl Iterator<Item = Problem> {
    let (timeouts, pool) = (&config.timeouts, &config.pool);
    let times = [
        ("limits.firstByteTimeout", timeouts.first_byte),
        ("limits.headerTimeout", timeouts.header),
        ("limits.bodyTimeout", timeouts.body),
        ("limits.idleTimeout", timeouts.idle),
        ("limits.writeTimeout", timeouts.write),
        ("limits.requestDeadline", timeouts.request),
        ("limits.statementTime", pool.statement_time),
        ("limits.writeHold", pool.write_hold),
        ("pool.wait", pool.wait),
        ("shutdown.hardStop", config.shutdown.hard_stop),
        ("login.addressInterval", config.login.address_interval),
        ("feeds.interval", config.feeds.interval),
        ("admission.wait", config.admission.wait),
        ("retention.interval", config.retention.interval),
    ];
    let wrong = times.into_iter().filter(|it| it.1.is_zero());
    wrong.map(|(key, _)| Problem::new(key, "must be longer than 0"))
}

fn check_limits(config: &Config) -> Vec<Problem> {
    let limits = &config.limits;
    let fields = format!(
        "must be at least {FIELDS_OF_BROWSERS}: with fewer, browsers and proxies would be refused"
    );
    let bytes = |least| format!("must be at least {least} bytes: browsers send as much");
    Problem::of_broken([
        (
            limits.header_fields < FIELDS_OF_BROWSERS,
            "limits.headerFields",
            fields.as_str(),
        ),
        (
            limits.header_bytes.0 < LEAST_HEAD,
            "limits.headerBytes",
            bytes(LEAST_HEAD).as_str(),
        ),
        (
            limits.uri_bytes.0 < LEAST_URI,
            "limits.uriBytes",
            bytes(LEAST_URI).as_str(),
        ),
        (
            limits.answer_bytes.0 > limits.answer_memory.0,
            "limits.answerBytes",
            "must not be larger than `limits.answerMemory`",
        ),
        (
            config.shutdown.hard_stop < config.shutdown.drain_delay,
            "shutdown.hardStop",
            "must not be shorter than `shutdown.drainDelay`",
        ),
        (
            !config.hosts.iter().all(|it| is_host(it)),
            "hosts",
            "must be names or addresses of hosts, without a port: lectern.example, 192.0.2.1, [2001:db8::1]",
        ),
        (
            !config.log.level.split(',').all(is_log_level),
            "log.level",
            "must be off, error, warn, info, debug or trace, or one of these for a part, such as info,sqlx=warn",
        ),
    ])
}

fn check_files(files: &FileSettings) -> Vec<Problem> {
    const LONELY: &str = "needs `files.url`, the bucket that it is about";
    let has_no_store = files.url.is_none();
    let (has_key, has_secret) = (files.access_key.is_some(), files.secret_key.is_some());
    Problem::of_broken([
        (
            has_no_store && files.endpoint.is_some(),
            "files.endpoint",
            LONELY,
        ),
        (
            has_no_store && files.region.is_some(),
            "files.region",
            LONELY,
        ),
        (has_no_store && has_key, "files.accessKey", LONELY),
        (has_no_store && has_secret, "files.secretKey", LONELY),
        (
            has_key != has_secret,
            "files.accessKey",
            "and `files.secretKey` must both be set, or neither",
        ),
    ])
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
