//! The registry of entity types: providers as type-erased routes, which are checked when the service starts.

mod check;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::contract::access::{Access, Need};
use crate::contract::action::{Answers, Argument, MakeTexts, Words};
use crate::contract::blob::ReceiveRoute;
use crate::contract::context::Context;
use crate::contract::edge::Edge;
use crate::contract::html;
use crate::contract::input::{Fields, Input};
use crate::contract::preconditions::Preconditions;
use crate::contract::reply::{Body, Collection, Form, FormPurpose, Item, Reply};
use crate::contract::search::{Grammar, Order};
use crate::model::any_entity::AnyEntity;
use crate::model::schema::{Field, Schema};
use crate::primitives::error::Result;
use crate::primitives::label::{label, plural};
use crate::primitives::verb::Verb;

pub use check::RESERVED_PREFIXES;
pub(crate) use check::RESERVED_WORDS;

/// A registered provider: its declarations, and its operations as functions that go through the gate.
#[derive(derive_more::Debug, Clone)]
#[debug("Route({})", self.prefix)]
pub struct Route {
    /// The provider's prefix.
    pub prefix: &'static str,
    /// The path below the prefix at which callers find their own entities.
    pub(crate) own: Option<&'static str>,
    /// The tool of a site that shows the entities.
    pub tool: &'static str,
    /// True if pages do not lead to the list of all entities.
    pub is_unlisted: bool,
    /// The kinds of events that only those are told who hold the function of this name.
    pub for_holders: &'static [&'static str],
    /// The plural name of the type, if the provider declares one.
    pub(crate) plural: Option<&'static str>,
    /// The name of one entity of the type, if the provider declares one.
    pub(crate) singular: Option<&'static str>,
    /// The name and the version of the crate that registers the provider.
    pub origin: (&'static str, &'static str),
    /// The permissions that the type requires. The registry refuses a type without any.
    pub access: Option<Access>,
    /// The schema of the type's entities.
    pub schema: &'static Schema,
    /// The query parameters of the list besides the fields, each as its name and its description.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The maximum number of entities in one reply of the list.
    pub max: u64,
    /// The default order of the list, as it is declared.
    pub order: &'static str,
    /// The actions of the type.
    pub actions: Vec<ActionRoute>,
    /// The definition of the type's table, if its entities are records.
    #[cfg(feature = "sea-orm")]
    pub table: Option<fn() -> crate::model::table::TableSpec>,
    /// The tables that are declared to count towards the usage of an account and of a site.
    #[cfg(feature = "sea-orm")]
    pub(crate) counted: &'static [crate::model::counted::Counted],
    /// The tables that are declared to be part of the archive of a site.
    #[cfg(feature = "sea-orm")]
    pub(crate) archived: &'static [crate::model::archived::Archived],
    /// Checks a row that comes with an archive.
    #[cfg(feature = "sea-orm")]
    pub(crate) check_archived: CheckArchived,
    /// False if no rows are.
    #[cfg(feature = "sea-orm")]
    pub(crate) is_archived: bool,
    /// The functions that the type declares, each with the roles that hold it by default.
    pub grants: &'static [DefaultGrant],
    /// The migrations that the type declares, in order.
    #[cfg(feature = "sea-orm")]
    pub migrations: &'static [crate::model::migration::Migration],
    /// The type's demo data, as the text of a file; empty if it has none.
    pub demo: &'static str,
    /// The functions in the rule about who sees the type's entities.
    pub(crate) sight: Vec<&'static str>,
    /// The reason why the rule about who sees the type's entities can't be evaluated, if there is one.
    pub(crate) fault: Option<String>,
    pub(crate) read: Option<Run>,
    pub(crate) load: Option<Load>,
    pub(crate) done: Option<IsDone>,
    pub(crate) list: Option<Run>,
    pub(crate) create: Option<Run>,
    pub(crate) create_form: Option<Run>,
    pub(crate) update: Option<Run>,
    pub(crate) delete: Option<Run>,
    pub(crate) permit_create: Option<Check>,
    pub(crate) permit_update: Option<Check>,
    pub(crate) edge: Option<Edge>,
    pub(crate) receive: Option<ReceiveRoute>,
}

/// The fields of an operation that the caller may run.
pub(crate) type Permitted<'a> = BoxFuture<'a, Result<Fields>>;

/// Checks whether the caller may run an operation, and returns its fields.
pub(crate) type Check = for<'a> fn(&'a Context, Call<'a>) -> Permitted<'a>;

