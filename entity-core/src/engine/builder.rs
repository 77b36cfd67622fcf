//! The builder of routes, which adds the capabilities of a provider one by one.

use std::sync::Arc;

use crate::contract::action::Action;
use crate::contract::blob::{Receive, ReceiveRoute};
use crate::contract::edge::Edge;
use crate::contract::permission;
use crate::contract::provider::{Actions, Create, Delete, List, Provider, Read, Update};
use crate::contract::registry::{ActionRoute, DefaultGrant, Route, Withheld};
use crate::engine::route;
use crate::model::entity::Entity as _;

/// A builder that adds capabilities to a route; [`register!`](crate::register) is the short form.
#[derive(derive_more::Debug)]
#[debug("RouteBuilder({})", self.route.prefix)]
pub struct RouteBuilder<P> {
    pub(super) route: Route,
    pub(super) provider: std::marker::PhantomData<P>,
}

impl Route {
    /// Begins the route of the provider `P`, which comes from the crate `origin` (name, version).
    pub fn of<P: Provider>(origin: (&'static str, &'static str)) -> RouteBuilder<P> {
        RouteBuilder {
            route: Self {
                prefix: P::PREFIX,
                is_unlisted: P::IS_UNLISTED,
                own: P::OWN,
                tool: P::TOOL,
                for_holders: P::FOR_HOLDERS,
                plural: P::PLURAL,
                singular: P::SINGULAR,
                origin,
                access: Some(P::ACCESS),
                schema: P::Entity::schema(),
                parameters: &[],
                max: 0,
                order: "",
                actions: Vec::new(),
                #[cfg(feature = "sea-orm")]
                table: None,
                #[cfg(feature = "sea-orm")]
                counted: P::COUNTED,
                #[cfg(feature = "sea-orm")]
                archived: P::ARCHIVED,
                #[cfg(feature = "sea-orm")]
                check_archived: P::check_archived,
                #[cfg(feature = "sea-orm")]
                is_archived: P::IS_ARCHIVED,
                grants: &[],
                #[cfg(feature = "sea-orm")]
                migrations: &[],
                demo: "",
                sight: Vec::new(),
                fault: None,
                read: None,
                load: None,
                done: None,
                list: None,
                create: None,
                create_form: None,
                update: None,
                delete: None,
                permit_create: None,
                permit_update: None,
                edge: None,
                receive: None,
            },
            provider: std::marker::PhantomData,
        }
    }
}

impl<P: Provider> RouteBuilder<P> {
    /// Adds the capability to look up one entity.
    #[must_use]
    pub fn read(mut self) -> Self
    where
        P: Read,
    {
        self.route.read = Some(route::read::<P>);
        self.route.load = Some(route::load::<P>);
        self.route.done = Some(route::is_done::<P>);
        self
    }

    /// Adds the capability to list entities.
    #[must_use]
    pub fn list(mut self) -> Self
    where
        P: List,
    {
        self.route.list = Some(route::list::<P>);
        self.route.parameters = P::PARAMETERS;
        self.route.max = P::MAX;
        self.route.order = P::ORDER;
        self
    }

    /// Adds the capability to create an entity.
    #[must_use]
    pub fn create(mut self) -> Self
    where
        P: Create,
    {
        self.route.create = Some(route::create::<P>);
        self.route.create_form = Some(route::create_form::<P>);
        self.route.permit_create = Some(permission::create::<P>);
        self
    }

    /// Adds the capability to change an entity.
    #[must_use]
    pub fn update(mut self) -> Self
    where
        P: Update,
    {
        self.route.update = Some(route::update::<P>);
        self.route.permit_update = Some(permission::update::<P>);
        self
    }

    /// Adds the capability to delete an entity.
    #[must_use]
    pub fn delete(mut self) -> Self
    where
        P: Delete,
    {
        self.route.delete = Some(route::delete::<P>);
        self
    }

    /// Adds the actions of the provider.
    #[must_use]
    pub fn actions(mut self) -> Self
    where
        P: Actions,
    {
        self.route.actions = P::actions().iter().map(erase).collect();
        self
    }

    /// Adds what the provider declares of the files that it takes.
    #[must_use]
    pub fn receive(mut self) -> Self
    where
        P: Receive,
    {
        self.route.receive = Some(ReceiveRoute::of::<P>());
        self
    }

    /// Adds the type's table.
    #[cfg(feature = "sea-orm")]
    #[must_use]
    pub fn table(mut self) -> Self
    where
        P::Entity: crate::db::Record,
    {
        let is_own = <P::Entity as crate::db::Record>::SOURCE.is_none();
        self.route.table = is_own.then_some(crate::model::table::TableSpec::of::<P::Entity>);
        (self.route.fault, self.route.sight) = crate::db::redaction::told::<P::Entity>();
        self
    }
}

impl<P> RouteBuilder<P> {
    /// Declares the functions of the type, each with the letters of the roles that hold it by default: see
    /// [`DefaultGrant`].
    #[must_use]
    pub fn grants(mut self, grants: &'static [DefaultGrant]) -> Self {
        self.route.grants = grants;
        self
    }

    /// Declares the migrations of the type, in order.
    #[cfg(feature = "sea-orm")]
    #[must_use]
    pub fn migrations(mut self, migrations: &'static [crate::model::migration::Migration]) -> Self {
        self.route.migrations = migrations;
        self
    }

    /// Declares the type's demo data, the text of a file.
    #[must_use]
    pub fn demo(mut self, demo: &'static str) -> Self {
        self.route.demo = demo;
        self
    }

    /// Declares the slow work that is done before a unit of work opens.
    #[must_use]
    pub fn edge(mut self, edge: Edge) -> Self {
        self.route.edge = Some(edge);
        self
    }

    /// Returns the finished route.
    pub fn build(self) -> Route {
        self.route
    }
}

fn erase<P: Provider + Read>(action: &Action<P>) -> ActionRoute {
    ActionRoute {
        name: action.name,
        verb: action.verb,
        need: action.need,
        is_on_entity: action.is_on_entity(),
        doc: action.doc,
        parameters: action.parameters,
        arguments: action.arguments.clone(),
        answers: action.answers,
        grammar: action.grammar,
        run: route::action(action),
        permit: match action.is_on_entity() {
            true => permission::action_on_entity::<P>,
            false => permission::action_on_collection,
        },
        texts: action.texts,
        is_receiving: action.is_receiving,
        is_whole: action.is_whole,
        words: action.words,
        asks: action.asks,
        offered_to: action.offered_to,
        withheld_from: action.withheld_from,
        withheld: action
            .withheld
            .clone()
            .map(|it| -> Withheld { Arc::new(move |entity| entity.as_type().ok().and_then(&*it)) }),
        is_unlinked: action.is_unlinked,
    }
}
