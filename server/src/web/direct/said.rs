//! One sentence about what a form did, on the page that its sender is shown next and on no other.
//!
//! A cookie carries the name of the sentence, and no text: an attacker who can set cookies can't choose the text. The
//! title in a sentence is that of the entity that the page shows.

use axum::http::header::{CONTENT_TYPE, COOKIE, IF_MODIFIED_SINCE, IF_NONE_MATCH, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use entity_core::engine::{ActionRoute, DirectPath};
use entity_core::html::REPLACED;
use entity_core::reply::{Effect, FlashMessage};
use entity_core::{Registry, Submit};

use serde_json::{Map, Value};
use tower_cookies::Cookie;
use tower_cookies::cookie::SameSite;
use tower_cookies::cookie::time::Duration;

use crate::base::no_store;

const NAME: &str = "lectern-said";
/// The beginning of a cookie about a text of which not all could be kept.
const REPLACED_TOO: &str = "replaced.";
/// The sentence about that.
const REPLACED_SENTENCE: &str = "Of what no page may show, such as a film, a formula or a script, only its address or its \
    text was kept.";
/// The time after which a sentence that was not shown is forgotten.
const LIFE: Duration = Duration::seconds(60);
/// The most words of a cookie.
const MOST_WORDS: usize = 5;

/// Returns the sentence of the page, if its reader comes from a form.
pub(crate) fn sentence(headers: &HeaderMap, registry: &Registry) -> Option<FlashMessage> {
    let code = code(headers)?;
    let (code, addition) = match code.strip_prefix(REPLACED_TOO) {
        Some(code) => (code, REPLACED_SENTENCE),
        None => (code, ""),
    };
    let words: Vec<_> = code.split('.').take(MOST_WORDS + 1).collect();
    let (sentence, about) = match *words {
        ["created", prefix] => (
            format!("{} created.", registry.route(prefix)?.singular()),
            prefix,
        ),
        ["updated", prefix] => ("Your changes are saved.".to_owned(), prefix),
        ["deleted", prefix] => ("Done: it is no longer there.".to_owned(), prefix),
        ["acted", prefix, name, about] => (action(registry, prefix, name)?.done(), about),
        ["acted", prefix, name, about, button] => {
            let submits = action(registry, prefix, name)?.submits();
            let submit = submits.get(button.parse::<usize>().ok()?)?;
            (submit.done.to_owned(), about)
        }
        _ => return None,
    };
    let about = about.to_owned();
    let sentence = format!("{sentence} {addition}").trim_end().to_owned();
    Some(FlashMessage { sentence, about })
}

/// The action that writes and has this name.
fn action<'a>(registry: &'a Registry, prefix: &str, name: &str) -> Option<&'a ActionRoute> {
    let mut actions = registry.route(prefix)?.actions.iter();
    actions.find(|it| it.name == name && !it.verb.is_safe())
}

/// Lets the page to which `response` sends a browser say what has been done at `path` with what was
/// `sent`.
pub(crate) fn note(
    response: &mut Response,
    effect: &Effect,
    (path, registry): (&DirectPath, &Registry),
    sent: &Map<String, Value>,
    is_secure: bool,
) {
    let prefix = &path.prefix;
    let code = match effect {
        Effect::Created(_) => format!("created.{prefix}"),
        Effect::Updated(_) => format!("updated.{prefix}"),
        Effect::Deleted(_) => format!("deleted.{prefix}"),
        Effect::Acted(on) => match entity_core::engine::action(registry, path) {
            Some(name) => {
                let submits = action(registry, prefix, name).map_or(&[][..], ActionRoute::submits);
                let is_sent =
                    |it: &Submit| sent.get(it.field.0).is_some_and(|own| own == it.field.1);
                let button = submits.iter().position(is_sent);
                let button = button.map(|it| format!(".{it}")).unwrap_or_default();
                format!("acted.{prefix}.{name}.{}{button}", on.prefix)
            }
            None => return,
        },
        Effect::Read => return,
    };
    let code = match response.headers().contains_key(REPLACED) {
        true => format!("{REPLACED_TOO}{code}"),
        false => code,
    };
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
                "lectern-said=acted.calendar.import.calendar",
                Some("Done: Import events."),
            ),
            (
                "lectern-said=acted.membership.join.site",
                Some("You have joined {}."),
            ),
            ("lectern-said=created.nothing", None),
            ("lectern-said=acted.assignment.nothing.site", None),
            ("lectern-said=acted.membership.join.site.more", None),
            ("lectern-said=<b>", None),
            ("other=created.announcement", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_static(cookie));
            assert_eq!(
                sentence(&headers, &registry)
                    .map(|it| it.sentence)
                    .as_deref(),
                expected,
                "{cookie}"
            );
        }
    }
}
