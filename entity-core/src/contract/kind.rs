//! Providers of any type behind `dyn`, as the gate and the routes use them, so that these are compiled once for all
//! types.
//!
//! There is a trait for each capability, implemented once for every provider that has it. Its functions convert the
//! entities and call the provider; they decide nothing, and check no permission.

use std::any::Any;
use std::borrow::Cow;
use std::marker::PhantomData;

use futures::future::BoxFuture;

use crate::contract::access::{Access, Operation, Permit};
use crate::contract::context::Context;
use crate::contract::input::{Fields, Input};
use crate::contract::provider::{Create, Delete, List, Provider, Read, Update};
use crate::contract::reply::Item;
use crate::contract::search::{Grammar, Page, Search};
use crate::model::any_entity::AnyEntity;
use crate::model::entity::Entity;
use crate::model::schema::Schema;
use crate::primitives::error::{Error, Result};

/// A provider as a value.
struct Of<P>(PhantomData<fn() -> P>);

/// The result of a function of a provider.
pub(crate) type Answer<'a, T> = BoxFuture<'a, Result<T>>;

/// The data that a client sent, decoded for the provider that takes it.
pub(crate) type Decoded = Box<dyn Any + Send>;

/// A type of entity.
pub(crate) trait Kind: Send + Sync {
    fn prefix(&self) -> &'static str;
    fn access(&self) -> Access;
    fn schema(&self) -> &'static Schema;
    fn permits<'a>(
        &self,
        cx: &'a Context,
        entity: &'a dyn AnyEntity,
        operation: Operation,
    ) -> Answer<'a, Permit>;
    fn offers_creation<'a>(&self, cx: &'a Context, site: Option<&'a str>) -> Answer<'a, bool>;
    /// Returns whether a form asks the caller for `field`: see [`Entity::is_asked`].
    fn asks(
        &self,
        entity: Option<&dyn AnyEntity>,
        caller: Option<&str>,
        field: &str,
    ) -> Result<bool>;
}

/// A type whose entities can be looked up.
pub(crate) trait Reads: Kind {
    fn read<'a>(&self, cx: &'a Context, id: &'a str) -> Answer<'a, Option<Item>>;
    fn read_many<'a>(&self, cx: &'a Context, ids: &'a [String]) -> Answer<'a, Vec<Item>>;
    fn is_done<'a>(&self, cx: &'a Context, entity: &'a dyn AnyEntity) -> Answer<'a, Option<bool>>;
}

/// A type whose entities can be listed.
pub(crate) trait Lists: Kind {
    fn grammar(&self) -> Result<Grammar>;
    fn most(&self) -> u64;
    fn list<'a>(&self, cx: &'a Context, search: &'a Search) -> Answer<'a, Page<Item>>;
    fn count<'a>(&self, cx: &'a Context, search: &'a Search) -> Answer<'a, Option<u64>>;
}

/// A type whose entities can be created.
pub(crate) trait Creates: Kind {
    fn adapt<'a>(&self, sent: &'a Input) -> Result<Cow<'a, Input>>;
    /// Decodes what was sent, and returns it with the site that it names.
    fn decode(&self, fields: Fields) -> Result<(Decoded, Option<String>)>;
    fn create<'a>(&self, cx: &'a Context, draft: Decoded) -> Answer<'a, Item>;
}

/// A type whose entities can be changed.
pub(crate) trait Updates: Reads {
    fn decode(&self, fields: Fields) -> Result<Decoded>;
    fn update<'a>(&self, cx: &'a Context, current: Item, changes: Decoded) -> Answer<'a, Item>;
}

/// A type whose entities can be deleted.
pub(crate) trait Deletes: Reads {
    fn delete<'a>(&self, cx: &'a Context, current: Item) -> Answer<'a, ()>;
}

pub(crate) fn kind<P: Provider>() -> &'static dyn Kind {
    &Of::<P>(PhantomData)
}

pub(crate) fn reads<P: Read>() -> &'static dyn Reads {
    &Of::<P>(PhantomData)
}

pub(crate) fn lists<P: List>() -> &'static dyn Lists {
    &Of::<P>(PhantomData)
}

pub(crate) fn creates<P: Create>() -> &'static dyn Creates {
    &Of::<P>(PhantomData)
}

pub(crate) fn updates<P: Update>() -> &'static dyn Updates {
    &Of::<P>(PhantomData)
}

