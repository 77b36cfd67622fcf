//! The traits that the author of an entity type implements: [`Provider`] and one trait for each capability.
//!
//! A provider is called only through the [`gate`](crate::gate), which checks permissions around each call. None of
//! these methods checks a permission itself.

use std::borrow::Cow;
use std::future::{Future, ready};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::contract::access::{Access, Operation, Permit};
use crate::contract::action::Action;
use crate::contract::context::Context;
use crate::contract::input::Input;
use crate::contract::search::{Grammar, MAX_LIMIT, Order, Page, Search};
use crate::model::entity::Entity;
use crate::model::schema::Field;
use crate::primitives::error::{ErrorKind, Result};
use crate::primitives::reference::Reference;

/// A type of entity that is served under its own URL prefix.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a provider",
    note = "implement `entity_core::Provider`, or derive `Entity` with `prefix`, `table`, `access` and `verbs`"
)]
pub trait Provider: Send + Sync + Sized + 'static {
    /// The type of a single entity.
    type Entity: Entity;

    /// The first segment of the type's URLs: lower case letters, digits, `-` and `_`, beginning with a letter.
    const PREFIX: &'static str;

    /// True if the list of all entities is for few people, so that pages do not lead to it.
    const IS_UNLISTED: bool = false;

    /// The path below the prefix at which callers find their own entities, such as `me`: empty for the list itself. The
    /// start page of the portal leads there.
    const OWN: Option<&'static str> = None;

    /// The tool of a site that shows the entities, such as `example.loans`: where a site has it, the menu of the site leads to
    /// their list. Without one, the tool is called as the prefix.
    const TOOL: &'static str = Self::PREFIX;

    /// The plural name of the type, such as `People`: the heading of its list. Without one, it is derived from the
    /// prefix: `poll` → `Polls`.
    const PLURAL: Option<&'static str> = None;

    /// The kinds of events of the type that streams and webhooks tell only those who hold the function of this name in the
    /// site: they say more than the entity shows to others yet, as that work was graded says before the grade is returned.
    const FOR_HOLDERS: &'static [&'static str] = &[];

    /// The name of one entity of the type, such as `Person`. Without one, it is derived from the prefix: `poll` → `Poll`.
    const SINGULAR: Option<&'static str> = None;

    /// The permissions that reading and writing require.
    const ACCESS: Access;

    /// The tables whose rows count towards the usage of an account and of a site. A type whose table is managed by the
    /// service can leave this empty: see [`Counted::of`](crate::db::Counted::of).
    #[cfg(feature = "sea-orm")]
    const COUNTED: &'static [crate::model::counted::Counted] = &[];

    /// The tables whose rows are part of the archive of a site. A type whose entities are records can leave this empty:
    /// its rows, its children and the groups of its entities are part of it anyway.
    #[cfg(feature = "sea-orm")]
    const ARCHIVED: &'static [crate::model::archived::Archived] = &[];

    /// False if the rows of the type are no part of the archive of a site.
    #[cfg(feature = "sea-orm")]
    const IS_ARCHIVED: bool = true;

    /// Narrows [`ACCESS`](Self::ACCESS) for a single entity, for example for drafts, owners or groups.
    ///
    /// The gate calls this for every entity that is returned and for every entity that is written: before an update or
    /// a deletion with the entity's old state, after a creation or an update with its new state. The second call runs
    /// inside the unit of work, so its queries already see the new state. A rule about what the caller is or holds must
    /// therefore be decided by the first call, or by `create` or `update` before they write: a change that gives the
    /// caller a role would otherwise permit itself.
    ///
    /// # Errors
    /// Returns an error if the permission can't be decided; the request then fails and nothing is written.
    fn permits(
        _cx: &Context,
        _entity: &Self::Entity,
        _operation: Operation,
    ) -> impl Future<Output = Result<Permit>> + Send {
        ready(Ok(Permit::Allowed))
    }

    /// Returns whether the caller has done what the entity asks for, such as handing in work. Returns `None` if it asks for
    /// nothing that the type keeps. What is known here is believed nobody: lessons ask before they count an item as done.
    ///
    /// # Errors
    /// Returns an error if the data can't be read.
    fn is_done(
        _cx: &Context,
        _entity: &Self::Entity,
    ) -> impl Future<Output = Result<Option<bool>>> + Send {
        ready(Ok(None))
    }

    /// Checks a row of the type's table that comes with the archive of `site`, by what the type would never store there.
    /// The columns have the right kinds, and the ids in them are of this site. The error tells what the row is or has.
    ///
    /// # Errors
    /// Returns a message if the row is none that the type could have stored.
    fn check_archived(_row: &Map<String, Value>, _site: &str) -> Result<(), String> {
        Ok(())
    }

    /// Returns whether pages offer to create an entity, in `site` or, without one, at all. This is called only if
    /// [`ACCESS`](Self::ACCESS) requires no more than a session for a creation, because the requirements then depend on
    /// what is created. The result grants nothing: [`permits`](Self::permits) decides.
    ///
    /// # Errors
    /// Returns an error if the question can't be decided.
    fn offers_creation(
        _cx: &Context,
        _site: Option<&str>,
    ) -> impl Future<Output = Result<bool>> + Send {
        ready(Ok(true))
    }
}

/// The capability to look up one entity: `GET /prefix/id`.
pub trait Read: Provider {
    /// Returns the entity with this id, or `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the data can't be read. A missing entity is not an error.
    fn read(cx: &Context, id: &str) -> impl Future<Output = Result<Option<Self::Entity>>> + Send;

