//! Types with a history, and what actions call the segments of their paths.

use std::sync::Arc;

use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::unit::NoStore;
use entity_core::{
    ARCHIVE_PAGE, Access, Action, Actions, Answers, Arguments, Body, Caller, Collection, Context,
    DateTimeUtc, DirectPath, Dispatcher, Entity, Error, ErrorKind, History, Input, Item, List,
    Need, Outcome, Page, Preconditions, Provider, Read, Registry, Request, Result, Route, Search,
    Verb, search,
};
use serde::{Deserialize, Serialize};

/// A report. There are 120, of which three at a time were written at the same instant.
#[derive(Clone, Debug, Serialize, Entity)]
#[entity(history, feed = Self::to_feed)]
struct Report {
    #[entity(id, column)]
    id: String,
    #[entity(title)]
    title: String,
    #[entity(created, column)]
    created: DateTimeUtc,
}

impl Report {
    fn to_feed(&self) -> entity_core::FeedEntry {
        entity_core::FeedEntry {
            title: self.title.clone(),
            updated: self.created,
            published: None,
            author: None,
            content: None,
            categories: Vec::new(),
            enclosures: Vec::new(),
        }
    }
}

#[derive(Debug)]
struct Reports;

const TOTAL: u64 = 120;

fn all() -> Vec<Report> {
    let report = |number: u64| Report {
        id: format!("r{number:03}"),
        title: format!("Report {number}"),
        created: DateTimeUtc::from_timestamp(i64::try_from(number / 3).unwrap(), 0).unwrap(),
    };
    (0..TOTAL).map(report).collect()
}

impl Provider for Reports {
    type Entity = Report;
    const PREFIX: &'static str = "report";
    const ACCESS: Access = Access::PUBLIC;
}

impl Read for Reports {
    async fn read(_cx: &Context, id: &str) -> Result<Option<Report>> {
        Ok(all().into_iter().find(|it| it.id == id))
    }
}

impl List for Reports {
    const ORDER: &'static str = "created_desc,id";

    async fn list(_cx: &Context, search: &Search) -> Result<Page<Report>> {
        search::select(all(), search)
    }

    async fn count(_cx: &Context, _search: &Search) -> Result<Option<u64>> {
        Ok(Some(TOTAL))
    }
}

impl Actions for Reports {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, "between", Need::Public, |_, arguments| {
                Box::pin(async move { between(&arguments) })
            })
            .argument("first", "The first.")
            .argument("last", "The last.")
            .optional_argument("note", "A note.")
            .answers(Answers::Unsaid),
        ]
    }
}

fn between(arguments: &Arguments) -> Result<Outcome<Reports>> {
    let (first, last) = (arguments.argument("first")?, arguments.argument("last")?);
    let note = arguments.optional("note").unwrap_or("none");
    Ok(Outcome::value(format!("{first} to {last}, {note}")))
}

fn route() -> Route {
    Route::of::<Reports>(("tests", "1.0.0"))
        .read()
        .list()
        .actions()
        .build()
}

async fn ask(path: &str, query: &[(&str, &str)]) -> Result<Body> {
    let registry = Arc::new(Registry::new([route()]).unwrap());
    let sink = Arc::new(KeptEvents::default());
    let shared = shared(ToldAuthorizer::default());
    let dispatcher = Dispatcher::new(registry, Arc::new(NoStore), sink, shared);
    let request = Request {
        path: DirectPath::parse(path, |_| false)?,
        verb: Verb::Get,
        query: query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_abilities: false,
        wants_history: true,
        origin: origin(Caller::anonymous()),
    };
    Ok(dispatcher.dispatch(&request).await?.body)
}

