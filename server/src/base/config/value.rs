//! Parsing of a setting's text: the same for the file, the environment and the arguments.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::time::Duration;

use http::HeaderName;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use secrecy::{ExposeSecret, SecretString};

/// A type that a setting can have.
pub trait Value: Sized {
    /// Reads `text`.
    ///
    /// # Errors
    /// It is no such value. The message says what would be one and never repeats the text.
    fn parse(text: &str) -> Result<Self, String>;

    /// Writes `text` as it may be shown to a person.
    fn show(text: &str) -> String {
        text.to_owned()
    }
}

impl Value for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl Value for bool {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_not_a_bool| "must be true or false".to_owned())
    }
}

/// A count of something. Zero is never meant.
impl Value for usize {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) | Err(_) => Err("must be a whole number above 0".to_owned()),
            Ok(count) => Ok(count),
        }
    }
}

/// A count of something of which there may be none.
impl Value for u32 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_not_a_count| "must be a whole number, or 0".to_owned())
    }
}

/// An address and a port, or the name of a host and a port. A name is looked up once, and its first IPv4 address is
/// preferred, because that is what `localhost` means to most clients.
impl Value for SocketAddr {
    fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            "must be an address or a host with a port, such as 127.0.0.1:8080 or localhost:8080";
        if let Ok(address) = text.parse() {
            return Ok(address);
        }
        let found: Vec<Self> = text
            .to_socket_addrs()
            .map_err(|_unknown_host| EXPECTED.to_owned())?
            .collect();
        let preferred = found.iter().find(|it| it.is_ipv4()).or(found.first());
        preferred.copied().ok_or_else(|| EXPECTED.to_owned())
    }
}

/// An empty text means "not set".
impl<T: Value> Value for Option<T> {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(None),
            text => T::parse(text).map(Some),
        }
    }

    fn show(text: &str) -> String {
        T::show(text)
    }
}

/// Several values, in a list or in one text with commas. An empty text is an empty list.
impl<T: Value> Value for Vec<T> {
    fn parse(text: &str) -> Result<Self, String> {
        text.split(',')
            .map(str::trim)
            .filter(|it| !it.is_empty())
            .map(T::parse)
            .collect()
    }
}

/// Whole seconds, or a number with a unit: `1800`, `100ms`, `30s`, `5m`, `12h`.
impl Value for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
        let unit = text.strip_prefix(digits).unwrap_or_default();
        let milliseconds = match unit {
            "" | "s" => 1_000,
            "ms" => 1,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return Err("must be seconds, or a number with ms, s, m or h".to_owned()),
        };
        // A year is longer than any wait here, and far from where clocks overflow.
        digits
            .parse::<u64>()
            .ok()
            .and_then(|it| it.checked_mul(milliseconds))
            .filter(|it| *it <= 31_536_000_000)
            .map(Self::from_millis)
            .ok_or_else(|| "must be at most a year, in seconds or with ms, s, m or h".to_owned())
    }
}

/// A size in memory, on the wire or on the disk: bytes, or a number with a unit: `65536`, `64KiB`, `1MiB`, `1GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteSize(pub usize);

impl ByteSize {
    /// The number of bytes, as sizes of files are counted.
    pub fn in_bytes(self) -> u64 {
        u64::try_from(self.0).unwrap_or(u64::MAX)
    }
}

impl Value for ByteSize {
    fn parse(text: &str) -> Result<Self, String> {
        let (digits, unit) = if let Some(digits) = text.strip_suffix("KiB") {
            (digits, 1024)
        } else if let Some(digits) = text.strip_suffix("MiB") {
            (digits, 1024 * 1024)
        } else if let Some(digits) = text.strip_suffix("GiB") {
            (digits, 1024 * 1024 * 1024)
        } else {
            (text, 1)
        };
        digits
            .trim_end()
            .parse::<usize>()
            .ok()
            .and_then(|it| it.checked_mul(unit))
            .filter(|it| *it > 0)
            .map(Self)
            .ok_or_else(|| "must be bytes, or a number with KiB, MiB or GiB".to_owned())
    }
}

/// A size that something may have at most; 0 is any size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteLimit(pub usize);

