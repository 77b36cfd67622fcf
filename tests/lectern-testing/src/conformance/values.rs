//! An entity has the same values in every way to ask for it: by its id, in lists, batches, tables and feeds.

use std::collections::BTreeMap;

use entity_core::primitives::{plain_text, typed};
use entity_core::schema::{Field, Kind, Role};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use roxmltree::{Document, Node};
use serde_json::Value;

use super::formats;
use super::sample;
use super::suite::{Person, Suite, get_json};
use super::{Held, Verdict};

/// The most entities in one batch.
const BATCH: usize = 20;

/// The entities that somebody sees, by their ids.
type Shown = BTreeMap<String, Value>;

/// Checks that everybody reads the same values of an entity by its id, in the list, in a batch, as XML, as CSV and in feeds.
pub async fn values_are_the_same_in_every_way(suite: &Suite) -> Verdict {
    if !suite.can("read") || suite.rows.is_empty() {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    for who in &suite.people {
        let shown = suite.shown(who).await?;
        in_batches(suite, who, &shown).await?;
        media_types_are_right(suite, who).await?;
        one_by_one(suite, who, &shown).await?;
        if suite.can("list") {
            in_lists(suite, who, &shown).await?;
        }
    }
    Ok(Held::Passed)
}

/// Checks that `other` has the values of `entity`, which are those that `who` gets by the id.
fn same(
    suite: &Suite,
    who: &Person,
    way: &str,
    (id, entity): (&str, &Value),
    is_same: impl Fn(&Field, &Value) -> Result<(), String>,
) -> Result<(), String> {
    for field in suite.route.schema.fields {
        is_same(field, &entity[field.name]).map_err(|other| {
            format!(
                "{} reads `{}` of {id} as {} by its id but as {other} {way}: an entity must be the same in every way to \
                 ask for it, so read and compute its fields in one place for `read`, `read_many` and `list`",
                who.role, field.name, entity[field.name]
            )
        })?;
    }
    Ok(())
}

/// Compares `value`, which stands elsewhere, with the one that is read by the id. Where entities stand with others, long ones
/// may be left out.
fn equals(field: &Field, own: &Value, value: &Value) -> Result<(), String> {
    let is_long = matches!(field.kind, Kind::List | Kind::Object);
    let is_left_out = match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(items) => items.is_empty(),
        _ => false,
    };
    match own == value || is_long && is_left_out {
        true => Ok(()),
        false => Err(value.to_string()),
    }
}

/// Checks that each format of the list says what it is.
async fn media_types_are_right(suite: &Suite, who: &Person) -> Result<(), String> {
    for (format, media_type) in formats::MEDIA_TYPES {
        let path = format!("{}.{format}", suite.path());
        let answer = who.client.get(&path).await;
        let sent = answer.header(CONTENT_TYPE).unwrap_or_default();
        if answer.status == StatusCode::OK && sent.split(';').next() != Some(media_type) {
            return Err(format!(
                "{} gets {sent} from {path}, not {media_type}: programs know a format by its media type, so let `Format` \
                 have the right one",
                who.role
            ));
        }
    }
    Ok(())
}

async fn in_batches(suite: &Suite, who: &Person, shown: &Shown) -> Result<(), String> {
    let ids: Vec<_> = shown.keys().collect();
    for ids in ids.chunks(BATCH) {
        let paths: Vec<_> = ids.iter().map(|it| suite.path_of(it)).collect();
        let refs = sample::encoded(&paths.join(","));
        let path = format!("/direct/batch.json?_refs={refs}");
        let answers = get_json(&who.client, &path).await?;
        for (index, id) in ids.iter().enumerate() {
            let data = &answers[format!("ref{index}")]["data"];
            let compare = |field: &Field, own: &Value| equals(field, own, &data[field.name]);
            same(suite, who, "in a batch", (id, &shown[*id]), compare)?;
        }
    }
    Ok(())
}

/// Checks single entities in other formats.
async fn one_by_one(suite: &Suite, who: &Person, shown: &Shown) -> Result<(), String> {
    for (id, entity) in shown {
        let path = format!("{}.xml", suite.path_of(id));
        let answer = who.client.get(&path).await;
        let document = Document::parse(answer.text())
            .map_err(|error| format!("{path} answers no XML: {error}"))?;
        let root = document.root_element();
        let compare = |field: &Field, own: &Value| in_element(field, own, root);
        same(suite, who, "as XML", (id, entity), compare)?;
    }
    Ok(())
}

async fn in_lists(suite: &Suite, who: &Person, shown: &Shown) -> Result<(), String> {
    let Some(list) = suite.list(who, "").await? else {
        return Ok(());
    };
    for item in &list.items {
        let id = item["entityId"].as_str().unwrap_or_default();
        if let Some(entity) = shown.get(id) {
            let compare = |field: &Field, own: &Value| equals(field, own, &item[field.name]);
            same(suite, who, "in the list", (id, entity), compare)?;
        }
    }
    in_xml(suite, who, shown).await?;
    in_csv(suite, who, shown).await?;
    for format in ["atom", "rss"] {
        if suite.can("feed") {
            in_feed(suite, who, format, shown).await?;
        }
    }
    Ok(())
}

