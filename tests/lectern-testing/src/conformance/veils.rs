//! Values that a rule hides from somebody show nowhere: neither in a format nor in a view nor in an action.

use std::collections::BTreeMap;

use entity_core::primitives::plain_text;
use entity_core::schema::Field;
use http::StatusCode;
use serde_json::Value;

use super::hidden;
use super::sample::{self, WORD};
use super::suite::{Person, Suite};
use super::{Held, Row, Verdict};

/// The fewest characters of a text by which it is known again.
pub(super) const LONG: usize = 8;
/// The most entities of which somebody gets each format.
const ROWS: usize = 3;
/// The formats of lists and of single entities, `edit` being a form.
const FORMATS: [&str; 7] = ["json", "xml", "csv", "html", "atom", "rss", "ics"];

/// A text that somebody must not read.
#[derive(Clone, Debug)]
pub(super) struct Veiled {
    pub(super) text: String,
    /// The field or the column.
    pub(super) field: &'static str,
    /// The id of the entity.
    pub(super) id: String,
    /// True if the person sees the entity otherwise.
    pub(super) is_seen: bool,
}

/// Checks that nobody reads a value that is blank for them, or one of an entity that they do not see, in any answer.
pub async fn veiled_values_show_nowhere(suite: &Suite) -> Verdict {
    if !suite.can("read") || suite.rows.is_empty() {
        return Ok(Held::Skipped(
            "the type has no single entities that can be made",
        ));
    }
    let whole = suite.shown(suite.first()).await?;
    let columns = hidden::texts(suite, &suite.rows).await?;
    let marked = hidden::marked(suite).await?;
    let mut is_any = false;
    for who in &suite.people {
        let shown = suite.shown(who).await?;
        let veiled = veiled(suite, &whole, &shown);
        for it in veiled.iter().filter(|it| it.is_seen) {
            filters_find_nothing(suite, who, it, &shown).await?;
        }
        let known = Value::from_iter(shown.clone()).to_string();
        let hidden = columns.iter().filter(|it| !known.contains(&it.text));
        let hidden: Vec<_> = hidden.collect();
        let veiled: Vec<_> = veiled.iter().collect();
        is_any |= !(veiled.is_empty() && hidden.is_empty());
        let is_veiled = |it: &&Row| veiled.iter().any(|veiled| veiled.id == it.id);
        let rows = suite.rows.iter().filter(|it| shown.contains_key(&it.id));
        let rows: Vec<_> = rows.filter(is_veiled).take(ROWS).cloned().collect();
        show_none(who, paths(suite, &rows), &veiled).await?;
        // A view and an action may tell of a hidden column what their author chose.
        show_none(who, formats(suite, &suite.rows), &hidden).await?;
        if let Some((row, columns)) = &marked {
            let columns: Vec<_> = columns.iter().collect();
            show_none(who, formats(suite, std::slice::from_ref(row)), &columns).await?;
        }
    }
    match is_any {
        true => Ok(Held::Passed),
        false => Ok(Held::Skipped("everybody reads what the superuser reads")),
    }
}

/// Returns the texts in `whole` that are in none of the entities that somebody sees.
fn veiled(
    suite: &Suite,
    whole: &BTreeMap<String, Value>,
    shown: &BTreeMap<String, Value>,
) -> Vec<Veiled> {
    let known = Value::from_iter(shown.clone()).to_string();
    let mut veiled = Vec::new();
    for (id, entity) in whole {
        let own = shown.get(id);
        let is_text = |it: &&Field| it.references.is_none();
        for field in suite.route.schema.fields.iter().filter(is_text) {
            let text = entity[field.name].as_str().map(plain_text);
            let text = text.filter(|it| it.chars().count() >= LONG && !known.contains(it));
            // Of a hidden entity, only what was made up for the checks is sure to be nowhere else.
            let text = text.filter(|it| own.is_some() || it.contains(WORD));
            veiled.extend(text.map(|text| Veiled {
                text,
                field: field.name,
                id: id.clone(),
                is_seen: own.is_some(),
            }));
        }
    }
    veiled
}

/// Checks that none of `paths` shows `who` a text of `veiled`.
async fn show_none(who: &Person, paths: Vec<String>, veiled: &[&Veiled]) -> Result<(), String> {
    for path in paths {
        let answer = who.client.get(&path).await;
        let text = String::from_utf8_lossy(&answer.body);
        let told = veiled.iter().find(|it| text.contains(&it.text));
        if let (StatusCode::OK, Some(told)) = (answer.status, told) {
            return Err(format!(
                "{} reads `{}` of {} at {path}, although it is hidden from them: show what the gate and the functions of \
                 `db` that ask the rules return, not rows that are read whole, and no hidden column",
                who.role, told.field, told.id
            ));
        }
    }
    Ok(())
}

/// Returns the addresses of lists, of `rows`, of views and of actions that read.
fn paths(suite: &Suite, rows: &[Row]) -> Vec<String> {
    let views = suite.views(rows).into_iter().map(|it| it.path);
    let reading = suite.reading_actions(rows).into_iter().map(|it| it.path);
    let formats = formats(suite, rows).into_iter();
    formats.chain(views).chain(reading).collect()
}

/// Returns the addresses of the list and of the first ones of `rows` in each format.
fn formats(suite: &Suite, rows: &[Row]) -> Vec<String> {
    let collection = suite.path();
    let mut paths = FORMATS.map(|it| format!("{collection}.{it}")).to_vec();
    for row in rows.iter().take(ROWS) {
        let path = suite.path_of(&row.id);
        paths.extend(FORMATS.map(|it| format!("{path}.{it}")));
        paths.push(format!("{path}/edit"));
    }
    paths
}

/// Checks that a filter and a search for a veiled value do not find its entity.
async fn filters_find_nothing(
    suite: &Suite,
    who: &Person,
    veiled: &Veiled,
    shown: &BTreeMap<String, Value>,
) -> Result<(), String> {
    let known = shown
        .get(&veiled.id)
        .map(|it| it.to_string().to_lowercase());
    let known = known.unwrap_or_default();
    let mut words = veiled.text.split_whitespace();
    let mut queries = Vec::new();
    if words.any(|it| !known.contains(&it.to_lowercase())) {
        queries.push(format!("&_search={}", sample::encoded(&veiled.text)));
    }
    if suite.columns().any(|it| it.name == veiled.field) {
        queries.push(format!(
            "&{}={}",
            veiled.field,
            sample::encoded(&veiled.text)
        ));
    }
    let field = suite.route.schema.field(veiled.field);
    let is_searched = field.is_some_and(|it| it.is_searchable);
    for query in queries {
        if !suite.can("list") || query.starts_with("&_search") && !is_searched {
            continue;
        }
        let found = suite.list(who, &query).await?.unwrap_or_default();
        if found.ids().contains(&veiled.id) {
            return Err(format!(
                "{} finds {} by `{query}`, although `{}` is blank for them: declare the rule as the `sight` of the field, \
                 which holds for filters and searches too",
                who.role, veiled.id, veiled.field
            ));
        }
    }
    Ok(())
}
