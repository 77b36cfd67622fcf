//! Requests as nobody should send them, near enough to real ones to get far. The same seed, the same requests.

use axum::body::Body;
use http::{HeaderValue, Method, Request};

const METHODS: [&str; 14] = [
    "GET", "GET", "GET", "GET", "GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD",
    "OPTIONS", "FETCH",
];
/// Paths that exist. `*` stands for a segment of any kind.
const PATHS: [&str; 30] = [
    "/direct",
    "/direct/describe",
    "/direct/announcement",
    "/direct/announcement",
    "/direct/announcement",
    "/direct/announcement/new",
    "/direct/announcement/*",
    "/direct/announcement/site/biology-101",
    "/direct/announcement/site/*",
    "/direct/announcement/user",
    "/direct/announcement/message/biology-101/*",
    "/direct/announcement/biology-101:main:*",
    "/direct/site",
    "/direct/site/biology-101",
    "/direct/site/*/pages",
    "/direct/membership",
    "/direct/membership/site/biology-101",
    "/direct/user/current",
    "/direct/user/*",
    "/direct/session/current",
    "/direct/feed",
    "/direct/feed/*",
    "/direct/feed/*/rotate",
    "/feeds/*/*",
    "/feeds/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/biology-101",
    "/direct/*/*/*",
    "/api/*",
    "/api/sites/biology-101/*",
    "/api/users/current",
    "/*",
];
const SEGMENTS: [&str; 28] = [
    "biology-101",
    "student1",
    "current",
    "new",
    "describe",
    "announcement",
    "motd",
    ".",
    "..",
    "",
    "%2e%2e",
    "%00",
    "%ff",
    "%zz",
    "%",
    "a%2Fb",
    "x:y:z",
    ":::",
    "'--",
    "%3Cscript%3E",
    "%F0%9F%98%80",
    "%E2%80%AE",
    "-1",
    "9223372036854775808",
    "a.b.json",
    "~",
    "@",
    "a;b=c",
];
const EXTENSIONS: [&str; 12] = [
    "", "", ".json", ".xml", ".html", ".atom", ".rss", ".csv", ".ics", ".opml", ".exe", ".",
];
const KEYS: [&str; 34] = [
    "_limit",
    "_start",
    "_page",
    "_perpage",
    "_order",
    "_search",
    "_fields",
    "_expand",
    "_count",
    "_cursor",
    "body[like]",
    "highlight[in]",
    "pubView[gt]",
    "eid[lt]",
    "memberRole[eq]",
    "_method",
    "_version",
    "n",
    "d",
    "a",
    "siteId",
    "userId",
    "title",
    "title[like]",
    "title[in]",
    "createdOn[gt]",
    "createdOn[null]",
    "id[ne]",
    "envelope",
    "[",
    "a[b",
    "_username",
    "%5B%5D",
    "",
];
const VALUES: [&str; 26] = [
    "",
    "0",
    "1",
    "50",
    "-1",
    "99999999999999999999",
    "1e309",
    "NaN",
    "null",
    "true",
    "%",
    "%25",
    "%00",
    "a,b,,",
    "title_desc",
    "createdOn,title",
    "siteId,createdBy",
    "exact",
    "WzEsW3siVGV4dCI6IngifV1d",
    "WzEsW10",
    "'%3BDROP%20TABLE%20site--",
    "%F0%9F%98%80",
    "2026-13-40",
    "biology-101",
    "9223372036854775807",
    "+",
];
const HEADERS: [&str; 16] = [
    "accept",
    "accept",
    "content-type",
    "if-match",
    "if-none-match",
    "if-modified-since",
    "origin",
    "cookie",
    "range",
    "x-forwarded-for",
    "idempotency-key",
    "prefer",
    "authorization",
    "sec-fetch-site",
    "accept-language",
    "x-request-id",
];
const HEADER_VALUES: [&str; 26] = [
    "*/*",
    "application/json",
    "application/xml;q=0.5, text/html",
    "application/atom+xml",
    "text/csv;q=0.9, text/calendar",
    "text/x-opml",
    "text/plain;q=nan",
    ";;;,,,",
    "application/problem+json",
    "\"\"",
    "*",
    "W/\"1\"",
    "\"1\", \"2\"",
    "Sat, 21 Nov 2026 10:00:00 GMT",
    "Thu, 99 Foo 9999 99:99:99 GMT",
    "https://elsewhere.example",
    "null",
    "JSESSIONID=x.y.z; JSESSIONID=a",
    "JSESSIONID=",
    "bytes=0-",
    "unknown, , 999.1.1.1",
    "return=minimal",
    "Basic !!!!",
    "Basic YTpi",
    "cross-site",
    "none",
];
const MEDIA_TYPES: [&str; 9] = [
    "application/json",
    "application/json",
    "application/x-www-form-urlencoded",
    "application/xml",
    "text/xml",
    "multipart/form-data; boundary=x",
    "application/merge-patch+json",
    "application/json-patch+json",
    "text/plain",
];
const BODIES: [&str; 31] = [
    "",
    "{}",
    "[]",
    "null",
    "1e999",
    "\"",
    "{\"title\":",
    "{\"title\":\"x\",\"siteId\":\"biology-101\"}",
    "{\"title\":null,\"siteId\":[]}",
    "{\"title\":{\"a\":1},\"body\":\"<script>\"}",
    "{\"unknown\":1}",
    "{\"title\":\"a\",\"title\":\"b\"}",
    "{\"title\":\"\\u0000\\ud800\"}",
    "{\"releaseDate\":9223372036854775807}",
    "{\"announcement\":{\"title\":\"x\",\"siteId\":\"nowhere\"}}",
    "[{\"op\":\"remove\",\"path\":\"/title\"}]",
    "{\"path\":\"/announcement/site/biology-101\"}",
    "{\"path\":\"/direct/announcement.atom?_limit=%25\",\"formats\":[\"atom\",1]}",
    "{\"path\":\"/site/.\",\"formats\":{},\"expires\":\"2026-13-40\",\"query\":\"%\"}",
    "path=/announcement?siteId=biology-101&formats=rss&formats=rss&expires=9223372036854775807",
    "title=x&siteId=biology-101&body=%3Cp%3E",
    "title=%zz&title=y",
    "&&==&",
    "_method=PUT&title=x",
    "_method=PUT&_version=+ff&title=x&published=false&published=true&published=true",
    "_method=DELETE&_version=ffffffffffffffffff&_version=",
    "props=%7B%22a&props==&groups=%5B%5B%5B&attachments=%22%0A%7B&contactName=x",
    "<announcement><title>x</title></announcement>",
    "<a><b></a>",
    "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
    "username=&password=",
];

