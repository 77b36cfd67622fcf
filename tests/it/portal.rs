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
    assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"));
    for it in expected {
        assert!(page.contains(it), "{it} in {page}");
    }
}
