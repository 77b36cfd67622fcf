//! What is registered: providers, taken apart into routes, and the checks made of them at the start.

mod check;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::access::{Access, Need};
use crate::action::{Action, Answers, Argument};
use crate::context::Context;
use crate::entity::Entity;
use crate::error::Result;
use crate::html;
use crate::input::Input;
use crate::label::plural;
use crate::preconditions::Preconditions;
use crate::prepare::{self, Ahead, Check, Prepare};
use crate::provider::{Actions, Create, Delete, List, Provider, Read, Update};
use crate::reply::{Body, Collection, Form, FormPurpose, Item, Reply};
use crate::request::Verb;
use crate::route;
use crate::schema::Schema;
use crate::search::Grammar;

pub(crate) use check::RESERVED_WORDS;

/// A provider, taken apart: what it can do, each as a function that goes through the gate.
#[derive(Clone)]
pub struct Route {
    /// The provider's prefix.
    pub prefix: &'static str,
    /// What people call several of its entities, if the provider says it.
    pub(crate) plural: Option<&'static str>,
    /// The crate that it comes from, and that crate's version.
    pub origin: (&'static str, &'static str),
    /// What it demands.
    pub access: Option<Access>,
    /// The fields of its entities.
    pub schema: &'static Schema,
    /// Query parameters of its list beyond the fields.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Most entities in one answer of its list.
    pub max: u64,
    /// The order of its list, as it is declared.
    pub order: &'static str,
    /// Its actions.
    pub actions: Vec<ActionRoute>,
    /// Statements that make its table, if it has one that the service looks after.
    #[cfg(feature = "sea-orm")]
    pub table: Option<fn() -> crate::db::TableSpec>,
    /// Its tables whose rows count as what an account and a site have, as it declares them.
    #[cfg(feature = "sea-orm")]
    counted: &'static [crate::db::Counted],
    pub(crate) read: Option<Run>,
    pub(crate) load: Option<Load>,
    pub(crate) list: Option<Run>,
    pub(crate) create: Option<Run>,
    pub(crate) create_form: Option<Run>,
    pub(crate) update: Option<Run>,
    pub(crate) delete: Option<Run>,
    pub(crate) ahead: Ahead,
}

/// An action of a provider.
#[derive(Clone)]
pub struct ActionRoute {
    /// Its name in the URL.
    pub name: &'static str,
    /// The verb it takes.
    pub verb: Verb,
    /// What the caller must hold.
    pub need: Option<Need>,
    /// Whether it is an action on one entity.
    pub is_on_entity: bool,
    /// What it does.
    pub doc: &'static str,
    /// Query parameters it takes.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The further path segments it takes, in order.
    pub arguments: Vec<Argument>,
    /// What it answers when all goes well.
    pub answers: Answers,
    pub(crate) grammar: Option<fn() -> Result<Grammar>>,
    pub(crate) run: Runner,
    pub(crate) check: Check,
    /// Whether something of its body is prepared before a unit of work opens.
    pub(crate) is_prepared: bool,
}

impl ActionRoute {
    /// What it can be asked, if that is what lists of the type can be asked.
    ///
    /// # Errors
    /// The declared order is none of the type's fields: the registry has refused such a type.
    pub fn grammar(&self) -> Result<Option<Grammar>> {
        let grammar = self.grammar.map(|it| it()).transpose()?;
        Ok(grammar.map(|it| it.with(self.parameters)))
    }

    /// Whether it can be asked what lists of the type can be asked.
    pub fn is_searched(&self) -> bool {
        self.grammar.is_some()
    }
}

/// One operation of a provider.
pub(crate) type Run = for<'a> fn(&'a Context, Call<'a>) -> BoxFuture<'a, Result<Reply>>;

/// The entities with these ids that the caller may read.
pub(crate) type Load = for<'a> fn(&'a Context, &'a [String]) -> BoxFuture<'a, Result<Vec<Item>>>;

/// An action of a provider, with what it was declared with.
pub(crate) type Runner =
    Arc<dyn for<'a> Fn(&'a Context, Call<'a>) -> BoxFuture<'a, Result<Reply>> + Send + Sync>;

