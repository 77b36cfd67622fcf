//! The session id in the `Authorization` header, for clients that keep no cookies.
//!
//! No page of another site can make a browser send this header, so that such a request needs no further protection
//! against forgery.

use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::cookie::{Presented, parse_value};

/// The name of the scheme, in whatever case.
const SCHEME: &str = "bearer";

/// The session that the header names: none if its token is none, several if the header is there several times. `None`
/// if there is no header with this scheme.
pub(crate) fn read(headers: &HeaderMap) -> Option<Presented> {
    let mut tokens = headers
        .get_all(AUTHORIZATION)
        .iter()
        .filter_map(|it| token(it.as_bytes()));
    let first = tokens.next()?;
    if tokens.any(|other| other != first) {
        return Some(Presented::Ambiguous);
    }
    Some(parse_value(first).map_or(Presented::Nothing, Presented::Id))
}

fn token(value: &[u8]) -> Option<&[u8]> {
    let value = value.trim_ascii();
    let end = value
        .iter()
        .position(|it| *it == b' ')
        .unwrap_or(value.len());
    let (scheme, token) = value.split_at_checked(end)?;
    scheme
        .eq_ignore_ascii_case(SCHEME.as_bytes())
        .then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;
    use crate::guard::session::SessionId;

    const A: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0";
    const B: &str = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB0";

    #[test]
    fn the_token_is_the_id_with_or_without_the_suffix() {
        let id = |text: &str| Some(Presented::Id(SessionId::parse(text).unwrap()));
        for (lines, expected) in [
            (vec![], None),
            (vec!["Basic YTpi".to_owned()], None),
            (vec!["Bearerx y".to_owned()], None),
            (vec![format!("Bearer {A}")], id(A)),
            (vec![format!("BEARER   {A}.svc ")], id(A)),
            (vec!["Basic YTpi".to_owned(), format!("bearer {A}")], id(A)),
            (vec![format!("Bearer {A}"), format!("Bearer {A}")], id(A)),
            (
                vec![format!("Bearer {A}"), format!("Bearer {B}")],
                Some(Presented::Ambiguous),
            ),
            (vec!["Bearer".to_owned()], Some(Presented::Nothing)),
            (vec![format!("Bearer {A} {B}")], Some(Presented::Nothing)),
            (vec![format!("Bearer {A}A")], Some(Presented::Nothing)),
        ] {
            let mut headers = HeaderMap::new();
            for line in &lines {
                headers.append(AUTHORIZATION, HeaderValue::from_str(line).unwrap());
            }
            assert_eq!(read(&headers), expected, "{lines:?}");
        }
    }
}
