//! A site in few words, and the sites in which the caller holds a function.

use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Need, Result, Scope, Search, Verb, View,
    shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Site, Sites, list};
use crate::base::parameters;

pub(super) fn actions() -> Vec<Action<Sites>> {
    vec![
        Action::on_entity(Verb::Get, "info", Need::Session, |_cx, site, _arguments| {
            Box::pin(async move { Ok(ActionResult::value(InfoView::of(site))) })
        })
        .doc("The site in few words.")
        .unlinked()
        .answers(Answers::Value(shape::of::<InfoView>)),
        Action::list("withPerm", Need::Session, with_permission)
            .doc("Those of the caller's sites in which the caller holds a function, by title.")
            .unlinked()
            .parameters(&[("permission", "the function; without one, there are none")]),
    ]
}

/// A site in few words.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Site)]
struct InfoView {
    id: String,
    title: String,
    short_description: Option<String>,
    html_short_description: Option<String>,
    description: Option<String>,
    contact_name: Option<String>,
    contact_email: Option<String>,
}

async fn with_permission(cx: &Context, arguments: Arguments) -> Result<Search> {
    let mut ids = list::visited(cx).await?;
    let held = match parameters::text(&arguments, "permission")? {
        Some(function) => cx.authorizer().scope(cx, &function).await?,
        None => Scope::Sites(Vec::new()),
    };
    ids.retain(|it| held.contains(it));
    let mut search = arguments.search()?.clone();
    search.narrow(Site::FIELD.id.is_in(ids));
    Ok(search)
}
