//! The session cookie: read strictly from every `Cookie` header, written and cleared with the same attributes.
//!
//! A general cookie jar keeps one of several cookies with the same name and does not say so. An attacker who can set a
//! cookie for a parent domain could then fix the session of a user (session fixation); here such a request simply has
//! no session.

use http::header::COOKIE;
use http::{HeaderMap, HeaderValue};
use tower_cookies::Cookie;
use tower_cookies::cookie::time::{Duration, OffsetDateTime};

use super::id::SessionId;
use crate::base::config::SessionSettings;

/// A longer suffix was not written by any server of ours.
const MAX_SUFFIX: usize = 64;

/// The session cookie, as the settings say.
#[derive(Clone, Debug)]
pub struct SessionCookie(SessionSettings);

/// The session that a request presents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presented {
    /// No cookie of the name, or none that could be a session's.
    Nothing,
    /// This id.
    Id(SessionId),
    /// Several cookies with different values: somebody else may have set one of them.
    Ambiguous,
}

impl SessionCookie {
    /// A cookie with the name and the attributes in `settings`.
    pub fn new(settings: &SessionSettings) -> Self {
        Self(settings.clone())
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
        (name.trim_ascii() == self.0.cookie_name.as_bytes()).then(|| value.trim_ascii())
    }

    /// The `Set-Cookie` header that gives `id` to a client whose request came over a connection that
    /// `is_secure`.
    pub fn issue(&self, id: &SessionId, is_secure: bool) -> HeaderValue {
        let value = format!("{}.{}", id.expose(), self.0.cookie_suffix());
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
        let settings = &self.0;
        let mut cookie = Cookie::build((settings.cookie_name.clone(), value))
            .path("/")
            .http_only(settings.cookie_http_only)
            .same_site(settings.cookie_same_site)
            .secure(is_secure || settings.is_always_secure())
            .build();
        if let Some(domain) = &settings.cookie_domain {
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
    // Name, suffix and domain were checked when the settings were read, and an id has only such letters.
    let mut value =
        HeaderValue::try_from(cookie.to_string()).unwrap_or_else(|_| HeaderValue::from_static(""));
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::config::{Config, CookieSecure, SameSite};

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB0";

    fn settings() -> SessionSettings {
        Config::with(&[]).session
    }

    fn read(lines: &[&str]) -> Presented {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(COOKIE, HeaderValue::from_str(line).unwrap());
        }
        SessionCookie(settings()).read(&headers)
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
        assert_eq!(SessionCookie(settings()).read(&headers), Presented::Nothing);
    }

    #[test]
    fn sess_4_the_cookie_is_written_exactly() {
        let id = SessionId::parse(A).unwrap();
        let domain = || Some("example.org".to_owned());
        for (settings, is_secure, expected) in [
            (
                settings(),
                false,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Path=/"),
            ),
            (
                settings(),
                true,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Secure; Path=/"),
            ),
            (
                SessionSettings {
                    cookie_secure: CookieSecure::Always,
                    ..settings()
                },
                false,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Secure; Path=/"),
            ),
            (
                SessionSettings {
                    cookie_http_only: false,
                    cookie_same_site: SameSite::Strict,
                    ..settings()
                },
                false,
                format!("JSESSIONID={A}.svc; SameSite=Strict; Path=/"),
            ),
            (
                SessionSettings {
                    cookie_domain: domain(),
                    ..settings()
                },
                false,
                format!("JSESSIONID={A}.svc; HttpOnly; SameSite=Lax; Path=/; Domain=example.org"),
            ),
            (
                SessionSettings {
                    cookie_name: "SID".to_owned(),
                    server_id: "node-7".to_owned(),
                    cookie_same_site: SameSite::None,
                    ..settings()
                },
                true,
                format!("SID={A}.node-7; HttpOnly; SameSite=None; Secure; Path=/"),
            ),
        ] {
            let header = SessionCookie(settings.clone()).issue(&id, is_secure);
            assert_eq!(header.to_str().unwrap(), expected);
            let parsed = Cookie::parse(expected).unwrap();
            assert_eq!(parsed.value(), format!("{A}.{}", settings.cookie_suffix()));
            assert_eq!(parsed.path(), Some("/"));
            assert_eq!(parsed.max_age(), None);
            assert_eq!(parsed.expires(), None);
            assert_eq!(
                parsed.secure().unwrap_or_default(),
                is_secure || settings.is_always_secure()
            );
            assert_eq!(parsed.domain(), settings.cookie_domain.as_deref());
        }
    }

    #[test]
    fn clearing_differs_from_issuing_only_in_value_and_age() {
        let cookie = SessionCookie(SessionSettings {
            cookie_domain: Some("example.org".to_owned()),
            cookie_same_site: SameSite::Strict,
            ..settings()
        });
        let cleared = cookie.clear(true);
        assert_eq!(
            cleared.to_str().unwrap(),
            "JSESSIONID=; HttpOnly; SameSite=Strict; Secure; Path=/; Domain=example.org; Max-Age=0; \
             Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        );
        let parse = |it: &HeaderValue| Cookie::parse(it.to_str().unwrap().to_owned()).unwrap();
        let (cleared, issued) = (
            parse(&cleared),
            parse(&cookie.issue(&SessionId::parse(A).unwrap(), true)),
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
}