    /// Returns the entities with these ids, in any order, without those that don't exist. A list that expands
    /// references to this type passes many ids in one call, so a type that is referred to should read them with one
    /// query. The default implementation reads the entities one by one and skips those whose `read` fails with
    /// `Forbidden`.
    ///
    /// # Errors
    /// Returns an error if the data can't be read. A missing entity is not an error.
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

/// The capability to list entities: `GET /prefix`.
pub trait List: Provider {
    /// The query parameters besides the fields of the schema, each as its name and its description.
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[];

    /// The maximum number of entities in one reply.
    const MAX: u64 = MAX_LIMIT;

    /// The default order of the list, in the syntax of `_order`. Its last key must be a field with a unique value for
    /// each entity, because it breaks the ties of every other order. An empty string orders by the id.
    const ORDER: &'static str = "";

    /// The field with the instant until which lists with `_first=coming` show an entity at the beginning.
    const OVER: Option<&'static Field> = None;

    /// Returns the entities that `search` asks for, limited to the sites in `search.scope`. Entities that the caller
    /// may not see should be left out already here, so that pages are full. [`db::list`](crate::db::list) in SQL and
    /// [`search::select`](crate::search::select()) in memory apply the scope, filters, words, order and page of a search.
    ///
    /// # Errors
    /// Returns an error if one of the type's own parameters is wrong or the data can't be read.
    fn list(
        cx: &Context,
        search: &Search,
    ) -> impl Future<Output = Result<Page<Self::Entity>>> + Send;

    /// Returns the total number of entities that `search` matches, whatever page is requested. Returns `None` if the
    /// number is known only after looking at each entity, because [`permits`](Provider::permits) hides some that
    /// [`list`](List::list) finds.
    ///
    /// # Errors
    /// Fails as [`list`](List::list) does.
    fn count(_cx: &Context, _search: &Search) -> impl Future<Output = Result<Option<u64>>> + Send {
        ready(Ok(None))
    }
}

/// The capability to create an entity: `POST /prefix`.
pub trait Create: Provider {
    /// The data that a client sends for a new entity, after validation against the schema.
    type Draft: DeserializeOwned + Send + Sync;

    /// Returns the site that the entity would belong to; permissions are looked up there.
    fn site(draft: &Self::Draft) -> Option<&str>;

    /// Brings what a client sent into the form that the schema declares, before it is checked. This is for types whose
    /// clients send a field in several forms, or know another status for some faults.
    ///
    /// # Errors
    /// Returns an error if the input is refused.
    fn adapt(sent: &Input) -> Result<Cow<'_, Input>> {
        Ok(Cow::Borrowed(sent))
    }

    /// Creates the entity, with an id that no other entity of the type has.
    ///
    /// # Errors
    /// Returns an error if the draft contradicts itself or existing data, or if the data can't be written.
    fn create(
        cx: &Context,
        draft: Self::Draft,
    ) -> impl Future<Output = Result<Self::Entity>> + Send;
}

/// The capability to change an entity: `PUT /prefix/id`.
pub trait Update: Read {
    /// The data that a client sends for a change: some of the fields, after validation against the schema.
    type Changes: DeserializeOwned + Send + Sync;

    /// Changes `current`, which was read in the same unit of work, and returns the changed entity.
    ///
    /// This is not called if the sent fields already have the values that `current` shows: a write that changes nothing
    /// writes nothing.
    ///
    /// # Errors
    /// Returns an error if the changes contradict existing data, if a concurrent write came first, or if the data can't
    /// be written.
    fn update(
        cx: &Context,
        current: Self::Entity,
        changes: Self::Changes,
    ) -> impl Future<Output = Result<Self::Entity>> + Send;
}

/// The capability to delete an entity: `DELETE /prefix/id`.
pub trait Delete: Read {
    /// Deletes `current`, which was read in the same unit of work.
    ///
    /// # Errors
    /// Returns an error if something still needs the entity or the data can't be written.
    fn delete(cx: &Context, current: Self::Entity) -> impl Future<Output = Result<()>> + Send;
}

/// The capability to run actions, which are named operations of the type: `/prefix/action`, `/prefix/id/action`.
pub trait Actions: Read {
    /// Returns the actions of the type. This is called once, when the service starts. Two actions of the same name must
    /// differ in their verb or in whether they run on an entity or on the collection.
    fn actions() -> Vec<Action<Self>>;
}

impl Context {
    /// Emits an event as [`emit`](Self::emit) does: `kind` happened to `entity`, in its site.
    pub fn emit_about<P: Provider>(&self, kind: impl Into<String>, entity: &P::Entity) {
        let reference = Reference::entity(P::PREFIX, entity.id());
        self.emit(kind, reference.to_string(), entity.site());
    }
}

impl Grammar {
    /// Returns the grammar of the lists of `P`.
    ///
    /// # Errors
    /// Returns an error if lists can't be ordered by a field in [`List::ORDER`]; the registry refuses such a type.
    pub fn of<P: List>() -> Result<Self> {
        let schema = P::Entity::schema();
        Ok(Self {
            prefix: P::PREFIX,
            schema,
            parameters: P::PARAMETERS.iter().map(|(name, _)| *name).collect(),
            order: Order::declared(P::ORDER, schema)?,
            over: P::OVER,
            max: P::MAX,
        })
    }
}
