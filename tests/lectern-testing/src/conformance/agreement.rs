//! Everybody sees the same entities, whichever way he asks: by id, in lists, counts, searches, feeds and batches.

use std::collections::{BTreeMap, BTreeSet};

use entity_core::schema::{Kind, Role};
use http::StatusCode;
use roxmltree::{Document, Node};
use serde_json::Value;

use super::sample::{self, WORD};
use super::suite::{Listed, Person, Suite, is_refusal};
use super::{Held, Verdict};
use crate::role::{OTHER_SITE, SITE};

/// The most references in one batch.
const BATCH: usize = 20;
/// The advice for every disagreement about who sees an entity.
const ADVICE: &str = "the rule about who sees an entity must hold for `read`, `list` and `count` alike: declare it as \
                      `sight`, or implement it in `permits` and in the condition of `list` and `count`";

/// Checks that item, list, total, search, filter by site, feed and batch agree for everybody about who sees what.
pub async fn callers_see_the_same_in_every_way(suite: &Suite) -> Verdict {
    if !(suite.can("read") && suite.can("list")) {
        return Ok(Held::Skipped("the type has no list or no single entities"));
    }
    if suite.rows.is_empty() {
        return Ok(Held::Skipped("nobody can create entities of the type"));
    }
    for who in &suite.people {
        let shown = suite.shown(who).await?;
        let seen = shown.keys().cloned().collect();
        batch_agrees(suite, who, &seen).await?;
        let Some(list) = suite.list(who, "").await? else {
            same(who, "no list", &BTreeSet::new(), &seen)?;
            continue;
        };
        list_agrees(suite, who, &list, &seen).await?;
        narrowed_lists_agree(suite, who, &shown).await?;
        formats_agree(suite, who, &list).await?;
        table_agrees(suite, who, &list).await?;
    }
    Ok(Held::Passed)
}

async fn list_agrees(
    suite: &Suite,
    who: &Person,
    list: &Listed,
    seen: &BTreeSet<String>,
) -> Result<(), String> {
    same(who, "the list", &suite.made_of(list), seen)?;
    counted(who, "the list", list)?;
    let made: BTreeSet<_> = suite.rows.iter().map(|it| it.id.clone()).collect();
    let others = list.ids();
    for id in others.difference(&made).take(BATCH) {
        if !suite.sees(who, id).await? {
            return Err(format!(
                "{} sees {id} in the list but not by its id: {ADVICE}",
                who.role
            ));
        }
    }
    Ok(())
}

/// Checks the lists of a search and of a site.
async fn narrowed_lists_agree(
    suite: &Suite,
    who: &Person,
    shown: &BTreeMap<String, Value>,
) -> Result<(), String> {
    let is_text = |kind| matches!(kind, Kind::Text(_) | Kind::Html(_));
    let has_word = |row: &&super::Row| {
        let searched = suite.route.schema.fields.iter();
        let mut searched = searched.filter(|it| it.is_searchable && is_text(it.kind));
        let entity = shown.get(&row.id).and_then(|it| it.as_object());
        // A field may be blank for this person; one that nobody reads may be searched.
        let text = |name| entity.and_then(|it| it.get(name)).or(row.sent.get(name));
        let text = |name| text(name).and_then(|it| it.as_str());
        searched.any(|it| text(it.name).is_some_and(|it| it.contains(WORD)))
    };
    let found = |is_wanted: &dyn Fn(&&super::Row) -> bool| -> BTreeSet<String> {
        let rows = suite.rows.iter().filter(is_wanted);
        rows.map(|it| it.id.clone())
            .filter(|it| shown.contains_key(it))
            .collect()
    };
    let mut lists = Vec::new();
    if suite.rows.iter().any(|it| has_word(&it)) {
        lists.push((format!("&_search={WORD}"), found(&has_word)));
    }
    let field = suite.route.schema.role(Role::Site);
    if let Some(field) = field.filter(|it| it.column.is_some()) {
        for id in [SITE, OTHER_SITE] {
            let is_in_site = |row: &&super::Row| {
                let entity = shown.get(&row.id);
                entity.is_some_and(|it| it[field.name] == id)
            };
            let expected = found(&is_in_site);
            lists.push((format!("&{}={id}", field.name), expected));
        }
    }
    for (query, expected) in lists {
        let Some(list) = suite.list(who, &query).await? else {
            same(
                who,
                &format!("no list for `{query}`"),
                &BTreeSet::new(),
                &expected,
            )?;
            continue;
        };
        let way = format!("the list for `{query}`");
        same(who, &way, &suite.made_of(&list), &expected)?;
        counted(who, &way, &list)?;
    }
    Ok(())
}

