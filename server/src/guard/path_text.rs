//! The path of a request as text that is stored: in the audit log, in the outbox, and in log lines.

use std::borrow::Cow;
use std::sync::Arc;

use percent_encoding::percent_decode_str;

use crate::guard::feed_token::without_token;
use crate::guard::session::SessionId;

/// The maximum number of bytes: requests of strangers must not fill the disk.
const MOST: usize = 512;
/// The text that replaces the part that was cut off.
const CUT: &str = "\u{2026}";
/// The text that replaces a credential.
const CREDENTIAL: &str = "[id]";

/// `path` without credentials and no longer than it may be stored. Clients log out by naming the id of their
/// session, and those that keep no cookies send it behind a semicolon.
pub(crate) fn stored(path: &str) -> Arc<str> {
    let feed = without_token(path);
    let told = without_sessions(feed.as_deref().unwrap_or(path));
    if told.len() <= MOST {
        return told.into();
    }
    let end = told.floor_char_boundary(MOST.saturating_sub(CUT.len()));
    let kept = told.get(..end).unwrap_or_default();
    format!("{kept}{CUT}").into()
}

fn without_sessions(path: &str) -> Cow<'_, str> {
    let is_dirty = |segment: &str| without_parameters(segment) != segment || is_session(segment);
    if !path.split('/').any(is_dirty) {
        return Cow::Borrowed(path);
    }
    let told = |segment| match without_parameters(segment) {
        name if is_session(name) => CREDENTIAL,
        name => name,
    };
    let segments: Vec<&str> = path.split('/').map(told).collect();
    Cow::Owned(segments.join("/"))
}

/// `segment` up to its first semicolon, in whichever way that is written.
fn without_parameters(segment: &str) -> &str {
    let encoded = || segment.to_ascii_lowercase().find("%3b");
    let end = segment.find(';').into_iter().chain(encoded()).min();
    end.and_then(|it| segment.get(..it)).unwrap_or(segment)
}

/// Returns whether `segment` is the id of a session, with or without a format behind it.
fn is_session(segment: &str) -> bool {
    let decoded = percent_decode_str(segment).decode_utf8_lossy();
    let stem = decoded.split('.').next().unwrap_or_default();
    SessionId::parse(stem).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sec_no_credential_is_stored_however_it_is_written() {
        let id = "A".repeat(SessionId::generate().unwrap().expose().len());
        let encoded: String = id
            .bytes()
            .map(percent_encoding::percent_encode_byte)
            .collect();
        for (path, expected) in [
            ("/direct/site/x.json".to_owned(), "/direct/site/x.json"),
            (format!("/direct/session/{id}"), "/direct/session/[id]"),
            (format!("/direct/session/{id}.json"), "/direct/session/[id]"),
            (format!("/direct/session/{encoded}"), "/direct/session/[id]"),
            (
                format!("/direct/session/%41{}.xml", "A".repeat(id.len() - 1)),
                "/direct/session/[id]",
            ),
            (format!("/direct/session/{id};x=y"), "/direct/session/[id]"),
            (format!("/direct/site;jsessionid={id}"), "/direct/site"),
            (
                format!("/direct/site/x.json;JSESSIONID={id}.svc"),
                "/direct/site/x.json",
            ),
            (format!("/direct/site;jsessionid={id}/x"), "/direct/site/x"),
            (
                format!("/direct/site%3Bjsessionid={id}/x"),
                "/direct/site/x",
            ),
            (
                format!("/direct/site%3bjsessionid%3d{encoded};a"),
                "/direct/site",
            ),
            (
                format!("/feeds/x/news.atom;jsessionid={id}"),
                "/feeds/[token]/news.atom",
            ),
        ] {
            assert_eq!(&*stored(&path), expected, "{path}");
        }
    }

    #[test]
    fn sec_what_is_stored_of_a_path_is_bounded() {
        let long = format!("/direct/{}", "\u{e4}".repeat(40_000));
        let kept = stored(&long);
        assert!(
            kept.len() <= MOST
                && kept.ends_with(CUT)
                && long.starts_with(kept.trim_end_matches(CUT))
        );
        let fits = format!("/{}", "x".repeat(MOST - 1));
        assert_eq!(&*stored(&fits), fits);
    }
}
