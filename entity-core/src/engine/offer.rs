//! The actions that pages offer: those that need nothing, or nothing but what a form asks for.

use crate::contract::access::Need;
use crate::contract::action::{Answers, Argument};
use crate::contract::context::Context;
use crate::contract::gate;
use crate::contract::registry::{ActionRoute, Call, Route};
use crate::contract::reply::Offer;
use crate::engine::options;
use crate::model::any_entity::AnyEntity;
use crate::primitives::error::Result;
use crate::primitives::path::DirectPath;
use crate::primitives::verb::Verb;

/// Returns the actions that the caller may run from the page of `entity` or, without one, of the list of the type.
pub(crate) async fn available_actions(
    cx: &Context,
    route: &Route,
    entity: Option<&dyn AnyEntity>,
) -> Result<Vec<Offer>> {
    let about = entity.map(|it| (it.site(), it.owner()));
    let mut offers = Vec::new();
    for action in &route.actions {
        let is_here = action.is_on_entity == entity.is_some()
            && *action.segments().start() == 0
            && !action.is_unlinked;
        let reason = match (&action.withheld, entity) {
            (Some(reason), Some(entity)) => reason(entity),
            _ => None,
        };
        if !is_here || reason == Some("") || !is_simple(action) {
            continue;
        }
        let need = action.need.unwrap_or(Need::Superuser);
        let site = about.and_then(|it| it.0);
        let is_withheld = match action.withheld_from.zip(site) {
            Some((function, site)) => gate::holds(cx, function, site).await?,
            None => false,
        };
        if !is_withheld && gate::may_run(cx, need, about).await? {
            let id = entity.map(|it| it.id().into_owned());
            offers.push(Offer {
                reason,
                offered: options::of_fields(cx, action.asks, site).await?,
                ..offer(route, action, id, &[])
            });
        }
    }
    Ok(offers)
}

/// Returns the actions that the caller may run from the page of the action `name` on the collection, which was called
/// with arguments: the other ones with the same arguments that ask for something or have a label.
pub(crate) async fn beside(cx: &Context, call: Call<'_>, name: &str) -> Result<Vec<Offer>> {
    let mut offers = Vec::new();
    let on_collection = || call.route.actions.iter().filter(|it| !it.is_on_entity);
    let own = on_collection().find(|it| it.name == name && it.verb == call.verb);
    let Some(own) = own.filter(|_| !call.arguments.is_empty()) else {
        return Ok(offers);
    };
    let has_same = |it: &&ActionRoute| {
        let names = |it: &ActionRoute| {
            let required = it.arguments.iter().filter(|it| it.is_required);
            required.map(|it| it.name).collect::<Vec<_>>()
        };
        it.name != name && names(it) == names(own)
    };
    let given = Argument::values(&own.arguments, call.arguments);
    let site = given.iter().find(|it| it.0 == "siteId");
    let site = site.map(|it| it.1.as_str());
    for action in on_collection().filter(has_same) {
        let is_form = action.verb == Verb::Post && !action.asks.is_empty();
        // One that reads is for people if they have a word for it.
        let is_link = action.verb == Verb::Get && action.words.label.is_some();
        let need = action.need.unwrap_or(Need::Superuser);
        let is_meant = match action.offered_to {
            Some(function) => gate::may_run_in_site(cx, Need::Site(function), site).await?,
            None => true,
        };
        if (is_form || is_link) && is_meant && gate::may_run_in_site(cx, need, site).await? {
            offers.push(Offer {
                offered: options::of_fields(cx, action.asks, site).await?,
                ..offer(call.route, action, None, call.arguments)
            });
        }
    }
    Ok(offers)
}

/// Returns whether an action without arguments needs nothing but what a form asks for.
fn is_simple(action: &ActionRoute) -> bool {
    match action.verb {
        // What an action that is no list has parameters of its own for, it needs.
        Verb::Get => action.is_searched() || action.parameters.is_empty(),
        Verb::Post => {
            let needs_nothing = action.parameters.is_empty() && !action.is_receiving;
            !action.asks.is_empty() || needs_nothing
        }
        Verb::Put | Verb::Patch | Verb::Delete => false,
    }
}

pub(crate) fn offer(
    route: &Route,
    action: &ActionRoute,
    id: Option<String>,
    arguments: &[String],
) -> Offer {
    let name = std::iter::once(action.name.to_owned());
    let segments = id.into_iter().chain(name).chain(arguments.iter().cloned());
    let files = route.receive.filter(|_| action.is_receiving);
    Offer {
        path: DirectPath::new(route.prefix, segments).to_string(),
        label: action.label(),
        name: action.name,
        verb: action.verb,
        reason: None,
        asks: action.asks,
        filled_from: action.words.filled_from,
        submits: action.words.submits,
        offered: Vec::new(),
        files: files.map(|it| it.most),
        answers_bytes: matches!(action.answers, Answers::Bytes(_)),
        is_open: action.words.is_open,
        in_place_of: action.words.in_place_of,
    }
}