/// Makes requests.
pub(super) struct Generator(u64);

/// A request that some client could send.
pub(super) struct Sent {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, &'static str)>,
    pub(super) body: String,
}

impl Sent {
    /// The same as it is sent.
    pub(super) fn into_request(self) -> Option<Request<Body>> {
        let request = Request::builder().method(self.method).uri(self.path);
        let request = self
            .headers
            .into_iter()
            .fold(request, |it, (name, value)| it.header(name, value));
        request.body(Body::from(self.body)).ok()
    }
}

/// Returns whether whoever is logged in may send it without ending a session or removing an account.
pub(super) fn is_harmless(request: &Request<Body>) -> bool {
    let path = request.uri().path();
    let is_about_people = ["session", "login", "logout", "user"]
        .iter()
        .any(|it| path.contains(it));
    request.method() == Method::GET || !is_about_people
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`: xorshift, whose sequence depends on the seed only.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let limit = u64::try_from(limit.max(1)).expect("a small number");
        usize::try_from((self.0 >> 11) % limit).expect("a small number")
    }

    fn pick(&mut self, from: &[&'static str]) -> &'static str {
        from[self.below(from.len())]
    }

    fn is_one_in(&mut self, number: usize) -> bool {
        self.below(number) == 0
    }

    /// The next request; `None` if no client could send it.
    pub(super) fn request(&mut self) -> Option<Request<Body>> {
        let method = self.pick(&METHODS);
        let path = self.path();
        self.request_for(method, &path)
    }

    /// The next request to this path; `None` if no client could send it.
    pub(super) fn request_for(&mut self, method: &str, path: &str) -> Option<Request<Body>> {
        let uri = format!("{path}{}", self.query());
        let mut request = Request::builder().method(method).uri(uri);
        for _ in 0..self.below(3) {
            request = request.header(self.pick(&HEADERS), self.header_value()?);
        }
        let mut body = Vec::new();
        if !matches!(method, "GET" | "HEAD" | "OPTIONS") || self.is_one_in(20) {
            body = self.body();
            request = request.header("content-type", self.media_type(&body));
        }
        request.body(Body::from(body)).ok()
    }

    /// Returns the media type that the body looks like, or any other.
    fn media_type(&mut self, body: &[u8]) -> &'static str {
        match body.first() {
            _ if self.is_one_in(4) => self.pick(&MEDIA_TYPES),
            Some(b'<') => "application/xml",
            Some(b'{' | b'[') => "application/json",
            _ => "application/x-www-form-urlencoded",
        }
    }

    fn path(&mut self) -> String {
        let pattern = self.pick(&PATHS);
        let mut path = String::new();
        for (number, part) in pattern.split('*').enumerate() {
            if number > 0 {
                path.push_str(&self.segment());
            }
            path.push_str(part);
        }
        if self.is_one_in(30) {
            path.push('/');
        }
        path + self.pick(&EXTENSIONS)
    }

    fn segment(&mut self) -> String {
        match self.below(40) {
            0 => "a".repeat(self.below(6_000)),
            1 => "a/".repeat(self.below(40)),
            2 => format!("%{:02x}%{:02x}", self.below(256), self.below(256)),
            _ => self.pick(&SEGMENTS).to_owned(),
        }
    }

    fn query(&mut self) -> String {
        let mut query = String::new();
        for number in 0..self.below(4) {
            query.push(if number == 0 { '?' } else { '&' });
            query.push_str(self.pick(&KEYS));
            query.push('=');
            query.push_str(self.pick(&VALUES));
        }
        query
    }

    fn header_value(&mut self) -> Option<HeaderValue> {
        if self.is_one_in(20) {
            let bytes =
                (0..self.below(64)).map(|_| u8::try_from(32 + self.below(224)).unwrap_or(b'x'));
            return HeaderValue::from_bytes(&bytes.collect::<Vec<_>>()).ok();
        }
        HeaderValue::from_str(self.pick(&HEADER_VALUES)).ok()
    }

    fn body(&mut self) -> Vec<u8> {
        match self.below(24) {
            0 => "[".repeat(self.below(5_000)).into_bytes(),
            1 => "{\"a\":".repeat(self.below(2_000)).into_bytes(),
            2 => "<a>".repeat(self.below(2_000)).into_bytes(),
            3 => (0..self.below(200))
                .map(|_| u8::try_from(self.below(256)).unwrap_or(0))
                .collect(),
            4 => vec![b'x'; self.below(100_000)],
            5 => {
                let mut body = self.pick(&BODIES).as_bytes().to_vec();
                let at = self.below(body.len());
                if let Some(byte) = body.get_mut(at) {
                    *byte = u8::try_from(self.below(256)).unwrap_or(0);
                }
                body
            }
            _ => self.pick(&BODIES).as_bytes().to_vec(),
        }
    }
}
