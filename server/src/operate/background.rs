//! Units of work that no request asked for.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use entity_core::engine::{Audit, Origin, ReadBudget};
use entity_core::{Caller, Context, Result};
use futures::future::BoxFuture;

use crate::operate::node::Node;

/// The time for which others have the database to themselves between two steps.
pub(crate) const PAUSE: Duration = Duration::from_millis(20);

/// The origin of what the service does by itself.
pub(crate) fn origin() -> Origin {
    Origin {
        caller: Caller::anonymous(),
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        request_id: "janitor".into(),
        method: "SWEEP".into(),
        path: "/".into(),
        read_budget: ReadBudget::default(),
    }
}

/// Runs `work` in a unit of work that nobody asked for: the audit log has nothing to tell.
///
/// # Errors
/// `work` fails, or the database can't be written.
pub(crate) async fn write<T, W>(node: &Node, origin: &Origin, work: W) -> Result<T>
where
    T: Send + 'static,
    W: for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<T>> + Send + Sync,
{
    let done = node.dispatcher.write(origin, |cx| {
        let done = work(cx);
        Box::pin(async move { Ok((done.await?, Audit::Later)) })
    });
    done.await
}
