//! `/portal` and `/access/user`, as people and old clients see them.

mod home;
mod layouts;
mod links;
mod login;
mod logout;
mod menu;

use tests::Answer;

const FORM: &str = "application/x-www-form-urlencoded";

/// Asserts that the answer is a whole page.
#[track_caller]
fn assert_page(answer: &Answer, expected: &[&str]) {
    let media_type = answer.header("content-type");
    assert_eq!(media_type, Some("text/html; charset=utf-8"));
    let page = answer.text();
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"),
        "{page}"
    );
    let policy = answer.header("content-security-policy").unwrap_or_default();
    assert_eq!(
        policy,
        "default-src 'none'; style-src 'self'; img-src 'self' https:; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'; script-src http://127.0.0.1:8080/assets/lectern.js; connect-src 'self'"
    );
    for it in expected {
        assert!(page.contains(it), "{it} in {page}");
    }
}