/// What an operation is called with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) route: &'a Route,
    pub(crate) verb: Verb,
    pub(crate) id: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) query: &'a [(String, String)],
    pub(crate) input: &'a Input,
    pub(crate) preconditions: &'a Preconditions,
    pub(crate) wants_abilities: bool,
}

impl<'a> Call<'a> {
    /// The site that an action on the type is about: its path names it first.
    pub(crate) fn site(&self) -> Option<&'a str> {
        self.arguments.first().map(String::as_str)
    }
}

impl Route {
    /// Begins the route of the provider `P`, which comes from the crate `origin` (name, version).
    pub fn of<P: Provider>(origin: (&'static str, &'static str)) -> RouteBuilder<P> {
        RouteBuilder {
            route: Self {
                prefix: P::PREFIX,
                plural: P::PLURAL,
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
                read: None,
                load: None,
                list: None,
                create: None,
                create_form: None,
                update: None,
                delete: None,
                ahead: Ahead::default(),
            },
            provider: std::marker::PhantomData,
        }
    }

    /// Its tables whose rows count as what an account and a site have: those it declares, or else the one that the
    /// service looks after.
    #[cfg(feature = "sea-orm")]
    pub fn counted(&self) -> Vec<crate::db::Counted> {
        match (self.counted, self.table) {
            ([], Some(table)) => vec![crate::db::Counted::of(&table())],
            (declared, _) => declared.to_vec(),
        }
    }

    /// Whether something of what clients send is [prepared](Prepare) before a unit of work opens.
    pub fn prepares(&self) -> bool {
        self.ahead.work.is_some()
    }

    /// Whether its entities have HTML, which is sanitised on its way in.
    pub fn has_html(&self) -> bool {
        html::has_html(self.schema)
    }

    /// What people call several of its entities: the heading of its list.
    pub fn plural(&self) -> String {
        match self.plural {
            Some(said) => said.to_owned(),
            None => plural(self.prefix),
        }
    }

    /// A list of the type with nothing in it: what is asked for the formats of lists.
    pub(crate) fn sample_list(&self) -> Body {
        Body::Collection(Collection::empty(self.prefix, self.schema))
    }

    /// An entity of the type with nothing in it.
    pub(crate) fn sample_entity(&self) -> Body {
        Body::Entity(Item::sample(self.prefix, self.schema))
    }

    /// A form of the type with nothing in it.
    pub(crate) fn sample_form(&self) -> Body {
        Body::Form(Form {
            prefix: self.prefix,
            schema: self.schema,
            item: None,
            purpose: FormPurpose::Create,
            refusal: None,
        })
    }

    /// What the type can do, by the names of the capabilities.
    pub fn capabilities(&self) -> Vec<&'static str> {
        [
            ("read", self.read.is_some()),
            ("list", self.list.is_some()),
            ("create", self.create.is_some()),
            ("update", self.update.is_some()),
            ("delete", self.delete.is_some()),
            ("actions", !self.actions.is_empty()),
            ("feed", self.schema.has_feed && self.list.is_some()),
            ("events", self.schema.has_events && self.list.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect()
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Route({})", self.prefix)
    }
}

impl ActionRoute {
    /// How many further path segments it takes.
    pub fn segments(&self) -> RangeInclusive<usize> {
        Argument::count(&self.arguments)
    }
}

impl fmt::Debug for ActionRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActionRoute({} {})", self.verb.name(), self.name)
    }
}

/// Adds capabilities to a route. The explicit form below [`register!`](crate::register).
pub struct RouteBuilder<P> {
    route: Route,
    provider: std::marker::PhantomData<P>,
}

impl<P> fmt::Debug for RouteBuilder<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RouteBuilder({})", self.route.prefix)
    }
}

impl<P: Provider> RouteBuilder<P> {
    /// It can look up one entity.
    #[must_use]
    pub fn read(mut self) -> Self
    where
        P: Read,
    {
        self.route.read = Some(route::read::<P>);
        self.route.load = Some(route::load::<P>);
        self
    }

    /// It can list its entities.
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

    /// It can create an entity.
    #[must_use]
    pub fn create(mut self) -> Self
    where
        P: Create,
    {
        self.route.create = Some(route::create::<P>);
        self.route.create_form = Some(route::create_form::<P>);
        self.route.ahead.create = Some(prepare::create::<P>);
        self
    }

