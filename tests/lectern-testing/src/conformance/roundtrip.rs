//! Every field comes back as it was sent, in JSON, in XML and in forms, and what was read can be sent back.

use std::fmt::Write as _;

use entity_core::schema::{Field, Role};
use http::{Method, StatusCode};
use serde_json::{Map, Value};

use super::making::id_of;
use super::sample;
use super::suite::{Suite, get_json};
use super::{Held, Row, Verdict};
use crate::client::{FORM, JSON, XML};
use crate::role::SITE;

/// Checks each field that clients may write, in each format, and null where the field takes it.
pub async fn fields_come_back_as_they_were_sent(suite: &Suite) -> Verdict {
    if !(suite.can("read") && suite.can("create")) {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    for field in suite.fields() {
        field_comes_back(suite, field).await?;
    }
    if suite.can("update") {
        for row in &suite.rows {
            document_can_be_sent_back(suite, row).await?;
        }
    }
    Ok(Held::Passed)
}

/// Checks that values of `field` come back from creations and from changes, in each format.
async fn field_comes_back(suite: &Suite, field: &Field) -> Result<(), String> {
    let mut values = match suite.has_make() {
        true => Vec::new(),
        false => suite.variants(field),
    };
    if !suite.is_given(field) {
        values.extend(sample::awkward(field));
    }
    // A rule of the type may refuse some of the values, but it must refuse them in each format.
    let (values, row) = creations_come_back(suite, field, &values, JSON, false).await?;
    let Some(row) = row else {
        return Ok(());
    };
    let is_changed = suite.can("update") && field.may_be_written(false);
    if is_changed {
        let mut values = values.clone();
        let turn = values.len().min(1);
        values.rotate_left(turn);
        if field.is_nullable && !field.is_required && field.default.is_none() {
            values.push(Value::Null);
        }
        changes_come_back(suite, &row, field, &values, JSON).await?;
    }
    let is_list = |it: &Value| it.is_array() || it.is_object();
    // How lists are written differs from format to format.
    if row.sent.values().any(|it| is_list(it) && !is_empty(it)) {
        return Ok(());
    }
    for format in [XML, FORM] {
        let (_, row) = creations_come_back(suite, field, &values, format, true).await?;
        if let (true, Some(row)) = (is_changed, row) {
            let values: Vec<_> = values.iter().rev().cloned().collect();
            changes_come_back(suite, &row, field, &values, format).await?;
        }
    }
    Ok(())
}

/// Creates an entity with each of `values` for `field`. Returns the values that were taken, and the first entity. If
/// `is_strict`, none of them may be refused.
async fn creations_come_back(
    suite: &Suite,
    field: &Field,
    values: &[Value],
    format: &str,
    is_strict: bool,
) -> Result<(Vec<Value>, Option<Row>), String> {
    let (mut taken, mut first) = (Vec::new(), None);
    for value in values {
        let mut fields = suite.fresh(SITE).await?;
        let sent = suite.unused(field, value);
        fields.insert(field.name.to_owned(), sent.clone());
        let body = written(suite, &fields, format);
        let path = format!("{}.json", suite.path());
        let answer = suite.send(Method::POST, &path, format, body).await;
        match (answer.status, id_of(&answer)) {
            (StatusCode::CREATED, Some(id)) => {
                compare(suite, &id, field, &sent, format).await?;
                taken.push(value.clone());
                first = first.or_else(|| suite.row(&answer, SITE, fields));
            }
            // A rule about several entities: those before have the value.
            (StatusCode::CONFLICT, _) => {}
            (StatusCode::BAD_REQUEST, _) if !is_strict => {}
            (status, _) => {
                return Err(format!(
                    "a creation with {value} for `{}` in {format} is answered with {status}, although the schema, and \
                     JSON if this is another format, allow it: {}",
                    field.name,
                    answer.text()
                ));
            }
        }
    }
    Ok((taken, first))
}

/// Changes `field` of the entity `row` to each of `values`.
async fn changes_come_back(
    suite: &Suite,
    row: &Row,
    field: &Field,
    values: &[Value],
    format: &str,
) -> Result<(), String> {
    for value in values {
        let value = &suite.unused(field, value);
        let change = Map::from_iter([(field.name.to_owned(), value.clone())]);
        let body = written(suite, &change, format);
        let path = format!("{}.json", suite.path_of(&row.id));
        let answer = suite.send(Method::PUT, &path, format, body).await;
        // A rule about several entities may refuse the value, and one about others of its fields that there is none.
        let is_allowed = match answer.status {
            StatusCode::CONFLICT => true,
            StatusCode::BAD_REQUEST => value.is_null(),
            _ => false,
        };
        if is_allowed {
            continue;
        }
        if !answer.status.is_success() {
            return Err(format!(
                "a change of `{}` to {value} in {format} is answered with {}, although a creation may have it: {}",
                field.name,
                answer.status,
                answer.text()
            ));
        }
        compare(suite, &row.id, field, value, format).await?;
    }
    Ok(())
}

fn is_empty(value: &Value) -> bool {
    *value == Value::Array(Vec::new()) || *value == Value::Object(Map::new())
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
            let pairs = scalars.map(|(name, value)| format!("{name}={}", sample::encoded(&value)));
            pairs.collect::<Vec<_>>().join("&")
        }
        _ => Value::Object(fields.clone()).to_string(),
    }
}
