//! Views below `/api`, and the formats of the list for people and calendars: they show no more than the list.

use std::collections::BTreeSet;

use entity_core::Verb;
use entity_core::endpoint::{Endpoint, ParameterKind};
use entity_core::schema::Role as FieldRole;
use http::StatusCode;

use super::suite::{Person, Suite};
use super::{Held, Row, Verdict};
use crate::role::{OTHER_SITE, SITE};

/// The name of the variable of a path that is the id of a site.
const OF_SITE: &str = "siteId";
/// The number of characters that an id has at least, so that nothing else is likely to contain it.
const LONG: usize = 8;

/// An address that shows entities of the type: of one site, or of all.
struct View {
    path: String,
    site: Option<&'static str>,
}

/// Checks that each view of the type, and each format of its list, answers everybody without a failure, tells of no entity
/// that the reader does not get by its id, and of one site nothing of another.
pub async fn views_show_what_the_list_shows(suite: &Suite) -> Verdict {
    let views = views(suite);
    if views.is_empty() || suite.rows.is_empty() || !suite.can("read") {
        return Ok(Held::Skipped(
            "the type has no list and no views, or nobody can make its entities",
        ));
    }
    for who in &suite.people {
        let seen = suite.seen(who).await?;
        let shown: Vec<&Row> = rows(suite, |it| seen.contains(&it.id)).collect();
        // What is seen may refer to what is not.
        let named: BTreeSet<&str> = shown
            .iter()
            .flat_map(|it| it.sent.values())
            .filter_map(|it| it.as_str())
            .collect();
        let hidden: Vec<&Row> = rows(suite, |it| !seen.contains(&it.id))
            .filter(|it| !named.contains(it.id.as_str()))
            .collect();
        for view in &views {
            let answer = who.client.get(&view.path).await;
            if answer.status.is_server_error() {
                return Err(format!(
                    "{} gets {} from {}: a view answers whoever asks",
                    who.role, answer.status, view.path
                ));
            }
            if answer.status == StatusCode::OK {
                let text = String::from_utf8_lossy(&answer.body);
                tells_nothing_else(suite, (who, &shown, &hidden), view, &text)?;
            }
        }
    }
    Ok(Held::Passed)
}

/// Returns the entities that were made for the checks, whose ids are long enough to be recognised in a text.
fn rows(suite: &Suite, is_wanted: impl Fn(&Row) -> bool) -> impl Iterator<Item = &Row> {
    let rows = suite.rows.iter().filter(|it| it.id.len() >= LONG);
    rows.filter(move |it| is_wanted(it))
}

fn views(suite: &Suite) -> Vec<View> {
    let prefix = suite.route.prefix;
    let formats = [("list", "html"), ("events", "ics")];
    let formats = formats.into_iter().filter(|it| suite.can(it.0));
    let mut views: Vec<View> = formats
        .map(|(_, format)| View {
            path: format!("{}.{format}", suite.path()),
            site: None,
        })
        .collect();
    let is_of_type = |it: &&Endpoint| it.tag == prefix || it.path.contains(prefix);
    let endpoints = suite.app.service().endpoints.iter();
    let reading = endpoints.filter(|it| it.verb == Verb::Get);
    for endpoint in reading.filter(is_of_type) {
        let variables: Vec<_> = endpoint
            .parameters_of(ParameterKind::Variable)
            .map(|it| it.0)
            .collect();
        match variables.as_slice() {
            [] => views.push(View {
                path: endpoint.path.to_owned(),
                site: None,
            }),
            [OF_SITE] => views.extend([SITE, OTHER_SITE].map(|site| View {
                path: endpoint.path.replace("{siteId}", site),
                site: Some(site),
            })),
            // Only the author knows what else there is.
            _ => {}
        }
    }
    views
}

/// Checks the answer `text` of a view to `who`, who sees some entities of the type while others are hidden.
fn tells_nothing_else(
    suite: &Suite,
    (who, shown, hidden): (&Person, &[&Row], &[&Row]),
    view: &View,
    text: &str,
) -> Result<(), String> {
    let (role, path) = (who.role, &view.path);
    if let Some(leaked) = hidden.iter().find(|it| text.contains(&it.id)) {
        return Err(format!(
            "{role} sees {} at {path} but not by its id: read by `gate::list`, which asks the rules of the type",
            leaked.id
        ));
    }
    let (Some(own), Some(field)) = (view.site, suite.route.schema.role(FieldRole::Site)) else {
        return Ok(());
    };
    let is_of_another = |it: &&&Row| it.sent.get(field.name).is_some_and(|it| it != own);
    let others = shown.iter().filter(is_of_another);
    match others.into_iter().find(|it| text.contains(&it.id)) {
        Some(other) => Err(format!(
            "{role} sees {} of another site at {path}: narrow the search by `narrow_to_site`",
            other.id
        )),
        None => Ok(()),
    }
}