/// An action of a provider.
#[derive(derive_more::Debug, Clone)]
#[debug("ActionRoute({} {})", self.verb.name(), self.name)]
pub struct ActionRoute {
    /// The action's name in the URL.
    pub name: &'static str,
    /// The verb that runs the action.
    pub verb: Verb,
    /// The permission that the caller needs. The registry refuses an action without one.
    pub need: Option<Need>,
    /// True if the action runs on one entity and not on the collection.
    pub is_on_entity: bool,
    /// The description of the action.
    pub doc: &'static str,
    /// The query parameters of the action, each as its name and its description.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The path segments behind the action's name, in order.
    pub arguments: Vec<Argument>,
    /// The kind of result that the action returns on success.
    pub answers: Answers,
    pub(crate) grammar: Option<fn() -> Result<Grammar>>,
    pub(crate) run: Runner,
    pub(crate) permit: Check,
    pub(crate) texts: Option<MakeTexts>,
    /// True if the action takes files.
    pub is_receiving: bool,
    /// True if a body that is no form is a file as a whole.
    pub(crate) is_whole: bool,
    /// The words that people read of the action.
    pub(crate) words: Words,
    /// The fields for which the form of a page asks.
    pub asks: &'static [Field],
    /// The reason why pages don't offer the action on an entity, if there is one: empty if it is not told.
    pub(crate) withheld: Option<Withheld>,
    /// The function whose holders pages don't offer the action in a site.
    pub(crate) withheld_from: Option<&'static str>,
    /// The function that pages demand before they offer the action in a site.
    pub(crate) offered_to: Option<&'static str>,
    /// True if no page links to the action.
    pub(crate) is_unlinked: bool,
}

impl ActionRoute {
    /// Returns the grammar of the type's lists with the action's own parameters, if the action accepts searches.
    ///
    /// # Errors
    /// Returns an error if lists can't be ordered by a field in the declared order; the registry refuses such a type.
    pub fn grammar(&self) -> Result<Option<Grammar>> {
        let grammar = self.grammar.map(|it| it()).transpose()?;
        Ok(grammar.map(|it| it.with(self.parameters)))
    }

    /// Returns whether a body that is no form is a file as a whole.
    pub fn takes_whole_files(&self) -> bool {
        self.is_receiving && self.is_whole
    }

    /// Returns whether the action accepts the search parameters of the type's lists.
    pub fn is_searched(&self) -> bool {
        self.grammar.is_some()
    }
}

/// A function that tells whether pages offer an action on an entity, which is of the type of the action.
pub(crate) type Withheld = Arc<crate::contract::action::Withheld<dyn AnyEntity>>;

/// A function that runs one operation of a provider.
pub(crate) type Run = for<'a> fn(&'a Context, Call<'a>) -> BoxFuture<'a, Result<Reply>>;

/// A function that loads the entities with these ids that the caller may read.
pub(crate) type Load = for<'a> fn(&'a Context, &'a [String]) -> BoxFuture<'a, Result<Vec<Item>>>;

/// A function that checks a row which comes with the archive of this site.
#[cfg(feature = "sea-orm")]
pub(crate) type CheckArchived =
    fn(&serde_json::Map<String, serde_json::Value>, &str) -> Result<(), String>;

/// A function that returns whether the caller has done what the entity with this id asks for.
pub(crate) type IsDone = for<'a> fn(&'a Context, &'a str) -> BoxFuture<'a, Result<Option<bool>>>;

/// A function that runs an action of a provider, with the action's declared parts bound to it.
pub(crate) type Runner =
    Arc<dyn for<'a> Fn(&'a Context, Call<'a>) -> BoxFuture<'a, Result<Reply>> + Send + Sync>;

/// The parameters of a call to an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) route: &'a Route,
    pub(crate) verb: Verb,
    pub(crate) need: Option<Need>,
    pub(crate) id: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) query: &'a [(String, String)],
    pub(crate) input: &'a Input,
    pub(crate) preconditions: &'a Preconditions,
    pub(crate) wants_allowed_actions: bool,
}

impl<'a> Call<'a> {
    /// Returns the site that an action on the collection is about, which is the first argument in its path.
    pub(crate) fn site(&self) -> Option<&'a str> {
        self.arguments.first().map(String::as_str)
    }
}

