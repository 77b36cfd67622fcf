//! The checks find faults: a type that is sound passes all of them, and each fault that is planted in it is found.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use entity_core::db::{self, Sql};
use entity_core::endpoint::{Call, Endpoint};
use entity_core::engine::Route;
use entity_core::schemars::{self, JsonSchema};
use entity_core::{
    Access, Action, ActionResult, Actions, Arguments, Context, Create, DateTimeUtc, Decision,
    Delete, Entity, Error, ErrorKind, Fields, List, Need, Operation, Page, Permit, Provider, Read,
    Result, Scope, Search, Update, gate,
};
use lectern_testing::conformance::{self, Check, Held, Suite};
use lectern_testing::endpoints::Added;
use lectern_testing::{Backend, TestApp};
use sea_orm::ConnectionTrait as _;
use serde::Serialize;
use serde_json::{Value, json};

const SOUND: u8 = 0;
const LEAK_IN_LIST: u8 = 1;
const LEAK_IN_COUNT: u8 = 2;
const LEAK_IN_SEARCH: u8 = 3;
const LEAK_BY_FILTER: u8 = 4;
const LEAK_BY_EXPAND: u8 = 5;
const LEAK_IN_REFUSAL: u8 = 6;
const LACK_IN_LIST: u8 = 7;
const LOST_NULL: u8 = 8;
const CHANGED_TEXT: u8 = 9;
const FORGOTTEN_VERSION: u8 = 10;
const FAILURE_AT_LIMITS: u8 = 11;
const WRONG_STATUS: u8 = 12;
const UNNAMED_FIELD: u8 = 13;
const QUERY_PER_ROW: u8 = 14;
const OUTLIVED_SITE: u8 = 15;
const FAILING_ACTION: u8 = 16;
const LEAK_IN_ACTION: u8 = 17;
const FAILING_VIEW: u8 = 18;
const LEAK_IN_VIEW: u8 = 19;
const VIEW_OF_ALL_SITES: u8 = 20;

/// Something that a site collects.
#[derive(Clone, Debug, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "specimen")]
struct Specimen {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner)]
    keeper: String,
    #[entity(title, search, required)]
    name: String,
    #[entity(references = "specimen")]
    parent: Option<String>,
    weight: Option<i64>,
    is_secret: bool,
    #[entity(updated)]
    modified: DateTimeUtc,
    #[entity(version)]
    version: i64,
}

/// The type, with the fault `FAULT` planted. Secret entities are for their keepers and for those who may change any.
struct Flawed<const FAULT: u8>;

/// Returns whether the caller sees `specimen`.
async fn is_seen(cx: &Context, specimen: &Specimen) -> Result<bool> {
    if !specimen.is_secret || cx.caller().user_id() == Some(&specimen.keeper) {
        return Ok(true);
    }
    let all = "specimen.revise.any";
    let decided = cx.authorizer().decide(cx, all, &specimen.site_id).await?;
    Ok(decided == Decision::Granted)
}

impl<const FAULT: u8> Flawed<FAULT> {
    /// True if the rule is where the gate does not know of it.
    const IS_BESIDE_THE_GATE: bool = matches!(
        FAULT,
        LEAK_IN_LIST | LEAK_BY_EXPAND | LEAK_IN_REFUSAL | LEAK_IN_ACTION | LEAK_IN_VIEW
    );
}

impl<const FAULT: u8> Provider for Flawed<FAULT> {
    type Entity = Specimen;
    const PREFIX: &'static str = "specimen";
    const ACCESS: Access = Access {
        read: Need::Site("specimen.read"),
        create: Need::Site("specimen.new"),
        update: Need::Site("specimen.revise.any"),
        delete: Need::Site("specimen.delete.any"),
    };

    async fn permits(cx: &Context, specimen: &Specimen, _operation: Operation) -> Result<Permit> {
        if FAULT == QUERY_PER_ROW {
            db::read::<Specimen>(cx, &specimen.id).await?;
        }
        if Self::IS_BESIDE_THE_GATE || is_seen(cx, specimen).await? {
            return Ok(Permit::Allowed);
        }
        Ok(Permit::Hidden)
    }
}

/// Entities that are remembered for ever.
static REMEMBERED: Mutex<Option<HashMap<String, Specimen>>> = Mutex::new(None);

