//! The answers to dry runs, which reveal nothing but data that their callers could read before, or have sent
//! themselves.
//!
//! A dry run answers with the status of the deed, its headers and its errors. What the deed would open, such as the
//! right answers of a quiz that is handed in, is told by no dry run: an answer is made anew of what can be read beside
//! the unit of work, which nobody sees before it is kept.

use serde_json::{Map, Value as Json};

use crate::contract::changed_fields::is_same;
use crate::contract::context::Context;
use crate::contract::input::Input;
use crate::contract::look_up::look_up;
use crate::contract::registry::Registry;
use crate::contract::reply::{AllowedActions, Body, Bytes, Collection, Effect, Item, Reply, Value};
use crate::contract::search::Places;
use crate::model::schema::{Kind, Role};
use crate::primitives::error::{Error, Result};
use crate::primitives::path::DirectPath;

/// Returns the answer of a request with `input` that is given up, of which `reply` would be the answer if it were kept.
/// `before` reads what is there without it.
pub(crate) async fn told(
    before: &Context,
    registry: &Registry,
    input: &Input,
    reply: Reply,
) -> Result<Reply> {
    let body = match reply.body {
        Body::Entity(after) => {
            let path = DirectPath::new(after.prefix(), [after.id()]);
            let known = match look_up(registry, before, path, Vec::new()).await {
                Ok(Reply {
                    body: Body::Entity(known),
                    ..
                }) => Some(known),
                _ => None,
            };
            let sent = match reply.effect {
                Effect::Created(_) | Effect::Updated(_) => echo(input, &after)?,
                _ => Map::new(),
            };
            Body::Entity(told_item(&after, known, sent)?)
        }
        Body::Collection(after) => Body::Collection(Collection {
            items: known(before, registry, &after.items).await?,
            has_more: false,
            places: Places::default(),
            cursor: None,
            total: None,
            walk: None,
            ..after
        }),
        Body::Value(after) => {
            let nothing = Box::new(Map::new());
            Body::Value(Value::new(after.prefix, &after.name, nothing))
        }
        Body::Bytes(after) => Body::Bytes(Bytes {
            bytes: Vec::new(),
            ..after
        }),
        body @ (Body::Archive(_) | Body::Incomplete(_)) => body,
        _ => Body::Empty,
    };
    Ok(Reply {
        body,
        effect: reply.effect,
        allowed_actions: AllowedActions::default(),
        headers: reply.headers,
    })
}

/// Returns those of `items` that the caller can read, as they are there.
async fn known(before: &Context, registry: &Registry, items: &[Item]) -> Result<Vec<Item>> {
    let Some(first) = items.first() else {
        return Ok(Vec::new());
    };
    let ids: Vec<_> = items.iter().map(Item::id).collect();
    match registry.route(first.prefix()).and_then(|it| it.load) {
        Some(load) => load(before, &ids).await,
        None => Ok(Vec::new()),
    }
}

/// Returns the fields of `after` that are as they were sent: HTML as it would be stored.
fn echo(input: &Input, after: &Item) -> Result<Map<String, Json>> {
    let mut fields = object(after)?;
    fields.retain(|name, value| {
        let field = after.schema().field(name);
        let sent = input.fields.get(name);
        let (Some(field), Some(sent)) = (field, sent) else {
            return false;
        };
        matches!(field.kind, Kind::Html(_)) || is_same(input, value, sent)
    });
    Ok(fields)
}

/// Returns the item with the id of `after`, with the fields of `known`, if that is there, and with those in `sent`.
fn told_item(after: &Item, known: Option<Item>, sent: Map<String, Json>) -> Result<Item> {
    let mut fields = known.as_ref().map_or_else(|| Ok(Map::new()), object)?;
    fields.extend(sent);
    let title = after.schema().role(Role::Title);
    let title = title.and_then(|it| fields.get(it.name)?.as_str());
    let title = title.map(ToOwned::to_owned);
    Ok(after.retold(title, known, fields))
}

fn object(item: &Item) -> Result<Map<String, Json>> {
    match serde_json::to_value(item.whole()).map_err(Error::internal)? {
        Json::Object(fields) => Ok(fields),
        _ => Err(Error::internal("an entity is not an object")),
    }
}
