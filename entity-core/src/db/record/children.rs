//! Children: rows of another table that are a list in their parent and are written with it.
//!
//! `#[entity(children)]` on a field generates the calls of these functions.

use std::collections::{HashMap, HashSet};

use sea_orm::{ConnectionTrait as _, Value};
use serde_json::{Map, Value as Json};

use super::constants::{Constants, Declared as _};
use super::read::{loaded, loading};
use crate::contract::context::Context;
use crate::contract::input::{Fields, Input};
use crate::db::record::definition::{Record, THIS};
use crate::model::schema::Writable;
use crate::primitives::error::{Error, FieldError, Result};

/// The column of the parent's table with the size of its children in bytes, so that a list knows it before they are read.
pub const SIZE: &str = "children_size";

/// The maximum size of the children in one field of an entity, in bytes.
const MOST_BYTES: i64 = 1024 * 1024;

/// The size that is counted for a child besides its values, in bytes.
const OVERHEAD: i64 = 32;

/// The maximum number of values that one statement binds: SQLite takes 32,766.
const MOST_VALUES: usize = 30_000;

/// Takes the children in the field `name` out of `fields`: `None` if they were not sent, and none if null was sent. A
/// child with the id of one of the `current` children replaces that child; the fields that it lacks become empty.
///
/// # Errors
/// Returns an error that names the child and its field if a value is refused, if an id is unknown or sent twice, or if
/// there are more than `most` children.
pub fn receive<C: Record>(
    cx: &Context,
    fields: &mut Fields,
    name: &'static str,
    most: usize,
    current: Option<&Vec<C>>,
) -> Result<Option<Vec<C>>> {
    let sent = match fields.0.remove(name) {
        None => return Ok(None),
        Some(Json::Null) => Vec::new(),
        Some(Json::Array(items)) => items,
        Some(_) => return Err(Error::field(name, "must be a list")),
    };
    if sent.len() > most {
        return Err(Error::field(
            name,
            format!("must have at most {most} entries"),
        ));
    }
    let mut by_id: HashMap<&str, &C> = HashMap::new();
    by_id.extend(current.into_iter().flatten().map(|it| (it.key(), it)));
    let (mut children, mut errors) = (Vec::with_capacity(sent.len()), Vec::new());
    for (index, item) in sent.into_iter().enumerate() {
        let received = receive_one(cx, item, current.is_some(), &mut by_id);
        match received {
            Ok(child) => children.push(child),
            Err(error) => errors.extend(in_item(&error, name, index)),
        }
    }
    if !errors.is_empty() {
        return Err(Error::fields(errors));
    }
    if size(&children) > MOST_BYTES {
        return Err(Error::field(name, "must have at most 1 MiB in all"));
    }
    Ok(Some(children))
}

/// Makes a child of what was sent: a new one, or a changed one of those in `current`, which it leaves.
fn receive_one<C: Record>(
    cx: &Context,
    item: Json,
    has_current: bool,
    current: &mut HashMap<&str, &C>,
) -> Result<C> {
    let Json::Object(item) = item else {
        return Err(Error::bad_request("must be an object"));
    };
    let id = C::schema()
        .role(crate::model::schema::Role::Id)
        .map_or("", |it| it.name);
    let sent_id = item.get(id).and_then(Json::as_str).unwrap_or_default();
    let former = current.remove(sent_id);
    if has_current && former.is_none() && !sent_id.is_empty() {
        let message = "is no id of these entries, or is sent twice: leave it out for a new entry";
        return Err(Error::field(id, message));
    }
    let input = Input {
        fields: item,
        ..Input::default()
    };
    let fields = input.check(C::schema(), true)?;
    let Some(former) = former else {
        return C::make(cx, fields);
    };
    let mut changed = former.clone();
    changed.change(cx, whole::<C>(fields.0))?;
    Ok(changed)
}

/// Returns `fields` with null for each field that may be changed and was not sent.
fn whole<C: Record>(mut fields: Map<String, Json>) -> Fields {
    for field in C::schema().fields {
        match field.writable {
            Writable::Always => {
                fields.entry(field.name).or_insert(Json::Null);
            }
            Writable::OnCreate | Writable::Never => {
                fields.remove(field.name);
            }
        }
    }
    Fields(fields)
}

/// Returns the errors about the child at `index` of the field `name`.
fn in_item(error: &Error, name: &str, index: usize) -> Vec<FieldError> {
    let item = format!("{name}[{index}]");
    if error.field_errors().is_empty() {
        return vec![FieldError {
            name: item,
            message: error.message().to_owned(),
        }];
    }
    let of_field = |it: &FieldError| FieldError {
        name: format!("{item}.{}", it.name),
        message: it.message.clone(),
    };
    error.field_errors().iter().map(of_field).collect()
}

