//! Every field comes back as it was sent, in JSON, in XML and in forms, and what was read can be sent back.

use std::fmt::Write as _;

use entity_core::schema::{Field, Kind, Role};
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::sample;
use super::suite::{Row, Suite, get_json};
use super::{Held, Verdict};
use crate::client::{FORM, JSON, XML};
use crate::role::SITE;

/// Checks each field that clients may write, in each format, and null where the field takes it.
pub async fn fields_come_back_as_they_were_sent(suite: &Suite) -> Verdict {
    if !(suite.can("read") && suite.can("create")) {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    for format in [JSON, XML, FORM] {
        for field in suite.fields() {
            if format == JSON || !matches!(field.kind, Kind::List | Kind::Object) {
                field_comes_back(suite, field, format).await?;
            }
        }
    }
    if suite.can("update") {
        for row in suite.rows.iter().rev().take(4) {
            document_can_be_sent_back(suite, row).await?;
        }
    }
    Ok(Held::Passed)
}

/// Checks that values of `field` come back from a creation, from a change, and as null.
async fn field_comes_back(suite: &Suite, field: &Field, format: &str) -> Result<(), String> {
    let mut values = suite.variants(field);
    if !suite.is_given(field) {
        values.extend(sample::awkward(field));
    }
    let mut first = None;
    for value in &values {
        let mut fields = suite.plain(SITE, 700);
        fields.insert(field.name.to_owned(), value.clone());
        let body = written(suite, &fields, format);
        let path = format!("{}.json", suite.path());
        let answer = suite.send(Method::POST, &path, format, body).await;
        match (answer.status, answer.header("EntityId")) {
            (StatusCode::CREATED, Some(id)) => {
                compare(suite, id, field, value, format).await?;
                first.get_or_insert(Row {
                    id: id.to_owned(),
                    sent: fields,
                });
            }
            // A rule of the type may refuse some of the values.
            (StatusCode::BAD_REQUEST, _) => {}
            (status, _) => {
                return Err(format!(
                    "a creation with {value} for `{}` as {format} is answered with {status}: {}",
                    field.name,
                    answer.text()
                ));
            }
        }
    }
    match first {
        Some(row) if suite.can("update") && field.may_be_written(false) => {
            let turn = values.len().min(1);
            values.rotate_left(turn);
            if field.is_nullable && !field.is_required && field.default.is_none() && format == JSON
            {
                values.push(Value::Null);
            }
            changes_come_back(suite, &row, field, &values, format).await
        }
        _ => Ok(()),
    }
}

async fn changes_come_back(
    suite: &Suite,
    row: &Row,
    field: &Field,
    values: &[Value],
    format: &str,
) -> Result<(), String> {
    for value in values {
        let change = Map::from_iter([(field.name.to_owned(), value.clone())]);
        let body = written(suite, &change, format);
        let path = format!("{}.json", suite.path_of(&row.id));
        let answer = suite.send(Method::PUT, &path, format, body).await;
        match answer.status {
            status if status.is_success() => {
                compare(suite, &row.id, field, value, format).await?;
            }
            StatusCode::BAD_REQUEST => {}
            status => {
                return Err(format!(
                    "a change of `{}` to {value} as {format} is answered with {status}: {}",
                    field.name,
                    answer.text()
                ));
            }
        }
    }
    Ok(())
}

async fn compare(
    suite: &Suite,
    id: &str,
    field: &Field,
    sent: &Value,
    format: &str,
) -> Result<(), String> {
    let path = format!("{}.json", suite.path_of(id));
    let entity = get_json(suite.superuser(), &path).await?;
    let shown = &entity[field.name];
    match sample::is_same(field, sent, shown) {
        true => Ok(()),
        false => Err(format!(
            "`{}` was sent as {sent} in {format} and is shown as {shown}: store it as it was sent, null included, or \
             declare it `read_only`",
            field.name
        )),
    }
}

/// Checks that the document of `row` can be sent back as it was read, and changes nothing.
async fn document_can_be_sent_back(suite: &Suite, row: &Row) -> Result<(), String> {
    let path = suite.path_of(&row.id);
    let before = get_json(suite.superuser(), &format!("{path}.json")).await?;
    for (extension, format) in [("json", JSON), ("xml", XML)] {
        let read = suite.superuser().get(&format!("{path}.{extension}")).await;
        let document = read.text().to_owned();
        let answer = suite
            .send(Method::PUT, &format!("{path}.json"), format, document)
            .await;
        if !answer.status.is_success() {
            return Err(format!(
                "{path}.{extension} can't be sent back as it was read: {} {}",
                answer.status,
                answer.text()
            ));
        }
        let after = get_json(suite.superuser(), &format!("{path}.json")).await?;
        let fields = suite.route.schema.fields.iter();
        let changing = [Some(Role::Updated), Some(Role::Version)];
        let mut fields = fields.filter(|it| !changing.contains(&it.role));
        if let Some(field) = fields.find(|it| before[it.name] != after[it.name]) {
            return Err(format!(
                "`{}` was {} and is {} after {path}.{extension} was sent back as it was read: what `Entity` shows must \
                 be what `update` takes",
                field.name, before[field.name], after[field.name]
            ));
        }
    }
    Ok(())
}

/// Writes `fields` as a body of this media type. Lists without content are left out where formats differ about them.
fn written(suite: &Suite, fields: &Map<String, Value>, format: &str) -> String {
    let scalars = fields.iter().filter_map(|(name, value)| match value {
        Value::String(text) => Some((name, text.clone())),
        Value::Null => Some((name, String::new())),
        Value::Array(_) | Value::Object(_) => None,
        other => Some((name, other.to_string())),
    });
    match format {
        XML => {
            let prefix = suite.route.prefix;
            let fields = scalars.fold(String::new(), |mut text, (name, value)| {
                let value = value.replace('&', "&amp;").replace('<', "&lt;");
                let _ = write!(text, "<{name}>{value}</{name}>");
                text
            });
            format!("<{prefix}>{fields}</{prefix}>")
        }
        FORM => {
            let pairs = scalars
                .map(|(name, value)| format!("{name}={}", entity_core::encode_segment(&value)));
            pairs.collect::<Vec<_>>().join("&")
        }
        _ => Value::Object(fields.clone()).to_string(),
    }
}
