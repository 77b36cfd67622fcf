//! One sentence about what a form did, on the page that its sender is shown next and on no other.
//!
//! A cookie carries which sentence it is, and no text: whoever can set cookies here can make a page say nothing else.

use axum::http::header::{CONTENT_TYPE, COOKIE, IF_MODIFIED_SINCE, IF_NONE_MATCH, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use entity_core::{DirectPath, Effect, Registry};

use tower_cookies::Cookie;
use tower_cookies::cookie::SameSite;
use tower_cookies::cookie::time::Duration;

use crate::base::no_store;

const NAME: &str = "lectern-said";
/// The time after which what was not shown is forgotten.
const LIFE: Duration = Duration::seconds(60);

/// Returns the sentence that the page says, if its reader comes from a form.
pub(crate) fn sentence(headers: &HeaderMap, registry: &Registry) -> Option<String> {
    let code = code(headers)?;
    let mut words = code.split('.');
    let (what, prefix) = (words.next()?, words.next()?);
    match (what, words.next()) {
        ("created", None) => Some(format!("{} created.", registry.route(prefix)?.singular())),
        ("updated", None) => Some("Your changes are saved.".to_owned()),
        ("deleted", None) => Some("Done: it is no longer there.".to_owned()),
        ("acted", Some(name)) => {
            let mut actions = registry.route(prefix)?.actions.iter();
            let action = actions.find(|it| it.name == name)?;
            Some(format!("Done: {}.", action.label()))
        }
        _ => None,
    }
}

/// Lets the page to which `response` sends a browser say what has been done at `path`.
pub(crate) fn note(response: &mut Response, effect: &Effect, path: &DirectPath, is_secure: bool) {
    let what = match effect {
        Effect::Created(_) => "created",
        Effect::Updated(_) => "updated",
        Effect::Deleted(_) => "deleted",
        Effect::Acted(_) => "acted",
        Effect::Read => return,
    };
    let action = path.segments.last().filter(|_| what == "acted");
    let action = action.map(|it| format!(".{it}")).unwrap_or_default();
    let code = format!("{what}.{}{action}", path.prefix);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if response.status() == StatusCode::SEE_OTHER && code.chars().all(is_plain) {
        tell(response, &code, LIFE, is_secure);
    }
}

/// Prepares `headers` for an answer that says something: it is not the one that the browser has already.
pub(crate) fn freshen(headers: &mut HeaderMap) {
    if code(headers).is_some() {
        headers.remove(IF_NONE_MATCH);
        headers.remove(IF_MODIFIED_SINCE);
    }
}

/// Takes the sentence away when a page was shown, which nothing keeps.
pub(crate) fn forget(response: &mut Response, headers: &HeaderMap, is_secure: bool) {
    let kind = response.headers().get(CONTENT_TYPE);
    let is_page = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/html"));
    if is_page && code(headers).is_some() {
        tell(response, "", Duration::ZERO, is_secure);
        no_store::demand(response.headers_mut());
    }
}

fn tell(response: &mut Response, code: &str, life: Duration, is_secure: bool) {
    let cookie = Cookie::build((NAME, code))
        .path("/")
        .max_age(life)
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(is_secure);
    if let Ok(cookie) = HeaderValue::try_from(cookie.to_string()) {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
}

fn code(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(COOKIE).iter();
    let texts = cookies.filter_map(|it| it.to_str().ok());
    let mut cookies = texts.flat_map(Cookie::split_parse).flatten();
    let said = cookies.find(|it| it.name() == NAME)?;
    Some(said.value_raw()?).filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_chooses_among_sentences_and_brings_none() {
        let registry = Registry::from_inventory().expect("types that go together");
        for (cookie, expected) in [
            (
                "a=b; lectern-said=created.announcement",
                Some("Announcement created."),
            ),
            (
                "lectern-said=updated.announcement",
                Some("Your changes are saved."),
            ),
            (
                "lectern-said=acted.assignment.submit",
                Some("Done: Hand in."),
            ),
            ("lectern-said=created.nothing", None),
            ("lectern-said=acted.assignment.nothing", None),
            ("lectern-said=<b>", None),
            ("other=created.announcement", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_static(cookie));
            assert_eq!(
                sentence(&headers, &registry).as_deref(),
                expected,
                "{cookie}"
            );
        }
    }
}