impl Value for ByteLimit {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "0" => Ok(Self(0)),
            text => ByteSize::parse(text)
                .map(|it| Self(it.0))
                .map_err(|message| format!("{message}, or 0")),
        }
    }
}

/// The name of a header field.
impl Value for HeaderName {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_not_a_name| "must be the name of a header field".to_owned())
    }
}

/// The database's URL. It may hold a password and is never shown whole.
#[derive(Clone, Debug)]
pub struct DatabaseUrl(SecretString);

impl DatabaseUrl {
    /// The whole URL, with the password.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Returns whether it is a SQLite file, and no server.
    pub fn is_file(&self) -> bool {
        self.expose().starts_with("sqlite:")
    }
}

/// Characters that a path may hold and the part of a URL before `?` may not.
const NOT_IN_URL_PATH: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#').add(b' ');

/// A URL, or the path of a SQLite file: `/var/lib/lectern.db`, `./lectern.db`.
impl Value for DatabaseUrl {
    fn parse(text: &str) -> Result<Self, String> {
        const SCHEMES: [&str; 3] = ["sqlite:", "postgres:", "postgresql:"];
        if SCHEMES.iter().any(|it| text.starts_with(it)) {
            Ok(Self(text.to_owned().into()))
        } else if ["/", "./", "../"].iter().any(|it| text.starts_with(it)) && !text.ends_with('/') {
            let path = utf8_percent_encode(text, NOT_IN_URL_PATH);
            Ok(Self(format!("sqlite://{path}").into()))
        } else {
            Err(
                "must begin with sqlite: or postgres:, or be the path of a file that begins with / or ./"
                    .to_owned(),
            )
        }
    }

    /// Leaves out what stands before the last `@` and the parameters: both may hold a password.
    fn show(text: &str) -> String {
        let (address, _parameters) = text.split_once('?').unwrap_or((text, ""));
        match (address.split_once("://"), address.rsplit_once('@')) {
            (Some((scheme, _)), Some((_, host))) => format!("{scheme}://[secret]@{host}"),
            _ => address.to_owned(),
        }
    }
}

/// An origin as browsers send it: scheme, host and perhaps a port, nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebOrigin(String);

impl WebOrigin {
    /// The text, without a slash at the end.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether it is reached over TLS.
    pub fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl Value for WebOrigin {
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        text.strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"))
            .and_then(|it| it.parse::<http::uri::Authority>().ok())
            .filter(|it| !it.as_str().contains('@'))
            .ok_or(
                "must be a scheme, a host and perhaps a port, such as https://lectern.example",
            )?;
        Ok(Self(text))
    }
}

/// A text that is never shown.
#[derive(Clone, Debug)]
pub struct Secret(pub SecretString);

impl Value for Secret {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(text.to_owned().into()))
    }

    fn show(text: &str) -> String {
        match text {
            "" => String::new(),
            _ => "[secret]".to_owned(),
        }
    }
}

/// A bucket of an object store and a prefix in it: `s3://bucket`, `s3://bucket/a/prefix`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    address: String,
    name: String,
    prefix: String,
}

impl Bucket {
    /// The whole address, without a slash at the end.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The name of the bucket.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The prefix; empty if the whole bucket is the service's.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }
}

impl Value for Bucket {
    fn parse(text: &str) -> Result<Self, String> {
        const EXPECTED: &str =
            "must be s3://BUCKET or s3://BUCKET/PREFIX, in letters, digits and any of .-_/";
        let is_plain = |it: &str| {
            it.chars()
                .all(|it| it.is_ascii_alphanumeric() || ".-_".contains(it))
        };
        let address = text.trim_end_matches('/');
        let rest = address.strip_prefix("s3://").ok_or(EXPECTED)?;
        let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_part = |it: &str| !matches!(it, "" | "." | "..") && is_plain(it);
        let has_prefix = prefix.is_empty() || prefix.split('/').all(is_part);
        match is_part(name) && has_prefix {
            true => Ok(Self {
                address: address.to_owned(),
                name: name.to_owned(),
                prefix: prefix.to_owned(),
            }),
            false => Err(EXPECTED.to_owned()),
        }
    }
}
