//! The session cookie: read strictly from every `Cookie` header, written and cleared with the same attributes.
//!
//! A general cookie jar keeps one of several cookies with the same name and does not say so. An attacker who can set a
//! cookie for a parent domain could then fix the session of a user (session fixation); here such a request simply has
//! no session.

use std::fmt;

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use tower_cookies::Cookie;
use tower_cookies::cookie::time::{Duration, OffsetDateTime};

use super::id::SessionId;

pub use tower_cookies::cookie::SameSite;

/// The suffix when no server id is configured.
const DEFAULT_SUFFIX: &str = "svc";
/// A longer suffix was not written by any server of ours.
const MAX_SUFFIX: usize = 64;
/// The longest server id.
const MAX_SERVER_ID: usize = 32;

/// The name and the attributes of the cookie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CookieOptions {
    name: String,
    suffix: String,
    domain: Option<String>,
    is_always_secure: bool,
    is_http_only: bool,
    same_site: SameSite,
}

/// Why a cookie can't be written with the settings that were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CookieError {
    /// `svc.cookieName` is no cookie name.
    Name,
    /// `svc.serverId` can't be a suffix.
    ServerId,
    /// `svc.cookieDomain` is no domain.
    Domain,
}

/// The session id that a request presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presented {
    /// No cookie of the name, or none that could be a session's.
    Nothing,
    /// This id.
    Id(SessionId),
    /// Several cookies with different values: somebody else may have set one of them.
    Ambiguous,
}

impl CookieOptions {
    /// A cookie with this name and suffix; without a server id the suffix is `svc`.
    ///
    /// # Errors
    /// The name or the server id holds characters that don't fit.
    pub fn new(name: &str, server_id: &str) -> Result<Self, CookieError> {
        let suffix = match server_id {
            "" => DEFAULT_SUFFIX,
            other => other,
        };
        if !is_token(name) {
            return Err(CookieError::Name);
        }
        if suffix.len() > MAX_SERVER_ID || !suffix.bytes().all(is_suffix_byte) {
            return Err(CookieError::ServerId);
        }
        Ok(Self {
            name: name.to_owned(),
            suffix: suffix.to_owned(),
            domain: None,
            is_always_secure: false,
            is_http_only: true,
            same_site: SameSite::Lax,
        })
    }

    /// Sends the cookie to the hosts of `domain` too.
    ///
    /// # Errors
    /// It is no domain.
    pub fn with_domain(mut self, domain: &str) -> Result<Self, CookieError> {
        let is_legal = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.');
        if domain.is_empty() || !domain.bytes().all(is_legal) {
            return Err(CookieError::Domain);
        }
        self.domain = Some(domain.to_owned());
        Ok(self)
    }

    /// Returns whether scripts of a page are kept from reading the cookie.
    #[must_use]
    pub fn http_only(mut self, is_http_only: bool) -> Self {
        self.is_http_only = is_http_only;
        self
    }

    /// Marks the cookie `Secure` whatever connection the request came over.
    #[must_use]
    pub fn always_secure(mut self, is_always_secure: bool) -> Self {
        self.is_always_secure = is_always_secure;
        self
    }

    /// Sets the requests from other sites that carry the cookie.
    #[must_use]
    pub fn same_site(mut self, same_site: SameSite) -> Self {
        self.same_site = same_site;
        self
    }

    /// The session that `headers` present.
    ///
    /// The suffix only helps a load balancer: any node serves any session, so it is not compared. Clients that put
    /// the cookie together from the id, which a login answers too, leave it out.
    pub fn read(&self, headers: &HeaderMap) -> Presented {
        let mut values = headers
            .get_all(COOKIE)
            .iter()
            .flat_map(|header| header.as_bytes().split(|it| *it == b';'))
            .filter_map(|pair| self.value_of(pair))
            // Another service of the same domain may have a cookie of this name.
            .filter_map(|value| Some((value, parse_value(value)?)));
        let Some((first, id)) = values.next() else {
            return Presented::Nothing;
        };
        match values.any(|(other, _)| other != first) {
            true => Presented::Ambiguous,
            false => Presented::Id(id),
        }
    }