impl<const FAULT: u8> Read for Flawed<FAULT> {
    async fn read(cx: &Context, id: &str) -> Result<Option<Specimen>> {
        if FAULT == OUTLIVED_SITE {
            let guard = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
            let found = guard.as_ref().and_then(|it| it.get(id));
            if let Some(found) = found {
                return Ok(Some(found.clone()));
            }
        }
        let found: Option<Specimen> = db::read(cx, id).await?;
        match found {
            Some(hidden) if Self::IS_BESIDE_THE_GATE && !is_seen(cx, &hidden).await? => match FAULT
            {
                LEAK_IN_REFUSAL => Err(Error::new(
                    ErrorKind::Forbidden,
                    format!("`{}` is secret", hidden.name),
                )),
                _ => Ok(None),
            },
            found => Ok(found),
        }
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Specimen>> {
        db::read_many(cx, ids).await
    }
}

impl<const FAULT: u8> List for Flawed<FAULT> {
    async fn list(cx: &Context, search: &Search) -> Result<Page<Specimen>> {
        let page: Page<Specimen> = db::list(cx, search).await?;
        let mut kept = Page {
            items: Vec::new(),
            ..page
        };
        for specimen in page.items {
            let is_kept = match FAULT {
                LEAK_BY_EXPAND | LEAK_IN_REFUSAL | LEAK_IN_ACTION | LEAK_IN_VIEW => {
                    is_seen(cx, &specimen).await?
                }
                LACK_IN_LIST => specimen.weight.is_none(),
                _ => true,
            };
            kept.items.extend(is_kept.then_some(specimen));
        }
        Ok(kept)
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        let is_careless = match FAULT {
            LEAK_IN_COUNT => true,
            LEAK_IN_SEARCH => !search.words.is_empty(),
            LEAK_BY_FILTER => search.filters.iter().any(|it| it.field.name == "name"),
            _ => false,
        };
        match is_careless {
            true => db::count::<Specimen>(cx, search).await.map(Some),
            false => Ok(None),
        }
    }
}

impl<const FAULT: u8> Create for Flawed<FAULT> {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Specimen> {
        let mut fields = draft;
        if let (CHANGED_TEXT, Some(name)) = (FAULT, fields.text("name")) {
            let name = name.replace('&', "and");
            fields.0.insert("name".to_owned(), name.into());
        }
        let weight = fields.0.get("weight").and_then(Value::as_i64);
        match (FAULT, weight) {
            (FAILURE_AT_LIMITS, Some(i64::MAX)) => Err(Error::internal("a sum that overflows")),
            (WRONG_STATUS, Some(i64::MIN)) => Err(Error::not_found()),
            (UNNAMED_FIELD, Some(i64::MIN)) => Err(Error::bad_request("that is too little")),
            _ => {
                let made: Specimen = db::create(cx, fields).await?;
                let mut guard = REMEMBERED.lock().unwrap_or_else(PoisonError::into_inner);
                if FAULT == OUTLIVED_SITE {
                    let remembered = guard.get_or_insert_default();
                    remembered.insert(made.id.clone(), made.clone());
                }
                Ok(made)
            }
        }
    }
}

impl<const FAULT: u8> Update for Flawed<FAULT> {
    type Changes = Fields;

    async fn update(cx: &Context, current: Specimen, changes: Fields) -> Result<Specimen> {
        let mut changes = changes;
        if FAULT == LOST_NULL {
            changes.0.retain(|_, value| !value.is_null());
        }
        let before = current.clone();
        let after: Specimen = db::update(cx, current, changes).await?;
        if FAULT != FORGOTTEN_VERSION {
            return Ok(after);
        }
        let session = cx.db()?;
        let mut sql: Sql = session.sql("UPDATE specimen SET version = ");
        sql.bind(before.version).push(", modified = ");
        sql.bind(before.modified.timestamp_millis());
        sql.push(" WHERE id = ").bind(after.id.as_str());
        session.execute_raw(sql.into_statement()).await?;
        Ok(Specimen {
            version: before.version,
            modified: before.modified,
            ..after
        })
    }
}

impl<const FAULT: u8> Delete for Flawed<FAULT> {
    async fn delete(cx: &Context, current: Specimen) -> Result<()> {
        db::delete(cx, current).await
    }
}

impl<const FAULT: u8> Actions for Flawed<FAULT> {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("all", Self::ACCESS.read, Self::all)
                .doc("The specimens of a site.")
                .argument("siteId", "The site."),
        ]
    }
}

impl<const FAULT: u8> Flawed<FAULT> {
    async fn all(cx: &Context, arguments: Arguments) -> Result<ActionResult<Self>> {
        let mut search = arguments.search()?.clone();
        search.narrow_to_site::<Specimen>(arguments.argument("siteId")?)?;
        match FAULT {
            FAILING_ACTION => Err(Error::internal("there is no such table")),
            LEAK_IN_ACTION => {
                let mut search = search.clone();
                search.scope = Scope::Everything;
                let (page, window) = (db::list(cx, &search).await?, search.window());
                Ok(ActionResult::Collection { page, window })
            }
            _ => Ok(ActionResult::List(search)),
        }
    }
}

/// A specimen on the board of a site.
#[derive(Serialize, JsonSchema)]
struct Shown {
    /// The id.
    id: String,
}

impl<const FAULT: u8> Flawed<FAULT> {
    const VIEWS: &'static [Endpoint] =
        &[
            Endpoint::get("/api/sites/{siteId}/specimens", "listSpecimens")
                .doc("The specimens of a site.")
                .tag("specimen")
                .variable("siteId", "The site.")
                .answers::<Vec<Shown>>(&Self::of_site),
        ];

