//! Jobs: work that the service does by itself once in a period.
//!
//! ```
//! use std::time::Duration;
//!
//! use entity_core::{Context, Result};
//!
//! async fn expire(cx: &Context) -> Result<bool> {
//!     // Changes at most some hundred rows, and says whether there are more.
//!     Ok(false)
//! }
//! entity_core::register_job!(expire, every = Duration::from_hours(1));
//! ```
//!
//! Each call is one transaction, in which the service also notes that the job is done: so one node runs it once in a period,
//! and what fails leaves nothing behind and is tried again, after a minute at first and then less often. A job that says that
//! there is more to do is called again at once, in a transaction of its own. A call has the time that a request has, and others
//! wait for it to write: what may be long is done in parts.
//!
//! A job runs as nobody: it writes by the functions of [`db`](crate::db) and not by the [gate](crate::gate), and emits events
//! that have no actor. When the job ran last, and what is wrong with it, is in `lectern doctor` and in the metrics.

use std::time::Duration;

use futures::future::BoxFuture;

use crate::contract::context::Context;
use crate::primitives::error::Result;

/// Some work that a job does in one transaction; true if there is more.
pub type JobHook = for<'a> fn(&'a Context) -> BoxFuture<'a, Result<bool>>;

/// A job; created by [`register_job!`](crate::register_job).
#[derive(derive_more::Debug, Clone, Copy)]
#[debug("Job({name})")]
pub struct Job {
    /// The name: that of the crate, a dot, and that of the function.
    pub name: &'static str,
    /// The period.
    pub every: Duration,
    /// The work.
    pub hook: JobHook,
}

inventory::collect!(Job);

impl Job {
    /// Returns all jobs, by name.
    pub fn all() -> Vec<Self> {
        let mut all: Vec<_> = inventory::iter::<Self>.into_iter().copied().collect();
        all.sort_unstable_by_key(|it| it.name);
        all
    }
}

/// Registers an `async fn(&Context) -> Result<bool>` as a [job](crate::engine::Job) of the service:
/// `register_job!(expire, every = Duration::from_hours(1));`. It returns whether there is more to do.
#[macro_export]
macro_rules! register_job {
    ($hook:ident, every = $every:expr) => {
        $crate::inventory::submit! {
            $crate::engine::Job {
                name: concat!(env!("CARGO_PKG_NAME"), ".", stringify!($hook)),
                every: $every,
                hook: |cx| ::std::boxed::Box::pin($hook(cx)),
            }
        }
    };
}