    fn value_of<'a>(&self, pair: &'a [u8]) -> Option<&'a [u8]> {
        let at = pair.iter().position(|it| *it == b'=')?;
        let (name, value) = pair.split_at_checked(at)?;
        let value = value.strip_prefix(b"=")?;
        (name.trim_ascii() == self.name.as_bytes()).then(|| value.trim_ascii())
    }

    /// The `Set-Cookie` header that gives `id` to a client whose request came over a connection that
    /// `is_secure`.
    pub fn issue(&self, id: &SessionId, is_secure: bool) -> HeaderValue {
        let value = format!("{}.{}", id.expose(), self.suffix);
        header(&self.cookie(value, is_secure))
    }

    /// The `Set-Cookie` header that takes the cookie away again.
    pub fn clear(&self, is_secure: bool) -> HeaderValue {
        let mut cookie = self.cookie(String::new(), is_secure);
        cookie.set_max_age(Duration::ZERO);
        cookie.set_expires(OffsetDateTime::UNIX_EPOCH);
        header(&cookie)
    }

    fn cookie(&self, value: String, is_secure: bool) -> Cookie<'static> {
        let mut cookie = Cookie::build((self.name.clone(), value))
            .path("/")
            .http_only(self.is_http_only)
            .same_site(self.same_site)
            .secure(is_secure || self.is_always_secure)
            .build();
        if let Some(domain) = &self.domain {
            cookie.set_domain(domain.clone());
        }
        cookie
    }
}

/// Parses the id in the value of a cookie: the part before its first dot.
pub(super) fn parse_value(value: &[u8]) -> Option<SessionId> {
    let text = std::str::from_utf8(value).ok()?;
    let (id, suffix) = text.split_once('.').unwrap_or((text, ""));
    (suffix.len() <= MAX_SUFFIX).then(|| SessionId::parse(id))?
}

fn header(cookie: &Cookie<'_>) -> HeaderValue {
    // Name, suffix and domain were checked when the options were made, and an id has only such letters.
    let mut value =
        HeaderValue::try_from(cookie.to_string()).unwrap_or_else(|_| HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

fn is_suffix_byte(it: u8) -> bool {
    it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_')
}

fn is_token(name: &str) -> bool {
    let is_legal = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !name.is_empty() && name.bytes().all(is_legal)
}

impl fmt::Display for CookieError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "`svc.cookieName` must be a cookie name: letters, digits, `-` and `_`",
            Self::ServerId => {
                "`svc.serverId` must have at most 32 letters, digits, `-` and `_`, and no dot"
            }
            Self::Domain => "`svc.cookieDomain` must be a domain such as `example.org`",
        })
    }
}

