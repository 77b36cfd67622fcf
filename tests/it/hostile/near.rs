//! Writes that would be fine but for one small thing, or are fine.

use super::generator::{Generator, Sent};

/// Method, path, media type, body. `*` in a path stands for an announcement that exists.
const WRITES: [(&str, &str, &str, &str); 20] = [
    (
        "POST",
        "/direct/announcement",
        "application/json",
        r#"{"siteId":"biology-101","title":"Near","body":"<p>a</p>"}"#,
    ),
    (
        "POST",
        "/direct/announcement.xml",
        "application/xml",
        "<announcement><siteId>biology-101</siteId><title>Near</title></announcement>",
    ),
    (
        "POST",
        "/direct/announcement/new",
        "application/x-www-form-urlencoded",
        "siteId=biology-101&title=Near&body=%3Cb%3Ea%3C%2Fb%3E",
    ),
    (
        "POST",
        "/direct/announcement",
        "application/json",
        r#"{"siteId":"biology-101","title":"Near","releaseDate":1795255200000,"draft":true,"groups":[],"attachments":[{"name":"a","url":"https://example.org/a","type":"a/b","size":3}]}"#,
    ),
    (
        "PUT",
        "*",
        "application/json",
        r#"{"title":"Nearer","highlight":true}"#,
    ),
    (
        "POST",
        "*",
        "application/x-www-form-urlencoded",
        "_method=PUT&title=Nearer&draft=true",
    ),
    (
        "PUT",
        "*.xml",
        "application/xml",
        "<announcement><title>Nearer</title><draft>false</draft></announcement>",
    ),
    (
        "PATCH",
        "*",
        "application/merge-patch+json",
        r#"{"title":"Patched","highlight":null,"attachments":[]}"#,
    ),
    (
        "PATCH",
        "*",
        "application/json-patch+json",
        r#"[{"op":"replace","path":"/title","value":"Patched"},{"op":"copy","from":"/title","path":"/body"}]"#,
    ),
    (
        "PATCH",
        "*",
        "application/json-patch+json",
        r#"[{"op":"test","path":"/draft","value":false},{"op":"add","path":"/attachments/-","value":{"name":"a","url":"/access/content/a"}}]"#,
    ),
    (
        "POST",
        "/direct/site",
        "application/json",
        r#"{"id":"near-site","title":"Near","type":"project"}"#,
    ),
    (
        "PUT",
        "/direct/site/field-trip",
        "application/json",
        r#"{"title":"Trip","shortDescription":"<i>x</i>"}"#,
    ),
    (
        "GET",
        "/direct/batch.json?_refs=site/biology-101,announcement/user",
        "application/json",
        "",
    ),
    (
        "GET",
        "/direct/batch.xml?_refs=site/biology-101&_refs=nowhere/at,all",
        "application/json",
        "",
    ),
    (
        "POST",
        "/direct/batch.json?_refs=announcement,announcement",
        "application/x-www-form-urlencoded",
        "siteId=biology-101&ref0.title=a&ref1.title=b",
    ),
    (
        "POST",
        "/direct/batch.json",
        "application/json",
        r#"{"atomic":true,"operations":[{"id":"a","method":"POST","path":"announcement","body":{"siteId":"biology-101","title":"b"}},{"method":"DELETE","path":"announcement/$a.entityId"}]}"#,
    ),
    (
        "POST",
        "/direct/batch.xml",
        "application/json",
        r#"{"operations":[{"method":"GET","path":"site/biology-101"},{"method":"PUT","path":"site/none","body":{"title":"x"},"headers":{"if-match":"*"}}]}"#,
    ),
    (
        "POST",
        "/direct/batch.json",
        "application/json",
        r#"{"atomic":true,"operations":[{"method":"GET","path":"announcement/none"}]}"#,
    ),
    (
        "DELETE",
        "/direct/batch.json?_refs=announcement/none,site/none",
        "application/json",
        "",
    ),
    ("DELETE", "*", "application/json", ""),
];
/// Headers that say how a write is to be carried out.
const MANNERS: [(&str, &str); 14] = [
    ("prefer", "return=representation"),
    ("prefer", "return=minimal"),
    ("prefer", "handling=strict"),
    ("prefer", "tx=rollback"),
    ("prefer", "tx=rollback; a=b, return=representation,,"),
    ("prefer", "\"=;,"),
    ("if-match", "*"),
    ("if-match", "\"0000000000000001-json\", W/\"x\""),
    ("if-unmodified-since", "Sat, 21 Nov 2026 10:00:00 GMT"),
    ("if-unmodified-since", "yesterday"),
    ("idempotency-key", "a"),
    ("idempotency-key", "\"b\""),
    ("idempotency-key", ""),
    ("accept", "application/atom+xml"),
];
/// The texts that replace one place of a body.
const SPOILS: [&str; 16] = [
    "",
    "\0",
    "\"",
    "{",
    "]",
    "<",
    "&",
    "%",
    "\\u0000",
    "\\ud800",
    "9e999",
    "null",
    "/..",
    "$a.entityId",
    "\u{202e}",
    "\u{fffe}",
];

/// All of them as they are, the deletion last.
pub(super) fn unspoilt(known: &str) -> Vec<Sent> {
    let sent = |(method, path, media_type, body): &(&'static str, &str, &'static str, &str)| Sent {
        method,
        path: path.replacen('*', known, 1),
        headers: vec![("content-type", *media_type)],
        body: (*body).to_owned(),
    };
    WRITES.iter().map(sent).collect()
}

impl Generator {
    /// A write, spoilt in one place at most. `known` are paths of announcements.
    pub(super) fn write(&mut self, known: &[String]) -> Sent {
        // What is deleted can't be attacked any more.
        let choices = match self.below(50) {
            0 => WRITES.len(),
            _ => WRITES.len() - 1,
        };
        let (method, path, media_type, body) = WRITES[self.below(choices)];
        let path = match path.strip_prefix('*') {
            Some(extension) => format!("{}{extension}", known[self.below(known.len())]),
            None => path.to_owned(),
        };
        let mut headers = vec![("content-type", media_type)];
        for _ in 0..self.below(3) {
            headers.push(MANNERS[self.below(MANNERS.len())]);
        }
        let body = match self.below(2) {
            0 => body.to_owned(),
            _ => self.spoil(body),
        };
        Sent {
            method,
            path,
            headers,
            body,
        }
    }

    /// The text with up to three characters at one place replaced.
    fn spoil(&mut self, body: &str) -> String {
        let (from, spoilt) = (
            self.below(body.chars().count()),
            SPOILS[self.below(SPOILS.len())],
        );
        let until = from + self.below(4);
        let before = body.chars().take(from);
        let behind = body.chars().skip(until);
        before.chain(spoilt.chars()).chain(behind).collect()
    }
}
