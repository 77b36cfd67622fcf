//! The configuration: one struct of sections, filled from a file, the environment and the arguments.
//!
//! The file is TOML and uses the keys below, as tables or dotted: `session.timeout = 1800`.
//! The environment's variable of a key is `LECTERN_` and the key in upper case with `_` for each dot:
//! `LECTERN_SESSION_TIMEOUT=1800`. The most used ones have an argument, such as
//! `--listen`. The file overrides the defaults, the environment the file, the arguments all.
//!
//! A key or a variable that is not in the table is an error, because a misspelt one would leave a door open. Variables
//! that an orchestrator sets for a service named `lectern` (`LECTERN_PORT=tcp://…`, `LECTERN_SERVICE_HOST`) are
//! ignored with a warning.

mod check;
mod choice;
mod network;
mod orchestrator;
mod problem;
mod rate;
mod setting;
mod sheet;
#[cfg(test)]
mod tests;
mod value;

use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;
use std::time::Duration;

use http::HeaderName;

pub use choice::{
    BodySessionId, CookieSecure, CsrfMode, LogFormat, Profile, ProxyHeader, SameSite,
};
pub use network::Network;
pub use problem::{Problem, Problems};
pub use rate::{RATE_LIMITS, RateLimit, RateSettings, RateSubject};
pub use setting::Setting;
use setting::{section, settings};
use sheet::ConfigLayers;
pub use sheet::{ConfigSources, OTHER_VARIABLES, Source};
pub use value::{Bucket, ByteLimit, ByteSize, DatabaseUrl, Secret, Value, WebOrigin};

