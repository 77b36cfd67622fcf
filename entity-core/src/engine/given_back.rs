//! The forms of refused actions, filled with the sent values.

use crate::contract::action::{Answers, Argument};
use crate::contract::context::Context;
use crate::contract::look_up::look_up;
use crate::contract::operation::candidates;
use crate::contract::registry::{ActionRoute, Registry};
use crate::contract::reply::{ActionForm, Body, Item, Offer, Prompt, Questionnaire, Refusal};
use crate::engine::offer::offer;
use crate::engine::{leads, options};
use crate::primitives::path::DirectPath;
use crate::primitives::verb::Verb;

/// Returns the form of the action at `path`, which was refused, as far as the caller may read what it is about. Returns
/// `None` if no action that writes is there.
pub async fn given_back(cx: &Context, path: &DirectPath, refusal: Refusal) -> Option<ActionForm> {
    let registry = cx.service::<Registry>().ok()?;
    let route = registry.route(&path.prefix)?;
    let mut actions = candidates(route, &path.segments).into_iter();
    let (action, id, arguments) = actions.find(|it| it.0.verb == Verb::Post)?;
    let id = Some(id.to_owned()).filter(|it| !it.is_empty());
    let found = leads::find(cx, route.prefix, id.as_slice()).await;
    let about = found.unwrap_or_default().pop();
    let site = about.as_ref().and_then(Item::site);
    let site = site.or_else(|| arguments.first().map(String::as_str));
    let offered = options::of_fields(cx, action.asks, site).await;
    let mut questionnaire = None;
    let is_sheet = |it: &&ActionRoute| {
        let is_reading = it.verb == Verb::Get && it.is_on_entity == action.is_on_entity;
        let is_alike = is_reading && Argument::take(&it.arguments, arguments.len());
        is_alike && matches!(it.answers, Answers::Value(_)) && action.asks.is_empty()
    };
    for sheet in route.actions.iter().filter(is_sheet) {
        let segments = id.iter().map(String::as_str).chain([sheet.name]);
        let segments = segments.chain(arguments.iter().map(String::as_str));
        let path = DirectPath::new(route.prefix, segments);
        let found = look_up(&registry, cx, path, Vec::new()).await;
        if let Ok(Body::Value(it)) = found.map(|it| it.body) {
            let is_answered = |it: &Prompt| refusal.sent.contains_key(&it.name);
            let is_meant = |it: &Questionnaire| it.all_prompts().any(is_answered);
            questionnaire = questionnaire.or(it.questionnaire.filter(is_meant));
        }
    }
    Some(ActionForm {
        prefix: route.prefix,
        offer: Offer {
            offered: offered.unwrap_or_default(),
            ..offer(route, action, id, arguments)
        },
        about,
        questionnaire,
        refusal,
    })
}
