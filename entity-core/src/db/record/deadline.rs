//! Deadlines in the calendar of a site.

use futures::future::BoxFuture;

use super::any::AnyRecord;
use crate::DateTimeUtc;
use crate::contract::context::Context;
use crate::primitives::error::Result;
use crate::primitives::reference::Reference;

/// The deadline of an entity whose type is declared with `deadline = …`, as the calendar of its site shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The site.
    pub site: String,
    /// The title of the entity.
    pub title: String,
    /// The instant.
    pub at: DateTimeUtc,
    /// The field with the instant, as clients name it.
    pub field: &'static str,
    /// The internal id of the account that the entity belongs to; empty if there is none.
    pub creator: String,
    /// The ids of the groups that the entity is for; none means everybody in the site.
    pub groups: Vec<String>,
}

/// The calendar: it creates, changes or deletes what shows the deadline of the entity with a reference such as `/loan/7`.
#[derive(derive_more::Debug, Clone, Copy)]
#[debug("DeadlineFollower")]
pub struct DeadlineFollower(
    pub for<'a> fn(&'a Context, String, Option<Deadline>) -> BoxFuture<'a, Result<()>>,
);

inventory::collect!(DeadlineFollower);

/// Lets the calendar show the deadline of `record`, which was just written, or forget it if it `is_gone`.
pub(super) async fn follow(cx: &Context, record: &dyn AnyRecord, is_gone: bool) -> Result<()> {
    let Some((prefix, field)) = record.constants().deadline else {
        return Ok(());
    };
    let at = record.deadline().filter(|_| !is_gone);
    let deadline = record.site().zip(at).map(|(site, at)| Deadline {
        site: site.to_owned(),
        title: record.title(),
        at,
        field,
        creator: record.owner().unwrap_or_default().to_owned(),
        groups: record.groups().to_vec(),
    });
    let cause = Reference::entity(prefix, record.key()).to_string();
    for follower in inventory::iter::<DeadlineFollower> {
        (follower.0)(cx, cause.clone(), deadline.clone()).await?;
    }
    Ok(())
}
