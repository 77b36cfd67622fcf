//! Entities end with their site.

use http::StatusCode;
use serde_json::json;

use super::suite::{Suite, get_json};
use super::{Held, Verdict};
use crate::role::Role;

/// A site of which nothing else makes use.
const SHORT_LIVED: &str = "short-lived";

/// Checks that no entity of a deleted site is left, even for a site that is made anew with the same id.
pub async fn entities_end_with_their_site(suite: &Suite) -> Verdict {
    if !suite.has_sites() {
        return Ok(Held::Skipped("entities of the type belong to no site"));
    }
    if !(suite.can("read") && suite.can("create")) {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    let admin = suite.superuser();
    make_site(suite).await?;
    let row = suite.make(SHORT_LIVED).await?;
    let path = format!("{}.json", suite.path_of(&row.id));
    get_json(admin, &path).await?;
    let deleted = admin.delete(&format!("/direct/site/{SHORT_LIVED}")).await;
    if !deleted.status.is_success() {
        return Err(format!(
            "the site of an entity can't be deleted: {} {}\nLet the rows go with their site: `ON DELETE CASCADE`, as \
             tables have that the service manages",
            deleted.status,
            deleted.text()
        ));
    }
    for is_anew in [false, true] {
        if is_anew {
            make_site(suite).await?;
        }
        let status = admin.get(&path).await.status;
        if status != StatusCode::NOT_FOUND {
            let when = if is_anew {
                "when there is a site of the same id again"
            } else {
                "after its site"
            };
            return Err(format!(
                "an entity is still there {when}: {path} answers {status}. Let the rows go with their site: \
                 `ON DELETE CASCADE`, as tables have that the service manages"
            ));
        }
    }
    Ok(Held::Passed)
}

/// Makes the site, and members of it of all people but the superuser.
async fn make_site(suite: &Suite) -> Result<(), String> {
    let admin = suite.superuser();
    let draft = json!({"id": SHORT_LIVED, "title": "Short-lived", "type": "project"});
    let mut sent = vec![("site", draft)];
    let people = suite.people.iter().skip(1);
    sent.extend(people.filter_map(|it| {
        let role = match it.role {
            Role::Instructor => "maintain",
            _ => "access",
        };
        let place = format!("/site/{SHORT_LIVED}");
        let member =
            json!({"userId": it.id.as_ref()?, "locationReference": place, "memberRole": role});
        Some(("membership", member))
    }));
    for (prefix, body) in sent {
        let answer = admin.post(&format!("/direct/{prefix}.json"), &body).await;
        if answer.status != StatusCode::CREATED {
            return Err(format!(
                "the {prefix} is not made: {} {}",
                answer.status,
                answer.text()
            ));
        }
    }
    Ok(())
}
