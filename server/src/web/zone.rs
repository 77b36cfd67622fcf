//! The time zone of the reader's browser, by which pages tell times to a reader who has chosen none.
//!
//! The script of the pages names it in a cookie. Anybody may send one: it chooses among the zones that there are.

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use entity_core::recurrence::{self, Tz};
use tower_cookies::Cookie;

const NAME: &str = "lectern-zone";

/// Returns the zone that the browser which sent `headers` names, if there is one of that name.
pub(crate) fn of_browser(headers: &HeaderMap) -> Option<Tz> {
    let cookies = headers.get_all(COOKIE).iter();
    let texts = cookies.filter_map(|it| it.to_str().ok());
    let mut cookies = texts.flat_map(Cookie::split_parse).flatten();
    let named = cookies.find(|it| it.name() == NAME)?;
    recurrence::zone(named.value())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_cookie_chooses_among_the_zones_that_there_are() {
        for (cookie, expected) in [
            ("a=b; lectern-zone=Europe/Berlin", Some(Tz::Europe__Berlin)),
            ("lectern-zone=Asia/Calcutta", Some(Tz::Asia__Calcutta)),
            ("lectern-zone=Mars/Olympus", None),
            ("lectern-zone=../../etc/passwd", None),
            ("lectern-zone=<script>", None),
            ("lectern-zone=", None),
            ("zone=Europe/Berlin", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_static(cookie));
            assert_eq!(of_browser(&headers), expected, "{cookie}");
        }
    }
}