    /// It can change an entity.
    #[must_use]
    pub fn update(mut self) -> Self
    where
        P: Update,
    {
        self.route.update = Some(route::update::<P>);
        self.route.ahead.update = Some(prepare::update::<P>);
        self
    }

    /// It can delete an entity.
    #[must_use]
    pub fn delete(mut self) -> Self
    where
        P: Delete,
    {
        self.route.delete = Some(route::delete::<P>);
        self
    }

    /// It has actions.
    #[must_use]
    pub fn actions(mut self) -> Self
    where
        P: Actions,
    {
        self.route.actions = P::actions().iter().map(erase).collect();
        self
    }

    /// It prepares what clients send before the unit of work opens.
    #[must_use]
    pub fn prepare(mut self) -> Self
    where
        P: Prepare,
    {
        self.route.ahead.work = Some((prepare::look::<P>, prepare::work::<P>));
        self
    }

    /// The service makes and looks after its table.
    #[cfg(feature = "sea-orm")]
    #[must_use]
    pub fn table(mut self) -> Self
    where
        P::Entity: crate::db::Table,
    {
        self.route.table = Some(crate::db::TableSpec::of::<P::Entity>);
        self
    }
}

impl<P> RouteBuilder<P> {
    /// The route.
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
        check: match action.is_on_entity() {
            true => prepare::action_on_entity::<P>,
            false => prepare::action_on_collection,
        },
        is_prepared: action.is_prepared,
    }
}

/// A provider as it was submitted; made by [`register!`](crate::register).
#[derive(Debug)]
pub struct Registration(pub fn() -> Route);

inventory::collect!(Registration);

/// The providers of a service. A value that is passed, never a global.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    routes: BTreeMap<&'static str, Route>,
}

/// Why a service can't start with the providers that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryError(pub String);

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RegistryError {}

impl Registry {
    /// Everything that the linked crates registered.
    ///
    /// # Errors
    /// See [`Registry::new`].
    pub fn from_inventory() -> Result<Self, RegistryError> {
        Self::new(
            inventory::iter::<Registration>
                .into_iter()
                .map(|it| (it.0)()),
        )
    }

    /// These routes.
    ///
    /// # Errors
    /// A prefix is claimed twice, reserved or illegal; a type or an action has no declared permission; an
    /// action's name is reserved or taken; the arguments of an action make no sense.
    pub fn new(routes: impl IntoIterator<Item = Route>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for route in routes {
            check::route(&route)?;
            if let Some(other) = registry.routes.get(route.prefix) {
                return Err(RegistryError(format!(
                    "the prefix `{}` is claimed by the crates `{}` and `{}`: rename one of them or leave one out",
                    route.prefix, other.origin.0, route.origin.0
                )));
            }
            registry.routes.insert(route.prefix, route);
        }
        Ok(registry)
    }

    /// The route of `prefix`.
    pub fn route(&self, prefix: &str) -> Option<&Route> {
        self.routes.get(prefix)
    }

    /// What people call several entities of the type `prefix`.
    pub fn plural(&self, prefix: &str) -> String {
        self.route(prefix)
            .map_or_else(|| plural(prefix), Route::plural)
    }

    /// All routes, in the order of their prefixes.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.values()
    }
}

/// Registers a provider: `register!(Polls);`.
///
/// Which capabilities it has is found out while it is compiled; nothing has to be listed.
#[macro_export]
macro_rules! register {
    ($provider:ty) => {
        $crate::inventory::submit! {
            $crate::Registration(|| {
                use $crate::probe::{Fallback, Probe};
                let probe = Probe::<$provider>::default();
                let route = $crate::Route::of::<$provider>((env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")));
                let route = probe.with_read(route);
                let route = probe.with_list(route);
                let route = probe.with_create(route);
                let route = probe.with_update(route);
                let route = probe.with_delete(route);
                let route = probe.with_actions(route);
                let route = probe.with_prepare(route);
                let route = probe.with_table(route);
                Fallback::<$provider>::build(&probe, route)
            })
        }
    };
}