async fn in_xml(suite: &Suite, who: &Person, shown: &Shown) -> Result<(), String> {
    let path = format!("{}.xml?_limit=100", suite.path());
    let answer = who.client.get(&path).await;
    let document = Document::parse(answer.text())
        .map_err(|error| format!("{path} answers no XML: {error}"))?;
    for element in document.root_element().children() {
        let id = child(element, "entityId").and_then(|it| it.text());
        let id = id.unwrap_or_default();
        if let Some(entity) = shown.get(id) {
            let compare = |field: &Field, own: &Value| in_list_element(field, own, element);
            same(suite, who, "in the list as XML", (id, entity), compare)?;
        }
    }
    Ok(())
}

fn child<'a, 'b>(element: Node<'a, 'b>, name: &str) -> Option<Node<'a, 'b>> {
    element.children().find(|it| it.has_tag_name(name))
}

/// Compares the value of `field` in the XML `element` of an entity with the one in JSON.
fn in_element(field: &Field, own: &Value, element: Node<'_, '_>) -> Result<(), String> {
    let Some(element) = child(element, field.name) else {
        // Names that XML does not allow are written otherwise.
        return Ok(());
    };
    let text = element.text().unwrap_or_default();
    let is_same = match own {
        Value::Null => text.is_empty(),
        Value::Bool(own) => text == if *own { "true" } else { "false" },
        Value::Number(own) => text == own.to_string().as_str(),
        Value::String(own) => text == own || element.attribute("date") == Some(own.as_str()),
        Value::Array(items) => element.children().filter(Node::is_element).count() == items.len(),
        Value::Object(_) => true,
    };
    is_same.then_some(()).ok_or_else(|| format!("{text:?}"))
}

fn in_list_element(field: &Field, own: &Value, element: Node<'_, '_>) -> Result<(), String> {
    match field.kind {
        // They may be left out of lists.
        Kind::List | Kind::Object => Ok(()),
        _ => in_element(field, own, element),
    }
}

async fn in_csv(suite: &Suite, who: &Person, shown: &Shown) -> Result<(), String> {
    let mut fields = suite.route.schema.fields.iter();
    let path = format!("{}.csv?_limit=100", suite.path());
    let answer = who.client.get(&path).await;
    if fields.any(|it| it.pivot.is_some()) || answer.status != StatusCode::OK {
        return Ok(());
    }
    let mut lines = formats::cells(answer.text()).into_iter();
    let names = lines.next().unwrap_or_default();
    for line in lines {
        let cells: BTreeMap<&str, &str> = names
            .iter()
            .map(String::as_str)
            .zip(line.iter().map(String::as_str))
            .collect();
        let reference = cells.get("entityReference").copied().unwrap_or_default();
        let is_this = |it: &&String| format!("/direct{reference}") == suite.path_of(it);
        if let Some(id) = shown.keys().find(is_this) {
            let compare = |field: &Field, own: &Value| in_cell(field, own, cells.get(field.name));
            same(suite, who, "in the list as CSV", (id, &shown[id]), compare)?;
        }
    }
    Ok(())
}

fn in_cell(field: &Field, own: &Value, cell: Option<&&str>) -> Result<(), String> {
    let Some(cell) = cell else {
        return Ok(());
    };
    let is_same = match own {
        Value::Null => cell.is_empty(),
        // What a program would take for a formula has a mark in front.
        Value::String(text) => {
            [text.as_str(), &typed::to_typed(text)].contains(cell)
                || cell.strip_prefix('\'') == Some(text)
        }
        other => serde_json::from_str(cell).is_ok_and(|it: Value| it == *other),
    };
    let is_left_out = matches!(field.kind, Kind::List | Kind::Object);
    match is_same || is_left_out {
        true => Ok(()),
        false => Err(format!("{cell:?}")),
    }
}

async fn in_feed(suite: &Suite, who: &Person, format: &str, shown: &Shown) -> Result<(), String> {
    let path = format!("{}.{format}?_limit=100", suite.path());
    let answer = who.client.get(&path).await;
    if answer.status != StatusCode::OK {
        return Ok(());
    }
    let schema = suite.route.schema;
    for entry in formats::entries(answer.text())? {
        let is_this = |it: &&String| entry.page.ends_with(&format!("{}.html", suite.path_of(it)));
        let Some(id) = shown.keys().find(is_this) else {
            continue;
        };
        let told = |field: &Field| match field.role {
            Some(Role::Title) => Some(&entry.title),
            _ => Some(&entry.content).filter(|it| !it.is_empty()),
        };
        for field in [schema.role(Role::Title), schema.role(Role::Content)] {
            let (Some(field), Some(own)) =
                (field, field.and_then(|it| shown[id][it.name].as_str()))
            else {
                continue;
            };
            let own = words(own);
            if let Some(told) = told(field).filter(|it| !tells(it, &own)) {
                return Err(format!(
                    "{} reads `{}` of {id} as {own:?} by its id but as {told:?} in {path}: let `feed` make the entry of the \
                     entity as it is",
                    who.role, field.name
                ));
            }
        }
    }
    Ok(())
}

/// Returns the words of a text, which may be HTML.
fn words(text: &str) -> String {
    match text.contains('<') && text.contains('>') {
        true => plain_text(text),
        false => text.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

/// Returns whether an entry that says `told` has the text `own`, which it may shorten or put among others.
fn tells(told: &str, own: &str) -> bool {
    let plain = plain_text(told);
    let beginning: String = own.chars().take(40).collect();
    told.contains(own) || plain.contains(own) || plain.contains(&beginning)
}
