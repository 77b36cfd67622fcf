//! Views below `/api`, and the formats of the list for people and calendars: they show no more than the list.

use std::collections::BTreeSet;

use entity_core::Verb;
use entity_core::encode_segment;
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

/// The most entities of which each view is asked for.
const ROWS: usize = 3;

/// An address that shows entities of the type: of one site, or of all.
#[derive(Debug)]
pub(super) struct View {
    pub(super) path: String,
    pub(super) site: Option<&'static str>,
}

/// Checks that each view of the type, and each format of its list, answers everybody without a failure, tells of no entity
/// that the reader does not get by its id, and of one site nothing of another.
pub async fn views_show_what_the_list_shows(suite: &Suite) -> Verdict {
    let views = suite.views(&suite.rows);
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
                tells_nothing_else((who, &shown, &hidden), view, &text)?;
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

impl Suite {
    /// Returns the addresses of the list for people and for calendars, and those of the views of the type, of its sites and
    /// of some of `rows`.
    pub(super) fn views(&self, rows: &[Row]) -> Vec<View> {
        let prefix = self.route.prefix;
        let rows = rows.get(..ROWS).unwrap_or(rows);
        let ids = self.names_of_id();
        let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        let formats = [("list", "html"), ("events", "ics")];
        let formats = formats.into_iter().filter(|it| self.can(it.0));
        let mut views: Vec<View> = formats
            .map(|(_, format)| View {
                path: format!("{}.{format}", self.path()),
                site: None,
            })
            .collect();
        let is_of_type = |it: &&Endpoint| it.tag == prefix || it.path.contains(prefix);
        let endpoints = self.app.service().endpoints.iter();
        let reading = endpoints.filter(|it| it.verb == Verb::Get);
        for endpoint in reading.filter(is_of_type) {
            let variables: Vec<_> = endpoint
                .parameters_of(ParameterKind::Variable)
                .map(|it| it.0)
                .collect();
            let of_entity: Vec<_> = ids.iter().filter(|it| variables.contains(it)).collect();
            let is_of_site = variables.contains(&OF_SITE);
            // Only the author knows what else there is.
            if variables.len() != of_entity.len() + usize::from(is_of_site) || of_entity.len() > 1 {
                continue;
            }
            match (of_entity.first(), is_of_site) {
                (None, false) => views.push(View {
                    path: endpoint.path.to_owned(),
                    site: None,
                }),
                (None, true) => views.extend([SITE, OTHER_SITE].map(|site| View {
                    path: endpoint.path.replace("{siteId}", site),
                    site: Some(site),
                })),
                (Some(id), _) => views.extend(rows.iter().map(|row| {
                    View {
                        path: endpoint
                            .path
                            .replace(&format!("{{{id}}}"), &encode_segment(&row.id))
                            .replace("{siteId}", SITE),
                        site: None,
                    }
                })),
            }
        }
        views
    }

    /// Returns the names that variables of paths have for the id of an entity.
    fn names_of_id(&self) -> [String; 3] {
        let field = self.route.schema.role(FieldRole::Id);
        let field = field.map_or_else(String::new, |it| it.name.to_owned());
        [field, "id".to_owned(), format!("{}Id", self.route.prefix)]
    }
}

/// Checks the answer `text` of a view to `who`, who sees some entities of the type while others are hidden.
fn tells_nothing_else(
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
    let mut others = shown.iter().filter(|it| it.is_beyond(view.site));
    match others.find(|it| text.contains(&it.id)) {
        Some(other) => Err(format!(
            "{role} sees {} of another site at {path}: narrow the search by `narrow_to_site`",
            other.id
        )),
        None => Ok(()),
    }
}
