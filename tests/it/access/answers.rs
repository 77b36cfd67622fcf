//! Compares answers with the policy.

use http::{Method, StatusCode};
use serde_json::json;
use tests::Answer;

use super::policy::Expected;
use super::requests::{Question, Shows};
use super::subject::Subject;

/// The statuses by which a list says that it shows nothing.
const EMPTY: [u16; 3] = [200, 403, 404];

/// Returns the fault of the answers to `question`. `is_lenient`: an entity that can't be read is in no list, however
/// the list says so.
pub(super) fn complaint(
    expected: Expected,
    is_lenient: bool,
    question: &Question,
    subject: &Subject,
    answers: &[Answer],
) -> Option<String> {
    let statuses: Vec<u16> = answers.iter().map(|it| it.status.as_u16()).collect();
    let text: String = answers
        .iter()
        .map(|it| String::from_utf8_lossy(&it.body))
        .collect();
    let is_head = question.method == Method::HEAD;
    let marker = match question.shows {
        // Other lists may show something else of the same site. `me` is in many a word, such as `message`.
        Shows::NothingMore if !matches!(&*subject.id, "" | "me") => &subject.id,
        _ => &subject.marker,
    };
    let shows = !marker.is_empty() && text.contains(marker.as_str());
    let is_success = answers.iter().all(|it| it.status.is_success());
    // A gradebook as a table has a row for each student whom the caller grades: perhaps none.
    let is_rows = |it: &String| it.starts_with("/direct/gradebook/") && it.contains(".csv");
    let is_in_lists = shows || is_head || question.paths.iter().any(is_rows);
    let is_echo = question.paths.iter().any(|it| it.contains(marker.as_str()));
    if is_head && !text.is_empty() {
        return Some("a body for HEAD".to_owned());
    }
    let is_as_expected = match (expected, question.shows) {
        (Expected::Refusal(401), _) => statuses.iter().all(|it| *it == 401),
        (Expected::Refusal(_), Shows::NothingMore) => !shows,
        (_, Shows::NothingMore) => statuses.iter().all(|it| EMPTY.contains(it)),
        (Expected::Refusal(_), Shows::Lists) if is_lenient => {
            !shows && statuses.iter().all(|it| EMPTY.contains(it))
        }
        (Expected::Refusal(status), _) => statuses.iter().all(|it| *it == status),
        (Expected::Outside, _) => is_success && !shows,
        (Expected::Inside, _) | (Expected::Success, Shows::Lists | Shows::Entity) => {
            is_success && is_in_lists
        }
        (Expected::Success, Shows::Feed) => {
            is_success
                || statuses
                    .iter()
                    .all(|it| *it == StatusCode::NOT_ACCEPTABLE.as_u16())
        }
        (Expected::Success, Shows::Status) => is_success,
        (Expected::Success, Shows::Lead) => statuses.iter().all(|it| matches!(it, 200 | 302)),
        (Expected::Success, Shows::Superuser(is_superuser)) => {
            is_success && answers[0].json() == json!({"isSuperUser": is_superuser})
        }
    };
    // Pages greet the caller, and say again what was asked for.
    let is_page = question.paths.iter().any(|it| it.contains(".html"));
    let is_own_page = is_page && subject.is_caller;
    let is_leak = shows && !(is_success || is_echo || is_own_page);
    let remark = if shows { ", showing it" } else { "" };
    match (is_as_expected, is_leak) {
        (true, false) => None,
        (true, true) => Some("a refusal that tells of it".to_owned()),
        (false, _) => Some(format!("{statuses:?}{remark} instead of {expected:?}")),
    }
}
