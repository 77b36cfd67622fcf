//! The check of a caller's permission to run an operation, without running it.

use crate::contract::access::Need;
use crate::contract::context::Context;
use crate::contract::gate::{self, items};
use crate::contract::input::Fields;
use crate::contract::kind::{self, Creates, Reads, Updates};
use crate::contract::provider::{Create, Read, Update};
use crate::contract::registry::{Call, Permitted};
use crate::primitives::error::Result;

pub(crate) fn create<'a, P: Create>(cx: &'a Context, call: Call<'a>) -> Permitted<'a> {
    Box::pin(check_creation(kind::creates::<P>(), cx, call))
}

async fn check_creation(of: &dyn Creates, cx: &Context, call: Call<'_>) -> Result<Fields> {
    let fields = items::creation(of, cx, call.input).await?;
    items::draft(of, cx, fields.clone()).await?;
    Ok(fields)
}

pub(crate) fn update<'a, P: Update>(cx: &'a Context, call: Call<'a>) -> Permitted<'a> {
    Box::pin(check_update(kind::updates::<P>(), cx, call))
}

async fn check_update(of: &dyn Updates, cx: &Context, call: Call<'_>) -> Result<Fields> {
    let (_current, _stored, fields) = items::revision(of, cx, call.id, call.input).await?;
    of.decode(fields.clone())?;
    Ok(fields)
}

pub(crate) fn action_on_entity<'a, P: Read>(cx: &'a Context, call: Call<'a>) -> Permitted<'a> {
    Box::pin(check_action(kind::reads::<P>(), cx, call))
}

async fn check_action(of: &dyn Reads, cx: &Context, call: Call<'_>) -> Result<Fields> {
    items::read_to_act(of, cx, call.id, call.need.unwrap_or(Need::Superuser)).await?;
    Ok(Fields(call.input.fields.clone()))
}

pub(crate) fn action_on_collection<'a>(cx: &'a Context, call: Call<'a>) -> Permitted<'a> {
    Box::pin(async move {
        gate::demand_in_site(cx, call.need.unwrap_or(Need::Superuser), call.site()).await?;
        Ok(Fields(call.input.fields.clone()))
    })
}
