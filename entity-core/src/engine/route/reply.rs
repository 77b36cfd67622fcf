//! The replies with entities, lists and forms.

use super::page_position::PagePosition;
use crate::contract::access::Operation;
use crate::contract::context::Context;
use crate::contract::gate::items;
use crate::contract::kind::Kind;
use crate::contract::registry::{ActionRoute, Call, Route};
use crate::contract::reply::{
    AllowedActions, Body, Collection, Effect, Form, FormPurpose, Item, Reply,
};
use crate::contract::search::{Page, Window};
use crate::engine::expand::project;
use crate::engine::offer;
use crate::model::any_entity::AnyEntity;
use crate::model::projection::Projection;
use crate::primitives::error::Result;

pub(super) async fn entity_reply(
    of: &dyn Kind,
    cx: &Context,
    call: Call<'_>,
    item: Item,
    effect: Effect,
) -> Result<Reply> {
    let allowed_actions = match call.wants_allowed_actions {
        true => allowed_actions(of, cx, call.route, item.entity()).await?,
        false => AllowedActions::default(),
    };
    let projection = Projection::parse(call.query, of.schema())?;
    let mut item = [item];
    project(cx, call.registry, &projection, &mut item).await?;
    let [item] = item;
    Ok(Reply {
        body: Body::Entity(item),
        effect,
        allowed_actions,
        headers: cx.take_headers(),
    })
}

async fn allowed_actions(
    of: &dyn Kind,
    cx: &Context,
    route: &Route,
    entity: &dyn AnyEntity,
) -> Result<AllowedActions> {
    // Where the id is the name of an action, the address means the action: it has no forms behind it.
    let id = entity.id();
    let is_taken = |it: &ActionRoute| !it.is_on_entity && it.name == id;
    let has_forms = !route.actions.iter().any(is_taken);
    // A page offers no form without a field.
    let has_fields = of.schema().writable(false).next().is_some();
    let (update, delete) = (route.update.is_some() && has_fields, route.delete.is_some());
    Ok(AllowedActions {
        removal: entity.removal(cx.caller().user_id()),
        update: has_forms && update && items::may(of, cx, entity, Operation::Update).await?,
        delete: has_forms && delete && items::may(of, cx, entity, Operation::Delete).await?,
        actions: offer::available_actions(cx, route, Some(entity)).await?,
        ..AllowedActions::default()
    })
}

pub(super) async fn list_allowed_actions(
    of: &dyn Kind,
    cx: &Context,
    route: &Route,
    site: Option<&str>,
) -> Result<AllowedActions> {
    Ok(AllowedActions {
        create: route.create.is_some() && items::may_create(of, cx, site).await?,
        site: site.map(ToOwned::to_owned),
        ..AllowedActions::default()
    })
}

pub(super) async fn collection_reply(
    of: &dyn Kind,
    cx: &Context,
    call: Call<'_>,
    page: Page<Item>,
    window: Window,
    position: PagePosition,
) -> Result<Reply> {
    let mut collection = Collection {
        prefix: of.prefix(),
        schema: of.schema(),
        items: page.items,
        start: window.start,
        limit: window.limit,
        has_more: page.has_more,
        places: page.places,
        cursor: position.cursor,
        total: position.total,
        is_searched: position.is_searched,
        projection: Projection::parse(call.query, of.schema())?,
        walk: position.walk,
    };
    let Collection {
        projection, items, ..
    } = &mut collection;
    let shown = project(cx, call.registry, projection, items).await?;
    let collection = match shown >= collection.items.len() {
        true => collection,
        // The answer has room for so many.
        false => collection.first(shown)?,
    };
    Ok(Reply {
        body: Body::Collection(collection),
        effect: Effect::Read,
        allowed_actions: AllowedActions::default(),
        headers: Vec::new(),
    })
}

pub(super) fn form_reply(
    of: &dyn Kind,
    cx: &Context,
    item: Option<Item>,
    purpose: FormPurpose,
) -> Result<Reply> {
    let caller = cx.caller().user_id();
    let entity = item.as_ref().map(Item::entity);
    let mut left_out = Vec::new();
    for field in of.schema().fields {
        if !of.asks(entity, caller, field.name)? {
            left_out.push(field.name);
        }
    }
    let removal = entity.and_then(|it| it.removal(caller));
    let form = Form {
        prefix: of.prefix(),
        schema: of.schema(),
        item,
        purpose,
        left_out,
        offered: Vec::new(),
        refusal: None,
    };
    Ok(Reply {
        body: Body::Form(form),
        effect: Effect::Read,
        allowed_actions: AllowedActions {
            removal,
            ..AllowedActions::default()
        },
        headers: Vec::new(),
    })
}
