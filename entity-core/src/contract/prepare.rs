//! Preparation before the unit of work: slow work that needs no data is done while nobody waits for the store.
//!
//! Where a provider declares [`Prepare`], a write of its type takes these steps: a session that only reads finds out
//! whether the request is well-formed, its entity exists and the caller may write it, and is given back; the work is
//! done; the unit of work opens, and everything is checked again, because it may have changed meanwhile. A creation or
//! an update with long HTML takes the same steps; most other writes skip them.

use std::any::Any;
use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::contract::access::Need;
use crate::contract::context::{Context, Shared};
use crate::contract::gate::{self, items};
use crate::contract::html::LongTexts;
use crate::contract::input::Fields;
use crate::contract::kind::{self, Creates, Reads, Updates};
use crate::contract::provider::{Create, Provider, Read, Update};
use crate::contract::registry::Call;
use crate::words::error::{Error, Result};

/// A provider that converts something that clients send, which takes long: for example a password into its hash.
///
/// ```
/// use entity_core::engine::Prepare;
/// use entity_core::{Context, Fields, Result};
///
/// async fn update<P: Prepare<Raw = String, Prepared = u64>>(cx: &Context, changes: &Fields) -> Result<()> {
///     if let Some(text) = P::raw(changes) {
///         let _sum = cx.prepared::<P>(&text).await?;
///     }
///     Ok(())
/// }
/// ```
pub trait Prepare: Provider {
    /// The input of the conversion.
    type Raw: PartialEq + Send + Sync + 'static;
    /// The result of the conversion.
    type Prepared: Send + Sync + 'static;

    /// Returns the value to prepare from these fields of a creation, of a change, or of the body of an action that is
    /// declared [`prepared`](crate::Action::prepared), or `None` if there is nothing to prepare. Long HTML in the
    /// fields is not sanitised yet when they are looked at ahead of the unit of work: a value that contains it differs
    /// in the unit of work, so the work is done again.
    fn raw(fields: &Fields) -> Option<Self::Raw>;

    /// Adds to `raw` what depends on the data. Called in the session that finds out whether the entity `id` may be
    /// written; `id` is empty for a creation. The provider calls this again in the unit of work: if the result differs,
    /// the work is done again.
    ///
    /// # Errors
    /// Returns an error if the request is refused because of the data.
    fn complete(
        _cx: &Context,
        _id: &str,
        raw: Self::Raw,
    ) -> impl Future<Output = Result<Self::Raw>> + Send {
        ready(Ok(raw))
    }

    /// Does the work. It sees no data, which may have changed when the unit of work opens.
    ///
    /// # Errors
    /// Returns an error if `raw` can't be prepared; the request is then refused with this error.
    fn prepare(
        shared: &Shared,
        raw: &Self::Raw,
    ) -> impl Future<Output = Result<Self::Prepared>> + Send;
}

/// The results of the preparation of one request; empty for most requests.
#[derive(Clone, Default)]
pub struct Preparation {
    /// The result of the work of the provider.
    made: Option<MadeByProvider>,
    /// The long texts of the request.
    pub(crate) texts: Arc<LongTexts>,
}

impl Preparation {
    /// Creates a preparation with `texts` only.
    pub(crate) fn of(texts: LongTexts) -> Self {
        Self {
            made: None,
            texts: Arc::new(texts),
        }
    }

    /// Adds the result of [`Work`].
    pub(crate) fn and(self, made: Option<MadeByProvider>) -> Self {
        Self { made, ..self }
    }
}

/// The result of the work of a provider, of any type.
pub(crate) type MadeByProvider = Arc<dyn Any + Send + Sync>;

/// The result of the work of the provider `P`, with its input.
struct Made<P: Prepare> {
    raw: P::Raw,
    prepared: Arc<P::Prepared>,
}

impl fmt::Debug for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.made {
            Some(_) => "Preparation(made)",
            None => "Preparation(nothing)",
        })
    }
}

impl Context {
    /// Returns what the provider makes of `raw`. It was made before this unit of work opened, unless `raw` was not
    /// known then: because a patch came to something else, or because an earlier request of the same unit of work
    /// affected it. In that case, it is made now.
    ///
    /// # Errors
    /// Fails as [`Prepare::prepare`] does.
    pub async fn prepared<P: Prepare>(&self, raw: &P::Raw) -> Result<Arc<P::Prepared>> {
        let made = self.preparation.made.as_deref();
        match made.and_then(|it| it.downcast_ref::<Made<P>>()) {
            Some(made) if made.raw == *raw => Ok(Arc::clone(&made.prepared)),
            _ => P::prepare(&self.shared, raw).await.map(Arc::new),
        }
    }
}