impl std::error::Error for CookieError {}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB0";

    fn options() -> CookieOptions {
        CookieOptions::new("JSESSIONID", "").unwrap()
    }

    fn read(lines: &[&str]) -> Presented {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, HeaderValue::from_str(line).unwrap());
        }
        options().read(&headers)
    }

    #[test]
    fn sess_5_the_cookie_is_read_strictly() {
        let id = |text: &str| Presented::Id(SessionId::parse(text).unwrap());
        let long = "s".repeat(64);
        for (lines, expected) in [
            (vec![], Presented::Nothing),
            (vec![format!("JSESSIONID={A}.svc")], id(A)),
            (vec![format!("a=b; JSESSIONID={A}.svc; c=d")], id(A)),
            (vec![format!("a=b;JSESSIONID={A}.svc")], id(A)),
            (
                vec!["a=b".to_owned(), format!("JSESSIONID={A}.node7")],
                id(A),
            ),
            (vec![format!("JSESSIONID={A}.a.b.c")], id(A)),
            (vec![format!("JSESSIONID={A}.{long}")], id(A)),
            (vec![format!("JSESSIONID={A}.{long}s")], Presented::Nothing),
            (vec![format!("JSESSIONID={A}")], id(A)),
            (vec![format!("JSESSIONID={A}.")], id(A)),
            (vec![format!("JSESSIONID={A}A")], Presented::Nothing),
            (
                vec![format!("JSESSIONID={A}; JSESSIONID={B}")],
                Presented::Ambiguous,
            ),
            (
                vec![format!("JSESSIONID={A}; JSESSIONID={A}.svc")],
                Presented::Ambiguous,
            ),
            (vec![format!("JSESSIONID=\"{A}.svc\"")], Presented::Nothing),
            (vec![format!("jsessionid={A}.svc")], Presented::Nothing),
            (vec![format!("XJSESSIONID={A}.svc")], Presented::Nothing),
            (vec![format!("x=JSESSIONID={A}.svc")], Presented::Nothing),
            (vec![format!("JSESSIONID={A}A.svc")], Presented::Nothing),
            (vec!["JSESSIONID=.svc".to_owned()], Presented::Nothing),
            (vec!["JSESSIONID".to_owned()], Presented::Nothing),
            (vec!["=;;=;".to_owned()], Presented::Nothing),
            (
                vec![format!("JSESSIONID={A}.svc; JSESSIONID={A}.svc")],
                id(A),
            ),
            (
                vec![format!("JSESSIONID={A}.svc; JSESSIONID={B}.svc")],
                Presented::Ambiguous,
            ),
            (
                vec![format!("JSESSIONID={B}.svc; JSESSIONID={A}.svc")],
                Presented::Ambiguous,
            ),
            (
                vec![format!("JSESSIONID={A}.svc"), format!("JSESSIONID={B}.svc")],
                Presented::Ambiguous,
            ),
            (
                vec![format!("JSESSIONID={A}.svc; JSESSIONID=rubbish")],
                id(A),
            ),
            (vec![format!("JSESSIONID={A}.svc; JSESSIONID=")], id(A)),
        ] {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            assert_eq!(read(&lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_no_session() {
        let mut headers = HeaderMap::new();
        let value = HeaderValue::from_bytes(b"JSESSIONID=\xff\xfe.svc").unwrap();
        headers.append(COOKIE, value);
        assert_eq!(options().read(&headers), Presented::Nothing);
    }

    #[test]
    fn sess_4_the_cookie_is_written_exactly() {
        let id = SessionId::parse(A).unwrap();
        let domain = || options().with_domain("example.org").unwrap();
        let node = CookieOptions::new("SID", "node-7").unwrap();
        for (options, is_secure, expected) in [
            (
                options(),
                false,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Path=/"),
            ),
            (
                options(),
                true,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Secure; Path=/"),
            ),
            (
                options().always_secure(true),
                false,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Secure; Path=/"),
            ),
            (
                options().http_only(false).same_site(SameSite::Strict),
                false,
                format!("JSESSIONID={A}.svc; SameSite=Strict; Path=/"),
            ),
            (
                domain(),
                false,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Path=/; Domain=example.org"),
            ),
            (
                node.same_site(SameSite::None),
                true,
                format!("SID={A}.node-7; HttpOnly; SameSite=None; Secure; Path=/"),
            ),
        ] {
            let header = options.issue(&id, is_secure);
            assert_eq!(header.to_str().unwrap(), expected);
            let parsed = Cookie::parse(expected).unwrap();
            assert_eq!(parsed.value(), format!("{A}.{}", options.suffix));
            assert_eq!(parsed.path(), Some("/"));
            assert_eq!(parsed.max_age(), None);
            assert_eq!(parsed.expires(), None);
            assert_eq!(
                parsed.secure().unwrap_or_default(),
                is_secure || options.is_always_secure
            );
            assert_eq!(parsed.domain(), options.domain.as_deref());
        }
    }

    #[test]
    fn clearing_differs_from_issuing_only_in_value_and_age() {
        let options = options()
            .with_domain("example.org")
            .unwrap()
            .same_site(SameSite::Strict);
        let cleared = options.clear(true);
        assert_eq!(
            cleared.to_str().unwrap(),
            "JSESSIONID=; HttpOnly; SameSite=Strict; Secure; Path=/; Domain=example.org; Max-Age=0; \
             Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        );
        let parse = |it: &HeaderValue| Cookie::parse(it.to_str().unwrap().to_owned()).unwrap();
        let (cleared, issued) = (
            parse(&cleared),
            parse(&options.issue(&SessionId::parse(A).unwrap(), true)),
        );
        let attributes = |it: &Cookie<'_>| {
            let text = |it: Option<&str>| it.map(ToOwned::to_owned);
            (
                text(it.path()),
                text(it.domain()),
                it.secure(),
                it.http_only(),
                it.same_site(),
            )
        };
        assert_eq!(attributes(&cleared), attributes(&issued));
    }

    #[test]
    fn settings_that_would_break_the_header_are_refused() {
        assert_eq!(CookieOptions::new("a b", ""), Err(CookieError::Name));
        assert_eq!(CookieOptions::new("", ""), Err(CookieError::Name));
        assert_eq!(CookieOptions::new("a", "x.y"), Err(CookieError::ServerId));
        assert_eq!(
            CookieOptions::new("a", &"x".repeat(33)),
            Err(CookieError::ServerId)
        );
        assert_eq!(options().with_domain("a;b"), Err(CookieError::Domain));
    }
}
