//! A site in few words, and the sites in which the caller holds a function.

use std::collections::HashSet;

use entity_core::search::Grammar;
use entity_core::{
    Action, Answers, Arguments, Context, List, Need, Outcome, Page, Result, Scope, Search, Verb,
    Window, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Site, Sites, list};
use crate::base::parameters;

pub(super) fn actions() -> Vec<Action<Sites>> {
    vec![
        Action::on_entity(Verb::Get, "info", Need::Session, |_cx, site, _arguments| {
            Box::pin(async move { Ok(Outcome::value(InfoView::from(site))) })
        })
        .doc("The site in few words.")
        .unlinked()
        .answers(Answers::Value(shape::of::<InfoView>)),
        Action::collection(Verb::Get, "withPerm", Need::Session, with_permission)
            .doc("Those of the caller's sites in which the caller holds a function, by title.")
            .parameters(&[
                ("permission", "the function; without one, there are none"),
                ("_start", "how many to leave out at the beginning"),
                ("_limit", "how many at most"),
            ])
            .answers(Answers::Collection),
    ]
}

/// A site in few words.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InfoView {
    id: String,
    title: String,
    short_description: Option<String>,
    html_short_description: Option<String>,
    description: Option<String>,
    contact_name: Option<String>,
    contact_email: Option<String>,
}

impl From<Site> for InfoView {
    fn from(site: Site) -> Self {
        Self {
            id: site.id,
            title: site.title,
            short_description: site.short_description,
            html_short_description: site.html_short_description,
            description: site.description,
            contact_name: site.contact_name,
            contact_email: site.contact_email,
        }
    }
}

async fn with_permission(cx: &Context, arguments: Arguments) -> Result<Outcome<Sites>> {
    let window = Window::parse(&arguments.query, Sites::MAX)?;
    let Some(function) = parameters::text(&arguments, "permission")? else {
        let page = Page::whole(Vec::new());
        return Ok(Outcome::Collection { page, window });
    };
    let visited = list::visited(cx).await?;
    let ids = match cx.authorizer().scope(cx, &function).await? {
        Scope::Everything => visited,
        Scope::Sites(held) => {
            let held: HashSet<String> = held.into_iter().collect();
            visited.into_iter().filter(|it| held.contains(it)).collect()
        }
    };
    let mut search = Search {
        start: window.start,
        limit: window.limit,
        ..Search::default()
    };
    Grammar::of::<Sites>()?.complete(&mut search);
    let page = list::among(cx, &search, ids).await?;
    Ok(Outcome::Collection { page, window })
}
