//! What an author writes: a provider and the capabilities it has.
//!
//! A provider is reached only through the [`gate`](crate::gate), which has already looked up permissions
//! when one of these methods runs. None of them checks a permission itself.

use std::future::{Future, ready};

use serde::de::DeserializeOwned;

use crate::access::{Access, Operation, Permit};
use crate::action::Action;
use crate::context::Context;
use crate::entity::Entity;
use crate::error::{ErrorKind, Result};
use crate::search::{MAX_LIMIT, Page, Search};

/// A type of entity, under a prefix of its own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provider",
    note = "implement `entity_core::Provider`, or derive `Entity` with `prefix`, `table`, `access` and `verbs`"
)]
pub trait Provider: Send + Sync + Sized + 'static {
    /// One of its things.
    type Entity: Entity;

    /// The first segment of its URLs: lower case letters, digits, `-` and `_`.
    const PREFIX: &'static str;

    /// What people call several of them, such as `People`: the heading of the list. Without it, it is made of
    /// the prefix: `poll` → `Polls`.
    const PLURAL: Option<&'static str> = None;

    /// What it demands of those who read and write.
    const ACCESS: Access;

    /// Its tables whose rows count as what an account and a site have. A type whose table the service looks after
    /// needs to say nothing: see [`Counted::of`](crate::db::Counted::of).
    #[cfg(feature = "sea-orm")]
    const COUNTED: &'static [crate::db::Counted] = &[];

    /// Narrows [`ACCESS`](Self::ACCESS) for one entity: drafts, owners, groups.
    ///
    /// The gate asks for every entity that goes out and for every one that is written: before an update or a
    /// deletion with the entity as it was, after a creation or an update with the entity as it is now.
    /// The second answer is given inside the unit of work, so what it looks up is the new state already. A
    /// rule about what the caller is or holds must therefore be decided by the first answer, or by
    /// `create` or `update` before they write: a change that gives the caller a role would otherwise
    /// permit itself.
    ///
    /// # Errors
    /// The question could not be decided; the request fails and nothing is written.
    fn permits(
        _cx: &Context,
        _entity: &Self::Entity,
        _operation: Operation,
    ) -> impl Future<Output = Result<Permit>> + Send {
        ready(Ok(Permit::Allowed))
    }

    /// Whether pages offer to create an entity, in `site` or, without one, at all. Asked where
    /// [`ACCESS`](Self::ACCESS) demands no more than a session for it, because what it takes depends on what
    /// is created. It permits nothing: [`permits`](Self::permits) does.
    ///
    /// # Errors
    /// The question could not be decided.
    fn offers_creation(
        _cx: &Context,
        _site: Option<&str>,
    ) -> impl Future<Output = Result<bool>> + Send {
        ready(Ok(true))
    }
}

/// It can look up one entity: `GET /prefix/id`.
pub trait Read: Provider {
    /// The entity with this id; `None` if there is none.
    ///
    /// # Errors
    /// The data can't be read. A missing entity is no error.
    fn read(cx: &Context, id: &str) -> impl Future<Output = Result<Option<Self::Entity>>> + Send;

    /// The entities with these ids, in any order, without those that don't exist. Lists that refer to this
    /// type ask once for all they show: a type that is referred to answers with one look at its data.
    /// Without a method of its own it looks once for each, and leaves out what it refuses.
    ///
    /// # Errors
    /// The data can't be read. A missing entity is no error.
    fn read_many(
        cx: &Context,
        ids: &[String],
    ) -> impl Future<Output = Result<Vec<Self::Entity>>> + Send {
        async move {
            let mut found = Vec::new();
            for id in ids {
                match Self::read(cx, id).await {
                    Ok(entity) => found.extend(entity),
                    Err(error) if error.kind() == ErrorKind::Forbidden => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        }
    }
}

/// It can list its entities: `GET /prefix`.
pub trait List: Provider {
    /// Query parameters beyond the fields of the schema, each with what it does.
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[];

    /// Most entities in one answer.
    const MAX: u64 = MAX_LIMIT;

    /// The order of a list that asks for none, as `_order` has it. Its last key is a field that no two
    /// entities share: it breaks the ties of every other order. Nothing stands for the id.
    const ORDER: &'static str = "";

    /// The entities that `search` asks for, of those sites only that `search.scope` holds.
    /// What the caller may not see is left out already here, so that pages are full.
    /// [`db::apply`](crate::db::apply) and [`search::select`](crate::search::select()) do all that a search
    /// says, the one in SQL and the other in memory.
    ///
    /// # Errors
    /// A parameter of the type's own is wrong; the data can't be read.
    fn list(
        cx: &Context,
        search: &Search,
    ) -> impl Future<Output = Result<Page<Self::Entity>>> + Send;

    /// How many entities `search` asks for in all, whatever part of them is wanted. `None` if only looking at
    /// them tells, because [`permits`](Provider::permits) hides some that [`list`](List::list) finds.
    ///
    /// # Errors
    /// Those of [`list`](List::list).
    fn count(_cx: &Context, _search: &Search) -> impl Future<Output = Result<Option<u64>>> + Send {
        ready(Ok(None))
    }
}

/// It can create an entity: `POST /prefix`.
pub trait Create: Provider {
    /// What a client sends, after the schema was applied to it.
    type Draft: DeserializeOwned + Send + Sync;

    /// The site in which the entity would be; permissions are looked up there.
    fn site(draft: &Self::Draft) -> Option<&str>;

    /// Creates it, with an id that no other entity of the type has.
    ///
    /// # Errors
    /// The draft contradicts itself or what there is already; the data can't be written.
    fn create(
        cx: &Context,
        draft: Self::Draft,
    ) -> impl Future<Output = Result<Self::Entity>> + Send;
}

/// It can change an entity: `PUT /prefix/id`.
pub trait Update: Read {
    /// What a client sends: some fields, after the schema was applied to them.
    type Changes: DeserializeOwned + Send + Sync;

    /// Changes `current`, which was read in this same unit of work, and answers it as it is now.
    ///
    /// Not called where the fields that were sent have the values already that `current` shows: a write that
    /// changes nothing writes nothing.
    ///
    /// # Errors
    /// The changes contradict what there is; somebody else was faster; the data can't be written.
    fn update(
        cx: &Context,
        current: Self::Entity,
        changes: Self::Changes,
    ) -> impl Future<Output = Result<Self::Entity>> + Send;
}

/// It can delete an entity: `DELETE /prefix/id`.
pub trait Delete: Read {
    /// Deletes `current`, which was read in this same unit of work.
    ///
    /// # Errors
    /// Something still needs the entity; the data can't be written.
    fn delete(cx: &Context, current: Self::Entity) -> impl Future<Output = Result<()>> + Send;
}

/// It has verbs of its own: `/prefix/action`, `/prefix/id/action`.
pub trait Actions: Read {
    /// The actions. Asked once, when the service starts; two of one name differ in verb or in what they are on.
    fn actions() -> Vec<Action<Self>>;
}