pub(crate) fn deletes<P: Delete>() -> &'static dyn Deletes {
    &Of::<P>(PhantomData)
}

impl<P: Provider> Kind for Of<P> {
    fn prefix(&self) -> &'static str {
        P::PREFIX
    }
    fn access(&self) -> Access {
        P::ACCESS
    }
    fn schema(&self) -> &'static Schema {
        <P::Entity as Entity>::schema()
    }
    fn permits<'a>(
        &self,
        cx: &'a Context,
        entity: &'a dyn AnyEntity,
        operation: Operation,
    ) -> Answer<'a, Permit> {
        match entity.as_type() {
            Ok(entity) => Box::pin(P::permits(cx, entity, operation)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
    fn offers_creation<'a>(&self, cx: &'a Context, site: Option<&'a str>) -> Answer<'a, bool> {
        Box::pin(P::offers_creation(cx, site))
    }
    fn asks(
        &self,
        entity: Option<&dyn AnyEntity>,
        caller: Option<&str>,
        field: &str,
    ) -> Result<bool> {
        let entity = entity.map(|it| it.as_type()).transpose()?;
        Ok(<P::Entity as Entity>::is_asked(entity, caller, field))
    }
}

impl<P: Read> Reads for Of<P> {
    fn read<'a>(&self, cx: &'a Context, id: &'a str) -> Answer<'a, Option<Item>> {
        Box::pin(async move { Ok(P::read(cx, id).await?.map(item::<P>)) })
    }
    fn read_many<'a>(&self, cx: &'a Context, ids: &'a [String]) -> Answer<'a, Vec<Item>> {
        Box::pin(async move {
            let found = P::read_many(cx, ids).await?;
            Ok(found.into_iter().map(item::<P>).collect())
        })
    }
    fn is_done<'a>(&self, cx: &'a Context, entity: &'a dyn AnyEntity) -> Answer<'a, Option<bool>> {
        match entity.as_type() {
            Ok(entity) => Box::pin(P::is_done(cx, entity)),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }
}

impl<P: List> Lists for Of<P> {
    fn grammar(&self) -> Result<Grammar> {
        Grammar::of::<P>()
    }
    fn most(&self) -> u64 {
        P::MAX
    }
    fn list<'a>(&self, cx: &'a Context, search: &'a Search) -> Answer<'a, Page<Item>> {
        Box::pin(async move { Ok(P::list(cx, search).await?.map(item::<P>)) })
    }
    fn count<'a>(&self, cx: &'a Context, search: &'a Search) -> Answer<'a, Option<u64>> {
        Box::pin(P::count(cx, search))
    }
}

impl<P: Create> Creates for Of<P> {
    fn adapt<'a>(&self, sent: &'a Input) -> Result<Cow<'a, Input>> {
        P::adapt(sent)
    }
    fn decode(&self, fields: Fields) -> Result<(Decoded, Option<String>)> {
        let draft: P::Draft = fields.decode()?;
        let site = P::site(&draft).map(ToOwned::to_owned);
        Ok((Box::new(draft), site))
    }
    fn create<'a>(&self, cx: &'a Context, draft: Decoded) -> Answer<'a, Item> {
        Box::pin(async move { P::create(cx, decoded(draft)?).await.map(item::<P>) })
    }
}

impl<P: Update> Updates for Of<P> {
    fn decode(&self, fields: Fields) -> Result<Decoded> {
        let changes: P::Changes = fields.decode()?;
        Ok(Box::new(changes))
    }
    fn update<'a>(&self, cx: &'a Context, current: Item, changes: Decoded) -> Answer<'a, Item> {
        Box::pin(async move {
            let entity = P::update(cx, current.into_entity()?, decoded(changes)?).await?;
            Ok(item::<P>(entity))
        })
    }
}

impl<P: Delete> Deletes for Of<P> {
    fn delete<'a>(&self, cx: &'a Context, current: Item) -> Answer<'a, ()> {
        Box::pin(async move { P::delete(cx, current.into_entity()?).await })
    }
}

fn item<P: Provider>(entity: P::Entity) -> Item {
    Item::new(P::PREFIX, entity)
}

fn decoded<T: 'static>(sent: Decoded) -> Result<T> {
    let sent = sent.downcast().ok().map(|it| *it);
    sent.ok_or_else(|| Error::internal("what was sent is decoded for another type"))
}