async fn list(query: &[(&str, &str)]) -> Result<Collection> {
    match ask("/report", query).await? {
        Body::Collection(it) => Ok(it),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_archive_is_the_list_backwards_as_far_as_it_fills_pages() {
    let whole = list(&[]).await.unwrap();
    let newest = History {
        page: None,
        newest: 2,
        rest: None,
    };
    assert_eq!(whole.history, Some(newest));
    let mut backwards: Vec<_> = whole.items.iter().map(Item::id).collect();
    backwards.reverse();
    let mut archived = Vec::new();
    for page in ["1", "2"] {
        let page = list(&[("_archive", page)]).await.unwrap();
        assert_eq!(page.limit, ARCHIVE_PAGE);
        archived.extend(page.items.iter().map(Item::id));
    }
    assert_eq!(archived, backwards[..100]);
    // What is current must hold the rest, though ties cross its end.
    let current = list(&[("_limit", "50")]).await.unwrap();
    assert_eq!(current.history, Some(newest));
    archived.extend(current.items.iter().map(Item::id));
    archived.sort();
    archived.dedup();
    assert_eq!(archived.len(), 120);
    let error = list(&[("_archive", "3")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_part_that_does_not_reach_to_the_archive_has_no_place_in_the_history() {
    for query in [
        &[("_limit", "49")][..],
        &[("_start", "1")],
        &[("_cursor", "")],
        &[("_order", "id")],
    ] {
        let part = list(query).await.unwrap();
        assert_eq!(part.history, None, "{query:?}");
    }
}

#[tokio::test]
async fn an_action_calls_the_segments_of_its_path_by_name() {
    let answer = async |path: &str| match ask(path, &[]).await? {
        Body::Value(it) => serde_json::to_value(&it.data).map_err(Error::internal),
        other => panic!("{other:?}"),
    };
    let text = |it: Result<serde_json::Value>| match it {
        Ok(value) => value.as_str().unwrap().to_owned(),
        Err(error) => format!("{:?} {}", error.kind(), error.message()),
    };
    for (path, expected) in [
        ("/report/between/a/b", "a to b, none"),
        ("/report/between/a/b/c", "a to b, c"),
        (
            "/report/between",
            "BadRequest the path must go on with a `first` behind `between`",
        ),
        (
            "/report/between/a",
            "BadRequest the path must go on with a `last` behind `between`",
        ),
        (
            "/report/between/a/%20",
            "BadRequest the `last` behind `between` in the path must not be blank",
        ),
        (
            "/report/between/a/b/c/d",
            "NotFound there is nothing at this address",
        ),
    ] {
        assert_eq!(text(answer(path).await), expected, "{path}");
    }
}

/// A table with a history.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "log", table = "log", access = Public, verbs(read, list), history)]
struct Log {
    #[entity(id)]
    entry_id: String,
    #[entity(title)]
    title: String,
    #[entity(created)]
    written_on: DateTimeUtc,
}

#[test]
fn the_lists_of_a_table_with_a_history_begin_with_the_newest() {
    assert!(Log::schema().has_history && Log::schema().has_feed);
    assert_eq!(<Log as List>::ORDER, "writtenOn_desc,entryId");
    let route = Route::of::<Log>(("tests", "1.0.0")).read().list().build();
    assert!(Registry::new([route]).is_ok());
}

/// Makes a route what no service starts with.
type Spoil = fn(&mut Route);

#[test]
fn a_history_that_can_t_be_shown_is_refused() {
    let spoilt: [(Spoil, &str); 8] = [
        (|it| it.order = "", "`created`, descending"),
        (|it| it.order = "created", "`created`, descending"),
        (|it| it.order = "id,created_desc", "`created`, descending"),
        (|it| it.max = 49, "50 entities at least"),
        (
            |it| it.actions[0].arguments[0].name = "id",
            "illegal name `id`",
        ),
        (
            |it| it.actions[0].arguments[0].name = "site-id",
            "illegal name `site-id`",
        ),
        (
            |it| it.actions[0].arguments[1].name = "first",
            "two arguments `first`",
        ),
        (
            |it| it.actions[0].arguments[0].is_required = false,
            "`last` must be there",
        ),
    ];
    for (spoil, expected) in spoilt {
        let mut route = route();
        spoil(&mut route);
        let error = Registry::new([route]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let unlisted = Route::of::<Reports>(("tests", "1.0.0")).read().build();
    let error = Registry::new([unlisted]).unwrap_err().to_string();
    assert!(error.contains("no list"), "{error}");
}