/// Checks the list in XML and in the formats of feeds against the one in JSON.
async fn formats_agree(suite: &Suite, who: &Person, list: &Listed) -> Result<(), String> {
    let mut formats = vec!["xml"];
    if suite.can("feed") {
        formats.extend(["atom", "rss"]);
    }
    let name = format!("{}_collection", suite.route.prefix);
    for format in formats {
        let path = format!("{}.{format}?_limit=100", suite.path());
        let answer = who.client.get(&path).await;
        if answer.status != StatusCode::OK {
            let (role, status) = (who.role, answer.status);
            return Err(format!(
                "{role} gets {status} from {path}, but the list in JSON"
            ));
        }
        let document = Document::parse(answer.text())
            .map_err(|error| format!("{path} answers no XML: {error}"))?;
        let is_entry = |node: &Node<'_, '_>| match format {
            "xml" => node
                .parent_element()
                .is_some_and(|it| it.has_tag_name(name.as_str())),
            "atom" => node.tag_name().name() == "entry",
            _ => node.tag_name().name() == "item",
        };
        let entries = document.descendants().filter(Node::is_element);
        let (shown, expected) = (entries.filter(is_entry).count(), list.items.len().min(100));
        if shown != expected {
            return Err(format!(
                "{} gets {shown} entities from {path} and {expected} from the list in JSON: {ADVICE}",
                who.role
            ));
        }
    }
    Ok(())
}

/// Checks the list as a table, if it is one with a line for each entity, against the one in JSON.
async fn table_agrees(suite: &Suite, who: &Person, list: &Listed) -> Result<(), String> {
    if suite
        .route
        .schema
        .fields
        .iter()
        .any(|it| it.pivot.is_some())
    {
        return Ok(());
    }
    let path = format!("{}.csv?_limit=100", suite.path());
    let answer = who.client.get(&path).await;
    if answer.status != StatusCode::OK {
        return Ok(());
    }
    // A line break within quotation marks is one of a text.
    let mut is_quoted = false;
    let mut ends_line = |c: char| {
        is_quoted ^= c == '"';
        c == '\n' && !is_quoted
    };
    let lines = answer.text().chars().filter(|it| ends_line(*it)).count();
    // The first line has the names of the columns.
    let (shown, expected) = (lines.saturating_sub(1), list.items.len().min(100));
    match shown == expected {
        true => Ok(()),
        false => Err(format!(
            "{} gets {shown} entities from {path} and {expected} from the list in JSON: {ADVICE}",
            who.role
        )),
    }
}

async fn batch_agrees(suite: &Suite, who: &Person, seen: &BTreeSet<String>) -> Result<(), String> {
    for rows in suite.rows.chunks(BATCH) {
        let paths: Vec<_> = rows.iter().map(|it| suite.path_of(&it.id)).collect();
        let refs = sample::encoded(&paths.join(","));
        let path = format!("/direct/batch.json?_refs={refs}");
        let answer = who.client.get(&path).await;
        if is_refusal(answer.status) && seen.is_empty() {
            continue;
        }
        let answers = answer.json();
        for (index, row) in rows.iter().enumerate() {
            let is_shown = answers[format!("ref{index}")]["status"] == 200;
            if is_shown != seen.contains(&row.id) {
                let (role, id) = (who.role, &row.id);
                return Err(format!(
                    "{role} gets {id} in a batch or alone, but not both: {ADVICE}"
                ));
            }
        }
    }
    Ok(())
}

/// Checks that `who` sees by `way` what he sees one by one.
fn same(
    who: &Person,
    way: &str,
    shown: &BTreeSet<String>,
    seen: &BTreeSet<String>,
) -> Result<(), String> {
    let (role, count) = (who.role, seen.len());
    if let Some(leaked) = shown.difference(seen).next() {
        return Err(format!(
            "{role} sees {leaked} in {way} but not by its id: {ADVICE}"
        ));
    }
    match seen.difference(shown).next() {
        Some(missing) => Err(format!(
            "{role} sees {missing} by its id but not in {way}, which should show {count}: {ADVICE}"
        )),
        None => Ok(()),
    }
}

/// Checks that the total is that of what is shown.
pub(super) fn counted(who: &Person, way: &str, list: &Listed) -> Result<(), String> {
    match list.total {
        Some(total) if total != list.items.len() => Err(format!(
            "{} is told that there are {total} entities in {way}, which shows {}: {ADVICE}",
            who.role,
            list.items.len()
        )),
        _ => Ok(()),
    }
}

impl Suite {
    /// Returns the ids in `list` of the entities that were made for the checks.
    pub(super) fn made_of(&self, list: &Listed) -> BTreeSet<String> {
        let ids = list.ids();
        let made = self.rows.iter().map(|it| it.id.clone());
        made.filter(|it| ids.contains(it)).collect()
    }
}