/// Checks whether an operation would run, and returns its fields.
pub(crate) type Check =
    for<'a> fn(&'a Context, Call<'a>, Option<Need>) -> BoxFuture<'a, Result<Fields>>;

/// The input of the work: the [`Prepare::Raw`] of a provider, of any type.
pub(crate) type Raw = Box<dyn Any + Send + Sync>;

/// Finds the input of the work in these fields of the entity with this id, if there is any.
type Look = for<'a> fn(&'a Context, &'a str, &'a Fields) -> BoxFuture<'a, Result<Option<Raw>>>;

/// Does the work on its input.
type Work = fn(Arc<Shared>, Raw) -> BoxFuture<'static, Result<MadeByProvider>>;

/// The steps that a type takes ahead of its writes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ahead {
    pub(crate) create: Option<Check>,
    pub(crate) update: Option<Check>,
    /// The functions that find the input of the work and that do the work.
    pub(crate) work: Option<(Look, Work)>,
}

pub(crate) fn look<'a, P: Prepare>(
    cx: &'a Context,
    id: &'a str,
    fields: &'a Fields,
) -> BoxFuture<'a, Result<Option<Raw>>> {
    Box::pin(async move {
        let Some(raw) = P::raw(fields) else {
            return Ok(None);
        };
        let raw: Raw = Box::new(P::complete(cx, id, raw).await?);
        Ok(Some(raw))
    })
}

pub(crate) fn work<P: Prepare>(
    shared: Arc<Shared>,
    raw: Raw,
) -> BoxFuture<'static, Result<MadeByProvider>> {
    Box::pin(async move {
        let Ok(raw) = raw.downcast::<P::Raw>() else {
            return Err(Error::internal("what is to be prepared is of another type"));
        };
        let raw = *raw;
        let prepared = Arc::new(P::prepare(&shared, &raw).await?);
        let made: MadeByProvider = Arc::new(Made::<P> { raw, prepared });
        Ok(made)
    })
}

pub(crate) fn create<'a, P: Create>(
    cx: &'a Context,
    call: Call<'a>,
    _need: Option<Need>,
) -> BoxFuture<'a, Result<Fields>> {
    Box::pin(check_creation(kind::creates::<P>(), cx, call))
}

async fn check_creation(of: &dyn Creates, cx: &Context, call: Call<'_>) -> Result<Fields> {
    let fields = items::creation(of, cx, call.input).await?;
    items::draft(of, cx, fields.clone()).await?;
    Ok(fields)
}

pub(crate) fn update<'a, P: Update>(
    cx: &'a Context,
    call: Call<'a>,
    _need: Option<Need>,
) -> BoxFuture<'a, Result<Fields>> {
    Box::pin(check_update(kind::updates::<P>(), cx, call))
}

async fn check_update(of: &dyn Updates, cx: &Context, call: Call<'_>) -> Result<Fields> {
    let (current, _stored, fields) = items::revision(of, cx, call.id, call.input).await?;
    of.decode(fields.clone())?;
    let state = items::state(cx, current.entity());
    call.preconditions.judge_write(state)?;
    Ok(fields)
}

pub(crate) fn action_on_entity<'a, P: Read>(
    cx: &'a Context,
    call: Call<'a>,
    need: Option<Need>,
) -> BoxFuture<'a, Result<Fields>> {
    Box::pin(check_action(kind::reads::<P>(), cx, call, need))
}

async fn check_action(
    of: &dyn Reads,
    cx: &Context,
    call: Call<'_>,
    need: Option<Need>,
) -> Result<Fields> {
    items::read_to_act(of, cx, call.id, need.unwrap_or(Need::Superuser)).await?;
    Ok(Fields(call.input.fields.clone()))
}

pub(crate) fn action_on_collection<'a>(
    cx: &'a Context,
    call: Call<'a>,
    need: Option<Need>,
) -> BoxFuture<'a, Result<Fields>> {
    Box::pin(async move {
        gate::demand_in_site(cx, need.unwrap_or(Need::Superuser), call.site()).await?;
        Ok(Fields(call.input.fields.clone()))
    })
}