    async fn of_site(cx: &Context, call: Call) -> Result<Vec<Shown>> {
        let mut search = Search::all();
        if FAULT != VIEW_OF_ALL_SITES {
            search.narrow_to_site::<Specimen>(call.variable("siteId")?)?;
        }
        let page = match FAULT {
            FAILING_VIEW => return Err(Error::internal("there is no such table")),
            LEAK_IN_VIEW => {
                search.scope = Scope::Everything;
                db::list(cx, &search).await?
            }
            _ => gate::list::<Self>(cx, search).await?,
        };
        let shown = page
            .items
            .into_iter()
            .map(|it: Specimen| Shown { id: it.id });
        Ok(shown.collect())
    }
}

/// The type with `FAULT` on a service; `None` where this kind of storage is not installed.
async fn planted<const FAULT: u8>(backend: Backend) -> Option<Suite> {
    let route = Route::of::<Flawed<FAULT>>(("tests", "1.0.0"));
    let route = route
        .read()
        .list()
        .create()
        .update()
        .delete()
        .actions()
        .table();
    let added = Added {
        types: vec![route.build()],
        endpoints: Flawed::<FAULT>::VIEWS,
        formats: None,
    };
    let app = TestApp::with_added(backend, added).await?;
    let suite = Suite::on(app, "specimen", json!({})).await;
    Some(suite.expect("entities of the type can be made"))
}

/// Fails unless `check` finds the fault, and says so in a complaint that contains `word`.
async fn is_found<const FAULT: u8>(backend: Backend, check: &str, word: &str) {
    let Some(suite) = planted::<FAULT>(backend).await else {
        return;
    };
    let check: Check = conformance::CHECKS
        .into_iter()
        .find_map(|(name, it)| (name == check).then_some(it))
        .expect("a check");
    match check(&suite).await {
        Err(complaint) => assert!(complaint.contains(word), "fault {FAULT}: {complaint}"),
        Ok(held) => panic!("fault {FAULT} is not found: {held:?}"),
    }
}

const AGREEMENT: &str = "callers_see_the_same_in_every_way";
const ACTIONS: &str = "actions_answer_everybody";
const VIEWS: &str = "views_show_what_the_list_shows";
const SECRECY: &str = "hidden_entities_leave_no_trace";
const ROUND_TRIP: &str = "fields_come_back_as_they_were_sent";
const INPUT: &str = "wrong_input_is_refused";
const VERSIONS: &str = "versions_hold";
const COST: &str = "a_list_takes_a_constant_number_of_statements";
const LIFETIME: &str = "entities_end_with_their_site";

async fn all_faults_are_found(backend: Backend) {
    is_found::<LEAK_IN_LIST>(backend, AGREEMENT, "in the list but not by its id").await;
    is_found::<LEAK_IN_COUNT>(backend, AGREEMENT, "is told that there are").await;
    is_found::<LEAK_IN_SEARCH>(backend, AGREEMENT, "_search=").await;
    is_found::<LEAK_BY_FILTER>(backend, SECRECY, "&name=").await;
    is_found::<LEAK_BY_EXPAND>(backend, SECRECY, "`read_many` must answer").await;
    is_found::<LEAK_IN_REFUSAL>(backend, SECRECY, "tell nothing of the entity").await;
    is_found::<LACK_IN_LIST>(backend, AGREEMENT, "by its id but not in the list").await;
    is_found::<LOST_NULL>(backend, ROUND_TRIP, "was sent as null").await;
    is_found::<CHANGED_TEXT>(backend, ROUND_TRIP, "`name` was sent as").await;
    is_found::<FORGOTTEN_VERSION>(backend, VERSIONS, "leaves the version as it was").await;
    is_found::<FAILURE_AT_LIMITS>(backend, INPUT, "500").await;
    is_found::<WRONG_STATUS>(backend, INPUT, "404").await;
    is_found::<UNNAMED_FIELD>(backend, INPUT, "Error::field").await;
    is_found::<QUERY_PER_ROW>(backend, COST, "by one statement for all").await;
    is_found::<FAILING_ACTION>(backend, ACTIONS, "gets 500").await;
    is_found::<LEAK_IN_ACTION>(backend, ACTIONS, "but not by its id").await;
    is_found::<FAILING_VIEW>(backend, VIEWS, "gets 500").await;
    is_found::<LEAK_IN_VIEW>(backend, VIEWS, "but not by its id").await;
    is_found::<VIEW_OF_ALL_SITES>(backend, VIEWS, "of another site").await;
    is_found::<OUTLIVED_SITE>(backend, LIFETIME, "is still there").await;
}

async fn a_sound_type_passes(backend: Backend) {
    if let Some(suite) = planted::<SOUND>(backend).await {
        for (name, check) in conformance::CHECKS {
            assert_eq!(check(&suite).await, Ok(Held::Passed), "{name}");
        }
    }
}

#[tokio::test]
async fn all_faults_are_found_on_sqlite() {
    all_faults_are_found(Backend::Sqlite).await;
}

#[tokio::test]
async fn all_faults_are_found_on_postgres() {
    all_faults_are_found(Backend::Postgres).await;
}

#[tokio::test]
async fn a_sound_type_passes_on_sqlite() {
    a_sound_type_passes(Backend::Sqlite).await;
}

#[tokio::test]
async fn a_sound_type_passes_on_postgres() {
    a_sound_type_passes(Backend::Postgres).await;
}