/// Returns the size of `children` in bytes, with all that belongs to them.
pub fn size<C: Record>(children: &[C]) -> i64 {
    let of_value = |value: &Value| match value {
        Value::String(Some(text)) => i64::try_from(text.len()).unwrap_or(i64::MAX),
        _ => 8,
    };
    let of_child = |child: &C| {
        let values = child.values();
        let values = values.iter().map(of_value).fold(0, i64::saturating_add);
        values
            .saturating_add(child.children_size())
            .saturating_add(OVERHEAD)
    };
    children.iter().map(of_child).fold(0, i64::saturating_add)
}

/// Lets `children` belong to the parent with this key, in the order in which they stand.
pub fn arrange<C: Record>(parent: &str, children: &mut [C]) {
    for (place, child) in (1..).zip(children) {
        child.set_parent(parent);
        child.set_position(place);
        child.arrange_children();
    }
}

/// Reads the children of `records`, with one statement for all, into the field that `field` returns.
pub async fn read<T: Record, C: Record>(
    cx: &Context,
    records: &mut [T],
    field: impl Fn(&mut T) -> &mut Vec<C>,
) -> Result<()> {
    let Some(parent) = C::PARENT else {
        return Err(Error::internal("the children have no field with `parent`"));
    };
    let keys: Vec<&str> = records.iter().map(Record::key).collect();
    let mut sql = loading(C::CONSTANTS, cx)?;
    sql.push(" WHERE ").column(THIS, parent.column);
    sql.bind_list(&keys)?.push(" ORDER BY ");
    let place = C::POSITION.unwrap_or(C::KEY);
    sql.column(THIS, parent.column)
        .push(", ")
        .column(THIS, place);
    let found: Vec<C> = loaded(cx, sql).await?;
    let mut by_parent: HashMap<String, Vec<C>> = HashMap::new();
    for child in found {
        let parent = child.parent().unwrap_or_default().to_owned();
        by_parent.entry(parent).or_default().push(child);
    }
    for record in records {
        if let Some(children) = by_parent.remove(record.key()) {
            *field(record) = children;
        }
    }
    Ok(())
}

/// Stores `children` in the place of the `former` ones: deletes the rows that are gone, and writes those that are new or
/// differ.
pub async fn store<C: Record>(cx: &Context, children: &[C], former: &[C]) -> Result<()> {
    let kept: HashSet<&str> = children.iter().map(Record::key).collect();
    let gone = former.iter().map(Record::key);
    let gone: Vec<&str> = gone.filter(|it| !kept.contains(it)).collect();
    if !gone.is_empty() {
        let db = cx.db()?;
        let mut sql = db.sql("DELETE FROM \"");
        sql.push(C::TABLE)
            .push("\" WHERE \"")
            .push(C::KEY)
            .push("\"")
            .bind_list(&gone)?;
        db.execute_raw(sql.into_statement()).await?;
    }
    let by_key: HashMap<&str, &C> = former.iter().map(|it| (it.key(), it)).collect();
    let mut rows = Vec::new();
    for child in children {
        let row = super::row(child);
        let before = by_key.get(child.key());
        if before.is_none_or(|it| super::row(*it) != row) {
            rows.push(row);
        }
    }
    write(C::CONSTANTS, cx, rows).await?;
    for child in children {
        let before = by_key.get(child.key()).copied();
        child.store_children(cx, before).await?;
    }
    Ok(())
}

/// Writes `rows`, each in the place of the row with the same key, if there is one.
async fn write(of: &Constants, cx: &Context, rows: Vec<Vec<(String, Value)>>) -> Result<()> {
    let width = rows.first().map_or(1, Vec::len).max(1);
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let part: Vec<_> = rows
            .by_ref()
            .take(MOST_VALUES.div_euclid(width).max(1))
            .collect();
        let db = cx.db()?;
        let mut sql = db.sql("INSERT INTO \"");
        sql.push(of.table).push("\"");
        let columns: Vec<String> = part
            .first()
            .into_iter()
            .flatten()
            .map(|it| it.0.clone())
            .collect();
        let mut before = " (\"";
        for column in &columns {
            sql.push(before).push(column).push("\"");
            before = ", \"";
        }
        let mut before = ") VALUES (";
        for row in part {
            for (_, value) in row {
                sql.push(before).bind(value);
                before = ", ";
            }
            before = "), (";
        }
        sql.push(") ON CONFLICT (\"")
            .push(of.key)
            .push("\") DO UPDATE SET \"");
        let mut before = "";
        for column in &columns {
            sql.push(before).push(column).push("\" = excluded.\"");
            sql.push(column).push("\"");
            before = ", \"";
        }
        let done = db.execute_raw(sql.into_statement()).await;
        done.map_err(|it| super::write::taken(of, it))?;
    }
    Ok(())
}