settings! {
    /// Everything that can be set.
    pub struct Config;

    {
        /// The purpose of the service: with `production` it refuses to start when something is unsafe.
        profile: Profile = "profile", "LECTERN_PROFILE", "development";
        /// The address and the port to listen on.
        listen: SocketAddr = "listen", "LECTERN_LISTEN", "127.0.0.1:8080";
        /// The database: a file (`sqlite:`) or a server (`postgres:`).
        database: DatabaseUrl = "database", "LECTERN_DATABASE", "sqlite://lectern.db";
        /// A second address and port, for load balancers: `/livez` and `/readyz` alone, with a thread of their own.
        health_listen: Option<SocketAddr> = "health.listen", "LECTERN_HEALTH_LISTEN", "";
    }

    /// The place of the files that people upload, and their size.
    files: FileSettings {
        /// The folder with the files that people upload, which all nodes of a service share. Empty: beside the file of
        /// SQLite, with its name and `.files`; with PostgreSQL `lectern.files` where the service was started, which
        /// `production` refuses. With `files.url`, the folder of a node's own in which a file is while it comes; empty:
        /// where the system has temporary files.
        folder: Option<String> = "files.folder", "LECTERN_FILES_FOLDER", "";
        /// The bucket with the files that people upload, of a service that speaks the protocol of Amazon's object storage, and a prefix
        /// in it: `s3://bucket/prefix`. Empty: they are in `files.folder`.
        url: Option<Bucket> = "files.url", "LECTERN_FILES_URL", "";
        /// The address of that service, such as `https://minio.example:9000`. Empty: Amazon's own.
        endpoint: Option<WebOrigin> = "files.endpoint", "LECTERN_FILES_ENDPOINT", "";
        /// The region of the bucket. Empty: `AWS_REGION`, and without that `us-east-1`.
        region: Option<String> = "files.region", "LECTERN_FILES_REGION", "";
        /// The id of the key with which the service logs in there. Empty: what `AWS_ACCESS_KEY_ID`,
        /// `AWS_SECRET_ACCESS_KEY` and the like say, or what the machine is allowed on its own.
        access_key: Option<String> = "files.accessKey", "LECTERN_FILES_ACCESSKEY", "";
        /// The key itself.
        secret_key: Option<Secret> = "files.secretKey", "LECTERN_FILES_SECRETKEY", "";
        /// Most bytes of the files of one request. Types may allow less.
        size: ByteSize = "files.size", "LECTERN_FILES_SIZE", "512MiB";
    }

    {
        /// The host names that requests may name. Empty: any.
        hosts: Vec<String> = "hosts", "LECTERN_HOSTS", "";
    }

    /// Sessions, the cookie that carries them, and the address that it is for.
    session: SessionSettings {
        /// The name of the session cookie.
        cookie_name: String = "svc.cookieName", "LECTERN_SVC_COOKIENAME", "JSESSIONID";
        /// This node's name, the suffix of the session cookie, for load balancers. Empty: `svc`.
        server_id: String = "svc.serverId", "LECTERN_SVC_SERVERID", "";
        /// The domain of the session cookie. Empty: the host that was asked.
        cookie_domain: Option<String> = "svc.cookieDomain", "LECTERN_SVC_COOKIEDOMAIN", "";
        /// The service's public address. Empty: `http://` and the address of the listener.
        public_url: Option<WebOrigin> = "svc.serverUrl", "LECTERN_SVC_SERVERURL", "";
        /// The time for which a session lives without a request.
        timeout: Duration = "session.timeout", "LECTERN_SESSION_TIMEOUT", "1800";
        /// The time for which a session lives at all.
        max_lifetime: Duration = "session.maxLifetime", "LECTERN_SESSION_MAXLIFETIME", "43200";
        /// The number of sessions one user may have; a further one ends the oldest.
        per_user: usize = "session.perUser", "LECTERN_SESSION_PERUSER", "50";
        /// The attribute `Secure` of the session cookie: `auto`, `always` or `never`.
        cookie_secure: CookieSecure = "cookie.secure", "LECTERN_COOKIE_SECURE", "auto";
        /// True if the session cookie says `HttpOnly`.
        cookie_http_only: bool = "cookie.httponly", "LECTERN_COOKIE_HTTPONLY", "true";
        /// The session cookie's `SameSite`: `lax`, `strict` or `none`.
        cookie_same_site: SameSite = "cookie.samesite", "LECTERN_COOKIE_SAMESITE", "lax";
    }

    /// The protection against forged requests.
    csrf: CsrfSettings {
        /// The protection against forged requests: `fetch-metadata` or `token`.
        mode: CsrfMode = "csrf.mode", "LECTERN_CSRF_MODE", "fetch-metadata";
        /// Origins besides our own whose pages may change things here.
        trusted_origins: Vec<WebOrigin> = "csrf.trustedOrigins", "LECTERN_CSRF_TRUSTEDORIGINS", "";
    }

    {
        /// Origins besides our own whose pages may read here, as whoever is logged in. Those that change things need
        /// `csrf.trustedOrigins` too, and `cookie.samesite` = none if they are of another site.
        cors_origins: Vec<WebOrigin> = "cors.origins", "LECTERN_CORS_ORIGINS", "";
        /// True if data of 2 KiB and more is compressed for clients that take `gzip`. Pages, files, private feeds and what
        /// carries a secret never are. A proxy that compresses does the same; then leave it off.
        compression_data: bool = "compression.data", "LECTERN_COMPRESSION_DATA", "false";
        /// True if the descriptions of entity types are shown to everybody.
        describe_public: bool = "describe.public", "LECTERN_DESCRIBE_PUBLIC", "true";
    }

    /// The proxies in front of the service.
    proxy: ProxySettings {
        /// The proxies that are believed where requests come from.
        trusted: Vec<Network> = "proxy.trusted", "LECTERN_PROXY_TRUSTED", "";
        /// The header in which they say it: `x-forwarded` (`X-Forwarded-For`, `-Proto`, `-Host`) or `forwarded` (RFC 7239). Only
        /// this is read, because a proxy passes the other one on as a client sent it.
        header: ProxyHeader = "proxy.header", "LECTERN_PROXY_HEADER", "x-forwarded";
    }

    /// Ways to log in without a form.
    auth: AuthSettings {
        /// True if a user may log in by HTTP Basic.
        basic: bool = "auth.basic", "LECTERN_AUTH_BASIC", "false";
        /// The header in which a trusted proxy names the user it logged in. Empty: none.
        trusted_header: Option<HeaderName> = "auth.trustedHeader", "LECTERN_AUTH_TRUSTEDHEADER", "";
        /// The text that the proxy sends in the header `X-Proxy-Secret`, so that nobody else on its machine can name users. Empty:
        /// whoever connects from a trusted address is believed.
        trusted_secret: Option<Secret> = "auth.trustedSecret", "LECTERN_AUTH_TRUSTEDSECRET", "";
    }

    /// Logins, and the limits on those that fail.
    login: LoginSettings {
        /// The `sessionId` in the answer to a login: `full` or `omit`.
        body_session_id: BodySessionId = "login.bodySessionId", "LECTERN_LOGIN_BODYSESSIONID", "full";
        /// The number of failed logins to one account from one network before each further one has to wait.
        account_failures: usize = "login.accountFailures", "LECTERN_LOGIN_ACCOUNTFAILURES", "5";
        /// The number of failed logins of one network, to whatever accounts, that may stand against it; beyond them it has to
        /// wait.
        address_failures: usize = "login.addressFailures", "LECTERN_LOGIN_ADDRESSFAILURES", "100";
        /// The time that it takes until one of these no longer does.
        address_interval: Duration = "login.addressInterval", "LECTERN_LOGIN_ADDRESSINTERVAL", "6";
    }

    /// The most that accounts and sites may have.
    quota: QuotaSettings {
        /// The number of sites an account may have made that may not make courses.
        sites_per_account: usize = "sites.perAccount", "LECTERN_SITES_PERACCOUNT", "10";
        /// The number of invitations to one site that may be open.
        invitations_per_site: usize = "invitations.perSite", "LECTERN_INVITATIONS_PERSITE", "500";
        /// The number of invitations of one account that may be open.
        invitations_per_account: usize = "invitations.perAccount", "LECTERN_INVITATIONS_PERACCOUNT", "500";
        /// The number of entities one account may have made that are there still. 0: no limit.
        account_entities: u32 = "quota.accountEntities", "LECTERN_QUOTA_ACCOUNTENTITIES", "100000";
        /// The number of bytes of text these may have. 0: no limit.
        account_bytes: ByteLimit = "quota.accountBytes", "LECTERN_QUOTA_ACCOUNTBYTES", "256MiB";
        /// The number of entities that may be in one site. 0: no limit.
        site_entities: u32 = "quota.siteEntities", "LECTERN_QUOTA_SITEENTITIES", "250000";
        /// The number of bytes of text these may have. 0: no limit.
        site_bytes: ByteLimit = "quota.siteBytes", "LECTERN_QUOTA_SITEBYTES", "1GiB";
        /// The number of bytes the files of one site may have, those that are attached to something included. 0: no limit.
        site_file_bytes: ByteLimit = "files.siteBytes", "LECTERN_FILES_SITEBYTES", "1GiB";
        /// The number of bytes of files that one account may have besides those that entities of sites name: files that
        /// are under way, that were refused or deleted and are still on the disk, and attachments that nothing names,
        /// which go after a day. 0: no limit.
        account_file_bytes: ByteLimit = "files.accountBytes", "LECTERN_FILES_ACCOUNTBYTES", "512MiB";
        /// The number of bytes of the disk with the files that uploads leave free, so that people can log in and write.
        /// Of a small disk, it is no more than a tenth.
        file_reserve: ByteLimit = "files.reserve", "LECTERN_FILES_RESERVE", "256MiB";
    }

    /// The rate limit of a private feed.
    feeds: FeedSettings {
        /// The number of times that a private feed may be read without a pause.
        burst: usize = "feeds.burst", "LECTERN_FEEDS_BURST", "60";
        /// The time that it takes until it may be read once more.
        interval: Duration = "feeds.interval", "LECTERN_FEEDS_INTERVAL", "10";
    }

    {
        /// True if webhooks may be sent to addresses that are not public, and by `http`: to programs in one's own network.
        webhooks_private: bool = "webhooks.private", "LECTERN_WEBHOOKS_PRIVATE", "false";
    }

    /// The rate limits of accounts and networks.
    rate: RateSettings;

    /// The requests of each class that run and wait at once.
    admission: AdmissionSettings {
        /// The number of requests that run at once and read by keys. Empty: four for each core, at least eight.
        reads: Option<usize> = "admission.reads", "LECTERN_ADMISSION_READS", "";
        /// The number that run at once and may read much: searches, filters, batches, feeds. Empty: one for each core,
        /// at least two.
        scans: Option<usize> = "admission.scans", "LECTERN_ADMISSION_SCANS", "";
        /// The number that run at once and may change something. Empty: two for each core, at least eight.
        writes: Option<usize> = "admission.writes", "LECTERN_ADMISSION_WRITES", "";
        /// The number of uploads at once. An account or a network has at most three quarters of these places.
        uploads: usize = "admission.uploads", "LECTERN_ADMISSION_UPLOADS", "64";
        /// The number of logins at once. Empty: two for each core.
        logins: Option<usize> = "admission.logins", "LECTERN_ADMISSION_LOGINS", "";
        /// The number of large answers that are made at once, each of which reads more than 256 KiB. Empty: one for two cores.
        large: Option<usize> = "admission.large", "LECTERN_ADMISSION_LARGE", "";
        /// The number of requests of each kind that wait for one of these places; further ones are refused at once.
        queue: usize = "admission.queue", "LECTERN_ADMISSION_QUEUE", "64";
        /// The time for which a request waits for its place before it is refused, and how long one may have to expect to wait.
        wait: Duration = "admission.wait", "LECTERN_ADMISSION_WAIT", "500ms";
    }

    /// The time that connections and requests may take.
    timeouts: TimeoutSettings {
        /// The time for which a new connection may be silent.
        first_byte: Duration = "limits.firstByteTimeout", "LECTERN_LIMITS_FIRSTBYTETIMEOUT", "10";
        /// The time that the header of a request may take.
        header: Duration = "limits.headerTimeout", "LECTERN_LIMITS_HEADERTIMEOUT", "10";
        /// The time that the body of a request may take.
        body: Duration = "limits.bodyTimeout", "LECTERN_LIMITS_BODYTIMEOUT", "30";
        /// The fewest bytes of an upload in a second, over `limits.bodyTimeout`, which is also its longest pause.
        upload_rate: ByteSize = "limits.uploadRate", "LECTERN_LIMITS_UPLOADRATE", "4KiB";
        /// The time for which a connection may be silent between two requests.
        idle: Duration = "limits.idleTimeout", "LECTERN_LIMITS_IDLETIMEOUT", "75";
        /// The time for which a client may take nothing of an answer, or less than 32 KiB of a long one.
        write: Duration = "limits.writeTimeout", "LECTERN_LIMITS_WRITETIMEOUT", "30";
        /// The time for which the service may work on a request.
        request: Duration = "limits.requestDeadline", "LECTERN_LIMITS_REQUESTDEADLINE", "10";
    }

    /// The connections to the database, and the time for which they may be held.
    pool: PoolSettings {
        /// The time that a statement that reads may take in the database before it is stopped; the request is answered 503.
        statement_time: Duration = "limits.statementTime", "LECTERN_LIMITS_STATEMENTTIME", "2";
        /// The number of connections to the database that find what they read by an index. Empty: twice the processors, at least
        /// 4, on PostgreSQL at least 8. Fewer, with a warning, where the process may have few files open or little
        /// memory; so it is for `pool.scans`.
        readers: Option<usize> = "pool.readers", "LECTERN_POOL_READERS", "";
        /// The number of connections to the database that read what may take a look at many rows: searches, and lists that are
        /// not of one site. Fewer requests search at once, whatever `admission.scans` says, so that lists find one.
        /// Empty: 4 more than requests that run at once and may search, of `admission.scans` and `admission.writes`; at
        /// most 64.
        scans: Option<usize> = "pool.scans", "LECTERN_POOL_SCANS", "";
        /// The number of connections to PostgreSQL that write. Empty: 16. A SQLite file has one.
        writers: Option<usize> = "pool.writers", "LECTERN_POOL_WRITERS", "";
        /// The time for which a request waits for a free connection to the database, and for another program that holds the lock of
        /// a SQLite file, before it is answered 503.
        wait: Duration = "pool.wait", "LECTERN_POOL_WAIT", "1";
        /// The time for which one request may hold the right to write; then what it did is rolled back.
        write_hold: Duration = "limits.writeHold", "LECTERN_LIMITS_WRITEHOLD", "1";
    }

    /// The most connections, and the largest requests and answers.
    limits: LimitSettings {
        /// The number of connections that may be open; further ones wait.
        connections: usize = "limits.connections", "LECTERN_LIMITS_CONNECTIONS", "12000";
        /// The number of streams of events that an account may follow at once. All accounts together follow no more than a
        /// quarter of `limits.connections`.
        event_streams: usize = "limits.eventStreams", "LECTERN_LIMITS_EVENTSTREAMS", "8";
        /// The number of connections one address may have open. Loopback and trusted proxies are exempt.
        connections_per_address: usize = "limits.connectionsPerAddress", "LECTERN_LIMITS_CONNECTIONSPERADDRESS", "256";
        /// The largest header block.
        header_bytes: ByteSize = "limits.headerBytes", "LECTERN_LIMITS_HEADERBYTES", "16KiB";
        /// The largest number of header fields.
        header_fields: usize = "limits.headerFields", "LECTERN_LIMITS_HEADERFIELDS", "64";
        /// The longest target of a request.
        uri_bytes: ByteSize = "limits.uriBytes", "LECTERN_LIMITS_URIBYTES", "4KiB";
        /// The largest body of a login.
        login_body: ByteSize = "limits.loginBody", "LECTERN_LIMITS_LOGINBODY", "8KiB";
        /// The largest body of a form.
        form_body: ByteSize = "limits.formBody", "LECTERN_LIMITS_FORMBODY", "64KiB";
        /// The largest body of any other kind.
        other_body: ByteSize = "limits.otherBody", "LECTERN_LIMITS_OTHERBODY", "1MiB";
        /// Most bytes that a list or a batch is answered with: a list goes on at the address of its next part.
        answer_bytes: ByteSize = "limits.answerBytes", "LECTERN_LIMITS_ANSWERBYTES", "8MiB";
        /// Most bytes that large answers may hold in memory together; further ones wait a little and are then refused.
        answer_memory: ByteSize = "limits.answerMemory", "LECTERN_LIMITS_ANSWERMEMORY", "64MiB";
    }

    /// The end of the service.
    shutdown: ShutdownSettings {
        /// The time for which connections are still accepted after the signal to stop, so that load balancers notice.
        drain_delay: Duration = "shutdown.drainDelay", "LECTERN_SHUTDOWN_DRAINDELAY", "3";
        /// The time after the signal until connections are cut off. The service ends five seconds later, whatever is still going on.
        hard_stop: Duration = "shutdown.hardStop", "LECTERN_SHUTDOWN_HARDSTOP", "25";
    }

    /// Log lines.
    log: LogSettings {
        /// The form of log lines: `json`, `text`, or `auto`, which is `text` if the standard error is a terminal, and `json`
        /// elsewhere. Text has colours at a terminal, unless the environment has `NO_COLOR`.
        format: LogFormat = "log.format", "LECTERN_LOG_FORMAT", "auto";
        /// The lines that are logged: a level, or levels by target such as `info,sqlx=warn`.
        level: String = "log.level", "LECTERN_LOG_LEVEL", "info,sea_orm=warn,sea_orm_migration=warn,sqlx=warn";
        /// The number of lines one place in the code may log in a minute. The further ones are counted, and the count logged.
        lines_per_minute: usize = "log.linesPerMinute", "LECTERN_LOG_LINESPERMINUTE", "120";
    }

    /// The audit log.
    audit: AuditSettings {
        /// The number of audit rows of reads that may wait to be written.
        queue_rows: usize = "audit.queueRows", "LECTERN_AUDIT_QUEUEROWS", "10000";
        /// The number of audit rows that are written at once.
        batch_rows: usize = "audit.batchRows", "LECTERN_AUDIT_BATCHROWS", "2000";
        /// The time for which a request waits for room in the full audit queue before it is refused.
        wait: Duration = "audit.wait", "LECTERN_AUDIT_WAIT", "100ms";
        /// True if a request whose audit row finds no room in time is refused. Otherwise the row is left out without
        /// waiting, and a row with the method `GAP` tells how many were.
        required: bool = "audit.required", "LECTERN_AUDIT_REQUIRED", "true";
        /// The number of requests of one network, sent in vain by strangers, that get a row each in a minute. The further
        /// ones are counted, in one row for each kind of them.
        strangers: usize = "audit.strangers", "LECTERN_AUDIT_STRANGERS", "60";
    }

    /// The time for which things are kept that nobody deletes.
    retention: RetentionSettings {
        /// The time between two removals of what is over.
        interval: Duration = "retention.interval", "LECTERN_RETENTION_INTERVAL", "60";
        /// The time for which audit rows are kept.
        audit: Duration = "retention.audit", "LECTERN_RETENTION_AUDIT", "4320h";
        /// The number of audit rows of writes that are kept, and of other requests. A row takes at most 1 KiB.
        audit_rows: usize = "retention.auditRows", "LECTERN_RETENTION_AUDITROWS", "5000000";
        /// The time for which events are kept for those who follow them.
        outbox: Duration = "retention.outbox", "LECTERN_RETENTION_OUTBOX", "720h";
        /// The number of events that are kept for those who follow them.
        outbox_rows: usize = "retention.outboxRows", "LECTERN_RETENTION_OUTBOXROWS", "5000000";
        /// The time for which results of requests with an `Idempotency-Key` are kept.
        idempotency: Duration = "retention.idempotency", "LECTERN_RETENTION_IDEMPOTENCY", "24h";
        /// The number of these results that are kept for one account.
        idempotency_keys: usize = "retention.idempotencyKeys", "LECTERN_RETENTION_IDEMPOTENCYKEYS", "1000";
        /// The room of these results on the disk altogether; beyond it the oldest are removed early.
        idempotency_bytes: ByteSize = "retention.idempotencyBytes", "LECTERN_RETENTION_IDEMPOTENCYBYTES", "256MiB";
    }
}