impl Route {
    /// Returns the field with the id of the entity that an entity of the type belongs to, if it belongs to one.
    pub fn parent(&self) -> Option<&'static Field> {
        #[cfg(feature = "sea-orm")]
        let column = self.table?().parent.map(|it| it.column);
        #[cfg(not(feature = "sea-orm"))]
        let column = None;
        let mut fields = self.schema.fields.iter();
        fields.find(|it| it.column.is_some() && it.column == column && it.references.is_some())
    }

    /// Returns the tables whose rows count towards the usage of an account and of a site: the declared ones or, if
    /// there are none, those of the record. Rows that belong to nobody and to no archive are the service's own, and count
    /// for nobody.
    #[cfg(feature = "sea-orm")]
    pub fn counted(&self) -> Vec<crate::model::counted::Counted> {
        match (self.counted, self.table.map(|it| it())) {
            ([], Some(table)) if !self.is_archived && table.owner.is_none() => Vec::new(),
            ([], Some(table)) => crate::model::counted::Counted::of(&table),
            (declared, _) => declared.to_vec(),
        }
    }

    /// Checks a row of the type's own table that comes with the archive of `site`.
    ///
    /// # Errors
    /// Returns a message if the row is none that the type could have stored.
    #[cfg(feature = "sea-orm")]
    pub fn check_archived(
        &self,
        row: &serde_json::Map<String, serde_json::Value>,
        site: &str,
    ) -> Result<(), String> {
        (self.check_archived)(row, site)
    }

    /// Returns the definitions of the type's table and of those of its children.
    #[cfg(feature = "sea-orm")]
    pub fn tables(&self) -> Vec<crate::model::table::TableSpec> {
        self.table.map_or_else(Vec::new, |it| it().with_children())
    }

    /// Returns the columns with the blobs of stored files, in the type's table and in those of its children: each as the
    /// table and the column.
    #[cfg(feature = "sea-orm")]
    pub fn blob_columns(&self) -> Vec<(&'static str, &'static str)> {
        let tables = self.table.map_or_else(Vec::new, |it| it().with_children());
        let columns = tables.iter().flat_map(|table| {
            let of_table = |column: &&'static str| (table.name, *column);
            table.blobs.iter().map(of_table).collect::<Vec<_>>()
        });
        columns.collect()
    }

    /// Returns whether entities are created and changed by forms with [files](crate::blob::Receive).
    pub fn receives_in_forms(&self) -> bool {
        self.receive.is_some_and(|it| it.in_forms)
    }

    /// Returns whether the type has HTML fields, whose values are sanitised when they are received.
    pub fn has_html(&self) -> bool {
        html::has_html(self.schema)
    }

    /// Returns an empty list of the type, which is used to find the formats that can write such lists.
    pub(crate) fn sample_list(&self) -> Body {
        Body::Collection(Collection::empty(self.prefix, self.schema))
    }

    /// Returns a sample entity of the type without data, which is used to find the formats that can write such
    /// entities.
    pub(crate) fn sample_entity(&self) -> Body {
        Body::Entity(Item::sample(self.prefix, self.schema))
    }

    /// Returns an empty form of the type, which is used to find the formats that can write such forms.
    pub(crate) fn sample_form(&self) -> Body {
        Body::Form(Form {
            prefix: self.prefix,
            schema: self.schema,
            item: None,
            purpose: FormPurpose::Create,
            left_out: Vec::new(),
            offered: Vec::new(),
            refusal: None,
        })
    }

    /// Returns the names of the type's capabilities.
    pub fn capabilities(&self) -> Vec<&'static str> {
        [
            ("read", self.read.is_some()),
            ("list", self.list.is_some()),
            ("create", self.create.is_some()),
            ("update", self.update.is_some()),
            ("delete", self.delete.is_some()),
            ("actions", !self.actions.is_empty()),
            ("files", self.receive.is_some()),
            ("feed", self.schema.has_feed && self.list.is_some()),
            ("events", self.schema.has_events && self.list.is_some()),
        ]
        .into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect()
    }
}

impl ActionRoute {
    /// Returns the range of the number of path segments that the action accepts behind its name.
    pub fn segments(&self) -> RangeInclusive<usize> {
        Argument::count(&self.arguments)
    }
}

/// A provider as it was submitted: the function that builds its route. Created by [`register!`](crate::register).
#[derive(Debug)]
pub struct Registration(pub fn() -> Route);

inventory::collect!(Registration);

/// The providers of a service. A registry is passed as a value and is never global.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    routes: BTreeMap<&'static str, Route>,
}

/// The reason why a service can't start with the providers that it was given.
#[derive(derive_more::Display, Clone, Debug, PartialEq, Eq)]
#[display("{}", self.0)]
pub struct RegistryError(pub String);

impl std::error::Error for RegistryError {}

impl Registry {
    /// Creates a registry of all providers that the linked crates registered.
    ///
    /// # Errors
    /// Fails as [`Registry::new`] does.
    pub fn from_inventory() -> Result<Self, RegistryError> {
        Self::new(
            inventory::iter::<Registration>
                .into_iter()
                .map(|it| (it.0)()),
        )
    }

