//! Actions that read: nobody gets a failure from them, and no list that holds what its reader does not see.

use std::collections::BTreeSet;

use entity_core::engine::ActionRoute;
use entity_core::{Answers, Verb};
use http::StatusCode;

use super::suite::{Listed, Person, Suite};
use super::{Held, Verdict};
use crate::role::SITE;

/// The number of entities on which each action is run.
const ROWS: usize = 3;
/// The names of arguments that hold the id of a site.
const OF_SITE: [&str; 3] = ["siteId", "site", "context"];

/// Checks that each action that reads answers everybody without a failure, and shows nobody an entity in a list that they
/// do not see by its id.
pub async fn actions_answer_everybody(suite: &Suite) -> Verdict {
    let actions = suite.route.actions.iter();
    let reading = actions.filter(|it| it.verb == Verb::Get);
    let asked: Vec<_> = reading
        .flat_map(|it| paths(suite, it).into_iter().map(move |path| (it, path)))
        .collect();
    if asked.is_empty() {
        return Ok(Held::Skipped("the type has no actions that read"));
    }
    for who in &suite.people {
        let seen = match suite.can("read") {
            true => suite.seen(who).await?,
            false => BTreeSet::new(),
        };
        for (action, path) in &asked {
            answers(suite, (who, &seen), action, path).await?;
        }
    }
    Ok(Held::Passed)
}

/// Returns the addresses of the action: on some entities or on the collection, with the site as its argument.
fn paths(suite: &Suite, action: &ActionRoute) -> Vec<String> {
    let mut required = action.arguments.iter().filter(|it| it.is_required);
    let is_of_site = |name: &str| OF_SITE.contains(&name);
    let arguments = match (required.next(), required.next()) {
        (None, _) => String::new(),
        (Some(one), None) if is_of_site(one.name) => format!("/{SITE}"),
        // Only the author knows what else there is.
        _ => return Vec::new(),
    };
    let behind = format!("/{}{arguments}", action.name);
    match action.is_on_entity {
        true => {
            let rows = suite.rows.iter().take(ROWS);
            rows.map(|it| suite.path_of(&it.id) + &behind).collect()
        }
        false => vec![suite.path() + &behind],
    }
}

async fn answers(
    suite: &Suite,
    (who, seen): (&Person, &BTreeSet<String>),
    action: &ActionRoute,
    path: &str,
) -> Result<(), String> {
    let answer = who.client.get(path).await;
    let (role, status) = (who.role, answer.status);
    if status.is_server_error() {
        return Err(format!(
            "{role} gets {status} from {path}: an action answers whatever it is asked"
        ));
    }
    if !matches!(action.answers, Answers::Collection) || !suite.can("read") {
        return Ok(());
    }
    let answer = who.client.get(&format!("{path}.json")).await;
    if answer.status != StatusCode::OK {
        return Ok(());
    }
    let name = format!("{}_collection", suite.route.prefix);
    let items = answer.json()[&name].as_array().cloned().unwrap_or_default();
    let listed = Listed { items, total: None };
    match suite.made_of(&listed).difference(seen).next() {
        Some(leaked) => Err(format!(
            "{role} sees {leaked} in {path} but not by its id: list by `Outcome::List`, which asks the rules of the type"
        )),
        None => Ok(()),
    }
}
