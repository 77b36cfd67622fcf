//! Actions that write: nobody gets a failure from them, a refusal changes nothing, what is changed gets another version, and
//! not everybody changes what is not theirs.

use entity_core::engine::ActionRoute;
use entity_core::schema::Role as FieldRole;
use entity_core::{Need, Verb};
use http::Method;
use serde_json::json;

use super::permissions::{State, asks_for_no_function};
use super::suite::{Person, Suite};
use super::versions::change;
use super::{Held, Row, Verdict};
use crate::client::JSON;
use crate::role::{Role, SITE};

/// Checks the actions that write and whose arguments can be known, on an entity and on the collection, for each role.
pub async fn writing_actions_ask_who_may(suite: &Suite) -> Verdict {
    let is_plain = |it: &&ActionRoute| it.verb != Verb::Get && !it.is_receiving;
    let writing: Vec<_> = suite.route.actions.iter().filter(is_plain).collect();
    if writing.is_empty() || !suite.can("read") || !suite.can("create") {
        return Ok(Held::Skipped(
            "the type has no actions that write, or no entities that can be made",
        ));
    }
    for action in writing {
        // Those who may least come first, because an action may leave nothing for those behind.
        for who in suite.people.iter().rev() {
            let row = suite.make(SITE).await?;
            let asked = suite.asked(action, std::slice::from_ref(&row));
            if let Some(asked) = asked.first() {
                run(suite, who, &row, (action, &asked.path)).await?;
            }
        }
    }
    Ok(Held::Passed)
}

async fn run(
    suite: &Suite,
    who: &Person,
    row: &Row,
    (action, path): (&ActionRoute, &str),
) -> Result<(), String> {
    let before = suite.state(&row.id).await;
    let method = Method::from_bytes(action.verb.name().as_bytes()).unwrap_or_default();
    let answer = who.client.send(method, path, JSON, "{}".into()).await;
    let (role, status) = (who.role, answer.status);
    if status.is_server_error() {
        return Err(format!(
            "{role} gets {status} from {} {path} with an empty body: an action answers whatever it is asked, and refuses by \
             `Error::field` a body that lacks something",
            action.verb.name()
        ));
    }
    let after = suite.state(&row.id).await;
    if !status.is_success() {
        return match before == after {
            true => Ok(()),
            false => Err(format!(
                "{role} is refused the action {path} with {status}, but the entity is another one thereafter: write in the \
                 unit of work only, which is undone when it fails"
            )),
        };
    }
    let Some(before) = before.filter(|it| differs(suite, it, after.as_ref())) else {
        return Ok(());
    };
    has_another_version(&before, after.as_ref(), path)?;
    let need = action.need.unwrap_or(Need::Public);
    let read = suite.route.access.map_or(Need::Public, |it| it.read);
    let is_careless = asks_for_no_function(need, read) && role != Role::Superuser;
    if !is_careless || suite.is_of(who, &before.entity) || may_change(suite, who).await? {
        return Ok(());
    }
    Err(format!(
        "{role} changes an entity of somebody else by the action {path}, but may not change it otherwise, and the action asks for \
         {need:?}, which all meet who read it: let `need` demand a function of its own, such as \
         Need::Site(\"{}.{}\"), and grant it to those who may",
        suite.route.prefix, action.name
    ))
}

/// Returns whether `who` may change entities of others.
async fn may_change(suite: &Suite, who: &Person) -> Result<bool, String> {
    if !suite.can("update") {
        return Ok(false);
    }
    let row = suite.make(SITE).await?;
    let change = change(suite, &row.sent).unwrap_or_else(|| json!({}));
    let path = format!("{}.json", suite.path_of(&row.id));
    Ok(who.client.put(&path, &change).await.status.is_success())
}

/// Returns whether the superuser reads another value of a field, besides those that tell of the change itself.
fn differs(suite: &Suite, before: &State, after: Option<&State>) -> bool {
    let Some(after) = after else {
        return true;
    };
    let telling = [Some(FieldRole::Updated), Some(FieldRole::Version)];
    let fields = suite.route.schema.fields.iter();
    let mut fields = fields.filter(|it| !telling.contains(&it.role));
    fields.any(|it| before.entity[it.name] != after.entity[it.name])
}

/// Checks that the entity, which the action at `path` changed, has another version.
fn has_another_version(before: &State, after: Option<&State>, path: &str) -> Result<(), String> {
    match after.is_some_and(|it| it.version == before.version) {
        false => Ok(()),
        true => Err(format!(
            "the action {path} changes the entity and leaves its version as it was: write it by `db::replace`, which counts \
             changes, or let `Entity::version` depend on everything that clients see"
        )),
    }
}