    /// Creates a registry of these routes.
    ///
    /// # Errors
    /// Returns an error if a prefix or a table is claimed twice, reserved or illegal; a type or an action declares no
    /// permission;
    /// a declared order or a default value is invalid; the name of a field or of a column collides with a derived one;
    /// an action's name is reserved or taken; or the arguments of an action are invalid.
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
        #[cfg(feature = "sea-orm")]
        check::tables(&registry)?;
        Ok(registry)
    }

    /// Returns the route of `prefix`, if that type is registered.
    pub fn route(&self, prefix: &str) -> Option<&Route> {
        self.routes.get(prefix)
    }

    /// Returns the name of one entity of the type `prefix`.
    pub fn singular(&self, prefix: &str) -> String {
        self.route(prefix)
            .map_or_else(|| label(prefix), Route::singular)
    }

    /// Returns the plural name of the type `prefix`.
    pub fn plural(&self, prefix: &str) -> String {
        self.route(prefix)
            .map_or_else(|| plural(prefix), Route::plural)
    }

    /// Returns the prefixes of the types by the crate that registers them, each crate with its name and version.
    pub fn origins(&self) -> BTreeMap<(&'static str, &'static str), Vec<&'static str>> {
        let mut origins: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for route in self.routes() {
            origins.entry(route.origin).or_default().push(route.prefix);
        }
        origins
    }

    /// Returns all routes, ordered by prefix.
    pub fn routes(&self) -> impl Iterator<Item = &Route> {
        self.routes.values()
    }
}

/// A function that a type declares, and the roles that hold it by default, each as a letter: `a`ccess and `m`aintain in
/// a plain site, `s`tudent, `t`eaching assistant and `i`nstructor in a course, and `p` for everybody in a site that is
/// open to the public.
///
/// A role of a template that was given the function or denied it in the database keeps what it has.
pub type DefaultGrant = (&'static str, &'static str);

/// Registers a provider: `register!(Polls);`.
///
/// The capabilities of the provider are detected at compile time; none has to be listed. Behind the provider stand, in
/// this order and each only where the type has it:
///
/// - `grants("poll.read" = "amsti", "poll.new" = "mi")`: the functions that the type declares, each with the roles that
///   hold it by default (see [`DefaultGrant`]). A type that declares any declares all that it asks for. A type that
///   declares none follows the rights on the site: whoever visits it reads, and whoever may change it does everything
///   else.
/// - `migrations(FIRST, SECOND)`: the changes of tables and rows that the service runs, each once (see
///   [`Migration`](crate::db::Migration)).
/// - `demo = include_str!("demo.json")`: the type's demo data (see [`Demo`](crate::engine::demo::Demo)).
/// - `edge = hash`: slow work that is done before a unit of work opens (see [`Edge`]).
#[macro_export]
macro_rules! register {
    (
        $provider:ty
        $(, grants($($function:literal = $holders:literal),* $(,)?))?
        $(, migrations($($migration:expr),* $(,)?))?
        $(, demo = $demo:expr)?
        $(, edge = $edge:expr)?
        $(,)?
    ) => {
        $crate::inventory::submit! {
            $crate::engine::Registration(|| {
                use $crate::probe::{Fallback, Probe};
                let probe = Probe::<$provider>::default();
                let route = $crate::engine::Route::of::<$provider>((env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")));
                let route = probe.with_read(route);
                let route = probe.with_list(route);
                let route = probe.with_create(route);
                let route = probe.with_update(route);
                let route = probe.with_delete(route);
                let route = probe.with_actions(route);
                let route = probe.with_receive(route);
                let route = probe.with_table(route);
                $(let route = route.grants(&[$(($function, $holders)),*]);)?
                $(let route = route.migrations(&[$($migration),*]);)?
                $(let route = route.demo($demo);)?
                $(let route = route.edge($edge);)?
                Fallback::<$provider>::build(&probe, route)
            })
        }
    };
}

impl Grammar {
    /// Returns the grammar of the lists of the type behind `route`.
    ///
    /// # Errors
    /// Returns an error if lists can't be ordered by a field in the declared order; the registry refuses such a type.
    pub fn of_route(route: &Route) -> Result<Self> {
        Ok(Self {
            prefix: route.prefix,
            schema: route.schema,
            parameters: route.parameters.iter().map(|(name, _)| *name).collect(),
            order: Order::declared(route.order, route.schema)?,
            over: None,
            max: route.max,
        })
    }
}
