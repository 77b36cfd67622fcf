//! Hidden entities show nowhere: not in refusals, versions, filters, orders, totals or expanded references.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use entity_core::encode_segment;
use entity_core::engine::{ActionRoute, EXPANDED};
use entity_core::schema::Field;
use http::header::{ETAG, IF_MATCH, IF_NONE_MATCH, LAST_MODIFIED};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::agreement::counted;
use super::sample;
use super::suite::{Person, Suite, get_json, is_refusal};
use super::versions::change;
use super::{Held, Row, Verdict};
use crate::client::JSON;

/// The most hidden entities that somebody asks for.
const HIDDEN: usize = 6;
/// The most values that a list is filtered by.
const VALUES: usize = 3;

/// Checks that nothing leaks of an entity to somebody who does not see it.
pub async fn hidden_entities_leave_no_trace(suite: &Suite) -> Verdict {
    if !suite.can("read") || suite.rows.is_empty() {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    for who in &suite.people {
        let seen = suite.seen(who).await?;
        let hidden = suite.rows.iter().filter(|it| !seen.contains(&it.id));
        for row in hidden.take(HIDDEN) {
            refusal_tells_nothing(suite, who, &row.id).await?;
            actions_tell_nothing(suite, who, &row.id).await?;
            list_keeps_its_version(suite, who, row).await?;
        }
        if suite.can("list") {
            lists_tell_nothing(suite, who).await?;
        }
        references_tell_nothing(suite, who, &seen).await?;
    }
    Ok(Held::Passed)
}

/// Checks what `who` is told of the hidden entity `id`, in every way to ask for it.
async fn refusal_tells_nothing(suite: &Suite, who: &Person, id: &str) -> Result<(), String> {
    let path = format!("{}.json", suite.path_of(id));
    let shown = suite.superuser().get(&path).await;
    let tag = shown.header(ETAG).unwrap_or("\"x\"").to_owned();
    let entity = shown.json();
    let title = suite.route.schema.role(entity_core::schema::Role::Title);
    let title = title.and_then(|it| entity[it.name].as_str());
    let all: Vec<_> = suite.references().map(|it| it.name).collect();
    let known = who.client.clone().with_header(IF_NONE_MATCH, &tag);
    let asked = [
        (&who.client, String::new()),
        (&who.client, format!("?_expand={}", all.join(","))),
        (&who.client, "?_fields=entityId".to_owned()),
        (&known, String::new()),
    ];
    for (client, query) in asked {
        let path = match (client, query.ends_with('=')) {
            (_, true) => continue,
            _ => format!("{path}{query}"),
        };
        let answer = client.get(&path).await;
        let text = String::from_utf8_lossy(&answer.body);
        let is_told = title.is_some_and(|it| !it.is_empty() && text.contains(it));
        if !is_refusal(answer.status) || answer.header(ETAG).is_some() || is_told {
            return Err(format!(
                "{} does not see {id}, but gets {} from {path} with {:?}: a refusal must not depend on the query or \
                 the version, and tell nothing of the entity",
                who.role, answer.status, answer.headers
            ));
        }
    }
    if suite.can("update") {
        let stale = who.client.clone().with_header(IF_MATCH, "\"stale\"");
        let plain = who.client.put(&path, &json!({})).await.status;
        let answer = stale.put(&path, &json!({})).await.status;
        if answer != plain || !is_refusal(answer) {
            return Err(format!(
                "{} does not see {id}, but a change of another version is answered with {answer}, and one of any with \
                 {plain}: permission must be asked before the version is",
                who.role
            ));
        }
    }
    Ok(())
}

/// Checks that `who` can't run an action on the hidden entity `id`.
async fn actions_tell_nothing(suite: &Suite, who: &Person, id: &str) -> Result<(), String> {
    let is_plain = |it: &&ActionRoute| it.is_on_entity && *it.segments().start() == 0;
    for action in suite.route.actions.iter().filter(is_plain) {
        let path = format!("{}/{}", suite.path_of(id), action.name);
        let method = Method::from_bytes(action.verb.name().as_bytes()).unwrap_or_default();
        let answer = who.client.send(method, &path, JSON, "{}".into()).await;
        if !is_refusal(answer.status) {
            return Err(format!(
                "{} does not see {id}, but the action {path} answers {}: let `need` demand no less than reading does",
                who.role, answer.status
            ));
        }
    }
    Ok(())
}

/// Checks that a change of an entity that `who` does not see leaves the version of his list as it is.
async fn list_keeps_its_version(suite: &Suite, who: &Person, row: &Row) -> Result<(), String> {
    let Some(change) = change(suite, &row.sent).filter(|_| suite.can("update")) else {
        return Ok(());
    };
    let path = format!("{}.json?_count=exact", suite.path());
    let before = who.client.get(&path).await;
    suite.app.advance(TimeDelta::seconds(1));
    let own = format!("{}.json", suite.path_of(&row.id));
    let changed = suite.superuser().put(&own, &change).await.status;
    let after = who.client.get(&path).await;
    let is_same = before.header(ETAG) == after.header(ETAG)
        && before.header(LAST_MODIFIED) == after.header(LAST_MODIFIED);
    match is_same || !changed.is_success() {
        true => Ok(()),
        false => Err(format!(
            "{} does not see {}, but gets another version of the list after a change of it: the version of a list \
             must depend on what the caller sees only",
            who.role, row.id
        )),
    }
}

/// Checks that filters and orders find no more than the list shows.
async fn lists_tell_nothing(suite: &Suite, who: &Person) -> Result<(), String> {
    let Some(all) = suite.list(who, "").await? else {
        return Ok(());
    };
    let whole = suite.list(suite.first(), "").await?.unwrap_or_default();
    let shown = all.ids();
    let is_shown = |it: &&Value| it["entityId"].as_str().is_some_and(|it| shown.contains(it));
    let (others, hidden): (Vec<_>, Vec<_>) = whole.items.iter().partition(is_shown);
    for field in suite.columns() {
        let order = format!("&_order={}", field.name);
        let ordered = suite.list(who, &order).await?.unwrap_or_default();
        if ordered.ids() != shown {
            return Err(format!(
                "{} sees other entities in the list in the order of `{}`: an order must not change who sees what",
                who.role, field.name
            ));
        }
        let mut values = Vec::new();
        for value in hidden
            .iter()
            .chain(&others)
            .filter_map(|it| scalar(&it[field.name]))
        {
            if values.len() < VALUES && !values.contains(&value) {
                values.push(value);
            }
        }
        for value in values {
            let query = format!("&{}={}", field.name, sample::encoded(&value));
            let Some(found) = suite.list(who, &query).await? else {
                continue;
            };
            counted(who, &format!("the list for `{query}`"), &found)?;
            // A site that is open to the public is listed only for those who name it.
            for id in found.ids().difference(&shown) {
                if !suite.sees(who, id).await? {
                    return Err(format!(
                        "{} finds {id} by the filter `{query}`, but does not see it: apply the rule about who sees an \
                         entity whatever the search asks for",
                        who.role
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Checks that an expanded reference shows only what `who` gets by itself.
async fn references_tell_nothing(
    suite: &Suite,
    who: &Person,
    seen: &BTreeSet<String>,
) -> Result<(), String> {
    for field in suite.references() {
        let target = field.references.unwrap_or_default();
        for id in seen {
            let path = format!("{}.json?_expand={}", suite.path_of(id), field.name);
            let entity = get_json(&who.client, &path).await?;
            let (Some(other), Value::Object(expanded)) = (
                entity[field.name].as_str(),
                &entity[format!("{}{EXPANDED}", field.name)],
            ) else {
                continue;
            };
            let own = format!("/direct/{target}/{}.json", encode_segment(other));
            let answer = who.client.send(Method::GET, &own, JSON, "".into()).await;
            if answer.status != StatusCode::OK && !expanded.is_empty() {
                return Err(format!(
                    "{} gets {} from {own}, but sees it at {path}: `read_many` must answer what `read` does",
                    who.role, answer.status
                ));
            }
        }
    }
    Ok(())
}

/// Returns a value as a query has it, if it is one.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

impl Suite {
    /// Returns the fields that refer to other entities, at most as many as a request may expand.
    pub(super) fn references(&self) -> impl Iterator<Item = &'static Field> {
        let fields = self.route.schema.fields.iter();
        fields.filter(|it| it.references.is_some()).take(5)
    }
}
