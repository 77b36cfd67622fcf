//! A step before the unit of work: what takes long and needs no data is done while nobody waits for the store.
//!
//! Where a provider declares [`Prepare`], a write of its type goes this way: a session that only reads finds out
//! whether the request is well-formed, its entity there and the caller allowed to write it, and is given back;
//! the work is done; the unit of work opens, and everything is checked again, because meanwhile it may have
//! changed. Other types take no such way.

use std::any::Any;
use std::fmt;
use std::future::{Future, ready};
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::access::Need;
use crate::context::{Context, Shared};
use crate::error::{Error, Result};
use crate::gate;
use crate::html::LongTexts;
use crate::input::Fields;
use crate::provider::{Create, Provider, Read, Update};
use crate::registry::Call;

/// It turns something of what a client sends into something else, which takes long: a password into its hash.
///
/// ```
/// use entity_core::{Context, Fields, Prepare, Result};
///
/// async fn update<P: Prepare<Raw = String, Prepared = u64>>(cx: &Context, changes: &Fields) -> Result<()> {
///     if let Some(text) = P::raw(changes) {
///         let _sum = cx.prepared::<P>(&text).await?;
///     }
///     Ok(())
/// }
/// ```
pub trait Prepare: Provider {
    /// What it is made of.
    type Raw: PartialEq + Send + Sync + 'static;
    /// What it is turned into.
    type Prepared: Send + Sync + 'static;

    /// What there is to be prepared in these fields of a creation, of a change, or of the body of an action
    /// that is declared [`prepared`](crate::Action::prepared). Long HTML in them is not sanitised yet where they are
    /// looked at ahead: what is made of it is made again in the unit of work.
    fn raw(fields: &Fields) -> Option<Self::Raw>;

    /// Adds to `raw` what the data say: asked by the session that finds out whether the entity `id`, which is empty for
    /// one that is created, may be written. The unit of work asks again: where it finds something else, the work is
    /// done anew.
    ///
    /// # Errors
    /// The request is refused for what the data say.
    fn complete(
        _cx: &Context,
        _id: &str,
        raw: Self::Raw,
    ) -> impl Future<Output = Result<Self::Raw>> + Send {
        ready(Ok(raw))
    }

    /// Does the work. It sees no data, which may be otherwise when the unit of work opens.
    ///
    /// # Errors
    /// `raw` is not to be had in this way; the request is refused for it.
    fn prepare(
        shared: &Shared,
        raw: &Self::Raw,
    ) -> impl Future<Output = Result<Self::Prepared>> + Send;
}

/// What was prepared for one request: nothing, for most.
#[derive(Clone, Default)]
pub struct Preparation {
    /// What the provider made.
    made: Option<MadeByProvider>,
    /// Its long texts.
    pub(crate) texts: Arc<LongTexts>,
}

impl Preparation {
    /// Only `texts`.
    pub(crate) fn of(texts: LongTexts) -> Self {
        Self {
            made: None,
            texts: Arc::new(texts),
        }
    }

    /// This one and what [`Work`] made.
    pub(crate) fn and(self, made: Option<MadeByProvider>) -> Self {
        Self { made, ..self }
    }
}

/// What a provider made, of whatever type.
pub(crate) type MadeByProvider = Arc<dyn Any + Send + Sync>;

/// What was made of what, for the provider `P`.
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
    /// What the provider makes of `raw`. It was made before this unit of work opened, unless `raw` was not
    /// known then: because the difference that a patch tells came to something else, or because an earlier
    /// request of the same unit of work had a part in it. Then it is made now.
    ///
    /// # Errors
    /// Those of [`Prepare::prepare`].
    pub async fn prepared<P: Prepare>(&self, raw: &P::Raw) -> Result<Arc<P::Prepared>> {
        let made = self.preparation.made.as_deref();
        match made.and_then(|it| it.downcast_ref::<Made<P>>()) {
            Some(made) if made.raw == *raw => Ok(Arc::clone(&made.prepared)),
            _ => P::prepare(&self.shared, raw).await.map(Arc::new),
        }
    }
}

/// Finds out whether an operation would be run, and with which fields.
pub(crate) type Check =
    for<'a> fn(&'a Context, Call<'a>, Option<Need>) -> BoxFuture<'a, Result<Fields>>;

/// What there is to prepare: the [`Prepare::Raw`] of a provider.
pub(crate) type Raw = Box<dyn Any + Send + Sync>;

/// What there is to prepare in these fields, which are of the entity with this id.
type Look = for<'a> fn(&'a Context, &'a str, &'a Fields) -> BoxFuture<'a, Result<Option<Raw>>>;

/// Prepares it.
type Work = fn(Arc<Shared>, Raw) -> BoxFuture<'static, Result<MadeByProvider>>;

/// What a type does ahead of its writes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ahead {
    pub(crate) create: Option<Check>,
    pub(crate) update: Option<Check>,
    /// How it is found and how it is done.
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
    Box::pin(async move {
        let fields = gate::creation::<P>(cx, call.input)?;
        let draft: P::Draft = fields.clone().decode()?;
        gate::demand_in_site(cx, P::ACCESS.create, P::site(&draft)).await?;
        Ok(fields)
    })
}

pub(crate) fn update<'a, P: Update>(
    cx: &'a Context,
    call: Call<'a>,
    _need: Option<Need>,
) -> BoxFuture<'a, Result<Fields>> {
    Box::pin(async move {
        let (current, fields) = gate::revision::<P>(cx, call.id, call.input).await?;
        let _changes: P::Changes = fields.clone().decode()?;
        call.preconditions.judge_write(gate::state(&current))?;
        Ok(fields)
    })
}

pub(crate) fn action_on_entity<'a, P: Read>(
    cx: &'a Context,
    call: Call<'a>,
    need: Option<Need>,
) -> BoxFuture<'a, Result<Fields>> {
    Box::pin(async move {
        gate::read_to_act::<P>(cx, call.id, need.unwrap_or(Need::Superuser)).await?;
        Ok(Fields(call.input.fields.clone()))
    })
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
