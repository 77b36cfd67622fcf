//! Actions that read: nobody gets a failure from them, no list that holds what its reader does not see or what is of another
//! site, and no bytes of another kind than is declared.

use std::collections::BTreeMap;

use entity_core::engine::ActionRoute;
use entity_core::{Answers, Verb};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::Value;

use super::suite::{Listed, Person, Suite};
use super::{Held, Row, Verdict};
use crate::client::Answer;
use crate::role::{OTHER_SITE, SITE};

/// The number of entities on which each action is run.
const ROWS: usize = 3;
/// The names of arguments that hold the id of a site.
const OF_SITE: [&str; 3] = ["siteId", "site", "context"];

/// An address of an action.
#[derive(Clone, Debug)]
pub(super) struct Asked<'a> {
    pub(super) action: &'a ActionRoute,
    pub(super) path: String,
    /// The site that the address names.
    site: Option<&'static str>,
}

/// Checks that each action that reads answers everybody without a failure, shows nobody an entity in a list that they do not
/// see by its id or that is of another site than the one they ask for, and answers in the declared media type.
pub async fn actions_answer_everybody(suite: &Suite) -> Verdict {
    let asked = suite.reading_actions(&suite.rows);
    if asked.is_empty() {
        return Ok(Held::Skipped("the type has no actions that read"));
    }
    for who in &suite.people {
        let shown = match suite.can("read") {
            true => suite.shown(who).await?,
            false => BTreeMap::new(),
        };
        for asked in &asked {
            answers(suite, (who, &shown), asked).await?;
        }
    }
    Ok(Held::Passed)
}

impl Suite {
    /// Returns the addresses of the actions that read, on the first ones of `rows` or on the collection, of those whose
    /// arguments can be known.
    pub(super) fn reading_actions(&self, rows: &[Row]) -> Vec<Asked<'_>> {
        let actions = self.route.actions.iter();
        let reading = actions.filter(|it| it.verb == Verb::Get);
        let rows = rows.get(..ROWS).unwrap_or(rows);
        reading.flat_map(|it| self.asked(it, rows)).collect()
    }

    /// Returns the addresses of `action`: on `rows` or on the collection, with a site as its argument. There is none if the
    /// action takes what only its author knows.
    pub(super) fn asked<'a>(&self, action: &'a ActionRoute, rows: &[Row]) -> Vec<Asked<'a>> {
        let mut required = action.arguments.iter().filter(|it| it.is_required);
        let first = action.arguments.first();
        let is_of_site = first.is_some_and(|it| OF_SITE.contains(&it.name));
        let sites: &[Option<&'static str>] = match (required.next(), required.next()) {
            (_, None) if is_of_site => &[Some(SITE), Some(OTHER_SITE)],
            (None, None) => &[None],
            _ => return Vec::new(),
        };
        let bases: Vec<_> = match action.is_on_entity {
            true => rows.iter().map(|it| self.path_of(&it.id)).collect(),
            false => vec![self.path()],
        };
        let at = |base: &String, site: Option<&'static str>| {
            let argument = site.map_or_else(String::new, |it| format!("/{it}"));
            Asked {
                action,
                path: format!("{base}/{}{argument}", action.name),
                site,
            }
        };
        let asked = bases.iter();
        asked
            .flat_map(|base| sites.iter().map(move |site| at(base, *site)))
            .collect()
    }
}

async fn answers(
    suite: &Suite,
    (who, shown): (&Person, &BTreeMap<String, Value>),
    asked: &Asked<'_>,
) -> Result<(), String> {
    let path = &asked.path;
    let answer = who.client.get(path).await;
    let (role, status) = (who.role, answer.status);
    if status.is_server_error() {
        return Err(format!(
            "{role} gets {status} from {path}: an action answers whatever it is asked"
        ));
    }
    if let (StatusCode::OK, Answers::Bytes(declared)) = (status, &asked.action.answers) {
        is_declared(&answer, declared, path)?;
    }
    if !matches!(asked.action.answers, Answers::Collection) || !suite.can("read") {
        return Ok(());
    }
    let answer = who.client.get(&format!("{path}.json")).await;
    if answer.status != StatusCode::OK {
        return Ok(());
    }
    let name = format!("{}_collection", suite.route.prefix);
    let items = answer.json()[&name].as_array().cloned().unwrap_or_default();
    let listed = Listed { items, total: None };
    let ids = suite.made_of(&listed);
    if let Some(leaked) = ids.iter().find(|it| !shown.contains_key(*it)) {
        return Err(format!(
            "{role} sees {leaked} in {path} but not by its id: list by `Outcome::List`, which asks the rules of the type"
        ));
    }
    let mut others = suite.rows.iter().filter(|it| it.is_beyond(asked.site));
    match others.find(|it| ids.contains(&it.id)) {
        Some(other) => Err(format!(
            "{role} sees {} of another site in {path}: narrow the search by `narrow_to_site`",
            other.id
        )),
        None => Ok(()),
    }
}

/// Checks that the media type of bytes is one of those that are `declared`.
fn is_declared(answer: &Answer, declared: &[&str], path: &str) -> Result<(), String> {
    let essence = |it: &str| it.split(';').next().unwrap_or_default().trim().to_owned();
    let sent = essence(answer.header(CONTENT_TYPE).unwrap_or_default());
    let mut declared_types = declared.iter().map(|it| essence(it));
    match declared_types.any(|it| it == sent || it == "*/*") {
        true => Ok(()),
        false => Err(format!(
            "{path} answers {sent}, but the action declares {declared:?}: declare by `answers(Answers::Bytes(…))` the media \
             types of what it returns"
        )),
    }
}
