//! Changes and deletions: only those carry them out who may, and a refusal leaves everything as it was.

use entity_core::Need;
use entity_core::schema::Role as FieldRole;
use http::header::ETAG;
use serde_json::Value;

use super::suite::{Person, Suite, is_refusal};
use super::versions::change;
use super::{Held, Row, Verdict};
use crate::client::Answer;
use crate::role::{Role, SITE};

/// The state of an entity as the superuser gets it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct State {
    pub(super) version: Option<String>,
    pub(super) entity: Value,
}

/// A way to write an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Write {
    Change,
    Deletion,
}

/// Checks that nobody changes or deletes what they do not see, that a refused write changes nothing, and that not everybody
/// may write the entities of others unless the type declares who may.
pub async fn only_those_write_who_may(suite: &Suite) -> Verdict {
    let can_write = suite.can("update") || suite.can("delete");
    if !(suite.can("read") && suite.can("create") && can_write) {
        return Ok(Held::Skipped(
            "the type has no entities that can be made, and changed or deleted",
        ));
    }
    for write in [Write::Change, Write::Deletion] {
        let name = match write {
            Write::Change => "update",
            Write::Deletion => "delete",
        };
        if !suite.can(name) {
            continue;
        }
        let mut writers = Vec::new();
        for who in suite.people.iter().filter(|it| it.role != Role::Superuser) {
            let row = suite.make(SITE).await?;
            if attempt(suite, who, &row, write).await? {
                writers.push(who.role);
            }
        }
        judge(suite, write, &writers)?;
    }
    Ok(Held::Passed)
}

impl Suite {
    /// Returns the state of the entity `id`, if it is there.
    pub(super) async fn state(&self, id: &str) -> Option<State> {
        let answer = self
            .superuser()
            .get(&format!("{}.json", self.path_of(id)))
            .await;
        answer.status.is_success().then(|| State {
            version: answer.header(ETAG).map(ToOwned::to_owned),
            entity: answer.json(),
        })
    }

    /// Returns whether the entity belongs to `who`, as far as it shows.
    pub(super) fn is_of(&self, who: &Person, entity: &Value) -> bool {
        let owner = self.route.schema.role(FieldRole::Owner);
        let owner = owner.and_then(|it| entity[it.name].as_str());
        owner.is_some() && owner == who.id.as_deref()
    }
}

/// Returns whether `who` writes the entity, which belongs to somebody else.
async fn attempt(suite: &Suite, who: &Person, row: &Row, write: Write) -> Result<bool, String> {
    let is_seen = suite.sees(who, &row.id).await?;
    let before = suite.state(&row.id).await;
    let Some(answer) = send(suite, who, row, write).await else {
        return Ok(false);
    };
    let (role, status, id) = (who.role, answer.status, &row.id);
    let what = match write {
        Write::Change => "a change",
        Write::Deletion => "a deletion",
    };
    if status.is_server_error() {
        return Err(format!(
            "{role} gets {status} from {what} of {id}: {}",
            answer.text()
        ));
    }
    let is_done = status.is_success();
    if !is_seen && !is_refusal(status) {
        return Err(format!(
            "{role} does not see {id}, but {what} of it is answered with {status}: whoever may not read an entity must not \
             write it, so let `permits` and `access` demand for a write what they demand for reading"
        ));
    }
    if !is_done && suite.state(id).await != before {
        return Err(format!(
            "{role} is refused {what} of {id} with {status}, but it is another one thereafter: write in the unit of work \
             only, which is undone when it fails"
        ));
    }
    let is_own = before.is_some_and(|it| suite.is_of(who, &it.entity));
    Ok(is_done && !is_own)
}

async fn send(suite: &Suite, who: &Person, row: &Row, write: Write) -> Option<Answer> {
    let path = format!("{}.json", suite.path_of(&row.id));
    Some(match write {
        Write::Change => who.client.put(&path, &change(suite, &row.sent)?).await,
        Write::Deletion => who.client.delete(&path).await,
    })
}

/// Checks that `writers`, who write the entities of others, are not simply all.
fn judge(suite: &Suite, write: Write, writers: &[Role]) -> Result<(), String> {
    let Some(access) = suite.route.access else {
        return Ok(());
    };
    let (need, what, attribute) = match write {
        Write::Change => (access.update, "change", "update"),
        Write::Deletion => (access.delete, "delete", "delete"),
    };
    if !asks_for_no_function(need, access.read) {
        return Ok(());
    }
    let members = [
        Role::Instructor,
        Role::Assistant,
        Role::Student,
        Role::OtherStudent,
    ];
    let outside = [Role::Stranger, Role::Outsider];
    let outside = outside.into_iter().find(|it| writers.contains(it));
    let is_for_all = members.iter().filter(|it| writers.contains(it)).count() + 1 >= members.len();
    let who = match outside {
        Some(role) => role.to_string(),
        None if is_for_all => "every member of a site".to_owned(),
        None => return Ok(()),
    };
    Err(format!(
        "{who} may {what} an entity of somebody else, and `{attribute}` of the type's access asks for {need:?}, which they all \
         meet: demand a function of its own, such as Need::Site(\"{}.revise.any\") or Need::SiteOrOwn, and grant it to those \
         who may, or refuse the others in `permits`",
        suite.route.prefix
    ))
}

/// Returns whether `need` asks for nothing, or for no more than reading does.
pub(super) fn asks_for_no_function(need: Need, read: Need) -> bool {
    match need {
        Need::Public | Need::Session => true,
        Need::PublicView(_, inner) => need == read || asks_for_no_function(*inner, read),
        Need::Superuser => false,
        other => other == read,
    }
}