impl Config {
    /// The service's public address, without a slash at the end.
    pub fn server_url(&self) -> String {
        self.session.public_url.as_ref().map_or_else(
            || format!("http://{}", self.listen),
            |it| it.as_str().to_owned(),
        )
    }

    /// Returns whether it listens where others than this machine can reach it.
    pub fn is_exposed(&self) -> bool {
        !self.listen.ip().to_canonical().is_loopback()
    }
}

impl SessionSettings {
    /// The suffix of the session cookie.
    pub fn cookie_suffix(&self) -> &str {
        match &*self.server_id {
            "" => "svc",
            id => id,
        }
    }

    /// Returns whether the public address is reached over TLS.
    pub fn has_https(&self) -> bool {
        self.public_url.as_ref().is_some_and(WebOrigin::is_https)
    }

    /// Returns whether the session cookie says `Secure` whatever connection a request came over.
    pub fn is_always_secure(&self) -> bool {
        match self.cookie_secure {
            CookieSecure::Always => true,
            CookieSecure::Never => false,
            CookieSecure::Auto => self.has_https(),
        }
    }
}

impl ProxySettings {
    /// Returns whether `address` is that of a trusted proxy.
    pub fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|it| it.contains(address))
    }
}

/// A configuration with where it came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The configuration, if nothing is wrong with it.
    pub config: Result<Config, Problems>,
    /// Things that were ignored and are worth a look.
    pub warnings: Vec<Problem>,
    /// Every setting with its value as it may be shown, and its source.
    pub effective: Vec<(&'static str, String, Source)>,
}

/// Reads the configuration from what was given.
pub fn load(given: &ConfigSources) -> Loaded {
    let mut problems = Vec::new();
    let sheet = ConfigLayers::new(&SETTINGS, given, &mut problems);
    let config = Config::read(&sheet, &mut problems);
    if let Some(config) = &config {
        problems.extend(check::check(config));
    }
    let effective = sheet.effective();
    Loaded {
        config: match config {
            Some(config) if problems.is_empty() => Ok(config),
            _ => Err(Problems(problems)),
        },
        warnings: sheet.warnings,
        effective,
    }
}
