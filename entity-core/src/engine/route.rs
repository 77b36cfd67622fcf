//! The type-erased operations of a provider: gate → [`Reply`]. Written once, for every type: what is generic here hands
//! the type over as a value.

mod action;
mod page_position;
mod reply;

use futures::future::BoxFuture;

use crate::contract::access::Operation;
use crate::contract::context::Context;
use crate::contract::gate::{self, items};
use crate::contract::kind::{self, Creates, Deletes, Kind, Lists, Reads, Updates};
use crate::contract::provider::{Create, Delete, List, Read, Update};
use crate::contract::registry::Call;
use crate::contract::reply::{AllowedActions, Body, Effect, FormPurpose, Item, Reply};
use crate::engine::offer;
use crate::primitives::error::{Error, Result};
use crate::primitives::reference::Reference;

pub(crate) use action::action;

use page_position::PagePosition;
use reply::{collection_reply, entity_reply, form_reply, list_allowed_actions};

pub(crate) fn read<'a, P: Read>(cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(run_read(kind::reads::<P>(), cx, call))
}

async fn run_read(of: &dyn Reads, cx: &Context, call: Call<'_>) -> Result<Reply> {
    let item = items::read(of, cx, call.id).await?;
    entity_reply(of, cx, call, item, Effect::Read).await
}

pub(crate) fn load<'a, P: Read>(
    cx: &'a Context,
    ids: &'a [String],
) -> BoxFuture<'a, Result<Vec<Item>>> {
    Box::pin(items::read_many(kind::reads::<P>(), cx, ids))
}

pub(crate) fn is_done<'a, P: Read>(
    cx: &'a Context,
    id: &'a str,
) -> BoxFuture<'a, Result<Option<bool>>> {
    Box::pin(ask_whether_done(kind::reads::<P>(), cx, id))
}

async fn ask_whether_done(of: &dyn Reads, cx: &Context, id: &str) -> Result<Option<bool>> {
    let item = items::read(of, cx, id).await?;
    of.is_done(cx, item.entity()).await
}

pub(crate) fn list<'a, P: List>(cx: &'a Context, call: Call<'a>) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(run_list(kind::lists::<P>(), cx, call))
}

async fn run_list(of: &dyn Lists, cx: &Context, call: Call<'_>) -> Result<Reply> {
    gate::admit(cx.caller(), of.access().read)?;
    let search = of.grammar()?.parse(call.query)?;
    let (page, total) = items::run_search(of, cx, search.clone()).await?;
    let position = PagePosition::of(&search, &page, total)?;
    let mut reply = collection_reply(of, cx, call, page, search.window(), position).await?;
    if call.wants_allowed_actions {
        reply.allowed_actions = list_allowed_actions(of, cx, call.route, search.site()).await?;
        reply.allowed_actions.actions = offer::available_actions(cx, call.route, None).await?;
    }
    Ok(reply)
}

pub(crate) fn create<'a, P: Create>(
    cx: &'a Context,
    call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(run_create(kind::creates::<P>(), cx, call))
}

async fn run_create(of: &dyn Creates, cx: &Context, call: Call<'_>) -> Result<Reply> {
    let item = items::create(of, cx, call.input).await?;
    call.preconditions.judge_absence()?;
    let reference = Reference::entity(of.prefix(), item.id());
    entity_reply(of, cx, call, item, Effect::Created(reference)).await
}

pub(crate) fn create_form<'a, P: Create>(
    cx: &'a Context,
    _call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(run_create_form(kind::kind::<P>(), cx))
}

async fn run_create_form(of: &dyn Kind, cx: &Context) -> Result<Reply> {
    gate::admit(cx.caller(), of.access().create)?;
    match items::may_create(of, cx, None).await? {
        true => form_reply(of, cx, None, FormPurpose::Create),
        false => Err(Error::forbidden()),
    }
}

pub(crate) fn update<'a, P: Update>(
    cx: &'a Context,
    call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(run_update(kind::updates::<P>(), cx, call))
}

async fn run_update(of: &dyn Updates, cx: &Context, call: Call<'_>) -> Result<Reply> {
    if call.is_form() {
        return form_about(of, cx, call.id, Operation::Update, FormPurpose::Update).await;
    }
    let item = items::update(of, cx, call.id, call.input, call.preconditions).await?;
    let reference = Reference::entity(of.prefix(), item.id());
    entity_reply(of, cx, call, item, Effect::Updated(reference)).await
}

pub(crate) fn delete<'a, P: Delete>(
    cx: &'a Context,
    call: Call<'a>,
) -> BoxFuture<'a, Result<Reply>> {
    Box::pin(run_delete(kind::deletes::<P>(), cx, call))
}

async fn run_delete(of: &dyn Deletes, cx: &Context, call: Call<'_>) -> Result<Reply> {
    if call.is_form() {
        return form_about(of, cx, call.id, Operation::Delete, FormPurpose::Delete).await;
    }
    let reference = items::delete(of, cx, call.id, call.preconditions).await?;
    Ok(Reply {
        body: Body::Empty,
        effect: Effect::Deleted(reference),
        allowed_actions: AllowedActions::default(),
        headers: Vec::new(),
    })
}

/// Returns the form with which the caller may do `operation` with an entity.
async fn form_about(
    of: &dyn Reads,
    cx: &Context,
    id: &str,
    operation: Operation,
    purpose: FormPurpose,
) -> Result<Reply> {
    let item = items::read(of, cx, id).await?;
    match items::may(of, cx, item.entity(), operation).await? {
        true => form_reply(of, cx, Some(item), purpose),
        false => Err(Error::forbidden()),
    }
}

impl Call<'_> {
    /// Returns whether the call asks for the form of the operation and not for the operation itself.
    fn is_form(self) -> bool {
        self.verb.is_safe()
    }
}
