//! Lists answer the same from a table of either database and from memory, whatever they are asked.

pub(crate) mod dice;
mod sample;

use std::sync::Arc;

use entity_core::db::{Db, File, Parents, QueryPools, Record, TableSpec, row};
use entity_core::engine::{DirectPath, Dispatcher, Request, Route};
use entity_core::reply::{Body, Collection};
use entity_core::search::Window;
use entity_core::testing::{KeptEvents, ToldAuthorizer, origin, shared};
use entity_core::{Caller, Error, ErrorKind, Input, Preconditions, Registry, Verb};
use sea_orm::ConnectionTrait;
use sea_orm::sea_query::{Alias, Expr, Query};
use tests::{Backend, Database, both};

use dice::Dice;
use sample::{CUT, MOST, Sample, Shelf, Shelved};

/// Questions in each run: four runs on each database are 10,000 in all.
const QUESTIONS: usize = 1_250;
/// Parts that a walk is followed for: more than there are.
const MOST_PARTS: usize = 100;

both! {
    async fn a_table_and_the_memory_answer_alike(database: Database) {
        let mut dice = Dice::new(20_261_121);
        let samples: Vec<Sample> = (0..48).map(|it| Sample::random(it, &mut dice)).collect();
        let dispatcher = start(&database, samples).await;
        let run = |seed| run(&dispatcher, Dice::new(seed));
        // Beside each other, because the database answers in a process of its own.
        let runs = tokio::join!(run(1), run(2), run(3), run(4));
        for (answered, walked) in [runs.0, runs.1, runs.2, runs.3] {
            // Questions that are all refused, or all answered at once, would prove little.
            let is_fair = (QUESTIONS / 2..QUESTIONS).contains(&answered) && walked > QUESTIONS / 20;
            assert!(is_fair, "{answered} answered, {walked} of them in parts");
        }
    }
}

both! {
    async fn all_parts_of_a_list_that_is_cut_end_at_the_cut(database: Database) {
        let mut dice = Dice::new(20_261_121);
        let samples: Vec<Sample> = (0..48).map(|it| Sample::random(it, &mut dice)).collect();
        let dispatcher = start(&database, samples).await;
        let mut shortened = 0;
        for _ in 0..QUESTIONS / 5 {
            let (query, most) = (dice.query(), dice.below(12));
            for prefix in ["sample", "shelf"] {
                shortened += usize::from(is_cut(&dispatcher, prefix, &query, most).await);
            }
        }
        // Cuts behind the end of what was found would prove little.
        assert!(shortened > QUESTIONS / 20, "{shortened}");
    }
}

/// Asks `query` of a list that is cut behind `most`, compares the answer with the first entries of the whole, and
/// returns true if the whole was longer.
async fn is_cut(
    dispatcher: &Dispatcher,
    prefix: &str,
    query: &[(String, String)],
    most: usize,
) -> bool {
    let path = || DirectPath::new(prefix, [CUT]);
    let mut of_list = query.to_vec();
    of_list.retain(|(name, _)| !Window::is_set_by(name));
    let Ok(whole) = ask(dispatcher, path(), &of_list).await else {
        return false;
    };
    let whole = ids(&whole);
    let expected = &whole[..most.min(whole.len())];
    let mut query = query.to_vec();
    query.push((MOST.to_owned(), most.to_string()));
    let is_walk = query.iter().any(|(name, _)| name == "_cursor");
    let (mut cursor, mut walked) = (None, Vec::new());
    for _ in 0..MOST_PARTS {
        let part = ask(dispatcher, path(), &with(&query, cursor.take())).await;
        let part = part.expect("it answers the whole");
        assert_eq!(part.total, u64::try_from(expected.len()).ok(), "{query:?}");
        if !is_walk {
            let number = |it| usize::try_from(it).expect("a small number");
            let (start, limit) = (number(part.start), number(part.limit));
            let wanted = expected.iter().skip(start).take(limit);
            assert!(ids(&part).iter().eq(wanted), "{query:?}: {part:?}");
            assert_eq!(part.has_more, start + limit < expected.len(), "{query:?}");
            return whole.len() > most;
        }
        walked.extend(ids(&part));
        assert_eq!(part.has_more, part.cursor.is_some(), "{query:?}");
        cursor = part.cursor;
        if cursor.is_none() {
            assert_eq!(walked, expected, "{query:?}");
            return whole.len() > most;
        }
    }
    panic!("{query:?} has no end");
}

fn ids(collection: &Collection) -> Vec<String> {
    let ids = collection.items.iter().map(entity_core::reply::Item::id);
    ids.collect()
}

/// Sends many queries, and returns the numbers of answers and of those in more than two parts.
async fn run(dispatcher: &Dispatcher, mut dice: Dice) -> (usize, usize) {
    let (mut answered, mut walked) = (0, 0);
    for _ in 0..QUESTIONS {
        if let Some(parts) = compare(dispatcher, &dice.query()).await {
            answered += 1;
            walked += usize::from(parts > 2);
        }
    }
    (answered, walked)
}

/// Queries both, and follows both to the end of a walk. Returns the number of its parts; `None` if both refuse.
async fn compare(dispatcher: &Dispatcher, query: &[(String, String)]) -> Option<usize> {
    let mut cursors = [None, None];
    for part in 1..=MOST_PARTS {
        let [one, other] = ["sample", "shelf"];
        let path = |prefix| DirectPath::new(prefix, None::<String>);
        let one = ask(dispatcher, path(one), &with(query, cursors[0].take())).await;
        let other = ask(dispatcher, path(other), &with(query, cursors[1].take())).await;
        let (one, other) = match (one, other) {
            (Ok(one), Ok(other)) => (one, other),
            (Err(one), Err(other)) => {
                assert_eq!(one.to_string(), other.to_string(), "{query:?}");
                return None;
            }
            (one, other) => panic!("{query:?}: {one:?}\n{other:?}"),
        };
        assert_eq!(ids(&one), ids(&other), "{query:?}");
        assert_eq!(one.has_more, other.has_more, "{query:?}");
        assert_eq!(one.total, other.total, "{query:?}");
        assert_eq!(one.cursor.is_some(), other.cursor.is_some(), "{query:?}");
        cursors = [one.cursor, other.cursor];
        if cursors[0].is_none() {
            return Some(part);
        }
    }
    panic!("{query:?} has no end");
}

/// The same question about the part that begins at `cursor`.
fn with(query: &[(String, String)], cursor: Option<String>) -> Vec<(String, String)> {
    let mut query = query.to_vec();
    if let (Some(pair), Some(cursor)) = (query.iter_mut().find(|it| it.0 == "_cursor"), cursor) {
        pair.1 = cursor;
    }
    query
}

async fn ask(
    dispatcher: &Dispatcher,
    path: DirectPath,
    query: &[(String, String)],
) -> Result<Collection, Error> {
    let request = Request {
        path,
        verb: Verb::Get,
        query: query.to_vec(),
        input: Input::default(),
        preconditions: Preconditions::default(),
        is_dry_run: false,
        wants_allowed_actions: false,
        origin: origin(Caller::user("ada", "ada")),
    };
    let reply = dispatcher.dispatch(&request).await;
    let is_defect = |it: &Error| matches!(it.kind(), ErrorKind::Internal | ErrorKind::Unavailable);
    if let Err(error) = &reply {
        assert!(!is_defect(error), "{query:?}: {error:?}");
    }
    match reply?.body {
        Body::Collection(collection) => Ok(collection),
        other => panic!("{other:?}"),
    }
}

/// A service with `samples` in a table and on a shelf, for somebody who may read those of two sites.
async fn start(database: &Database, samples: Vec<Sample>) -> Dispatcher {
    let connection = sea_orm::Database::connect(database.url()).await;
    let connection = connection.expect("it connects");
    let backend = connection.get_database_backend();
    let table = TableSpec::of::<Sample>().create_statement(backend, Parents::default());
    connection.execute(&table).await.expect("a table");
    for sample in &samples {
        let (columns, values): (Vec<_>, Vec<_>) = row(sample).into_iter().unzip();
        let mut insert = Query::insert();
        insert
            .into_table(Alias::new(Sample::TABLE))
            .columns(columns.into_iter().map(Alias::new))
            .values_panic(values.into_iter().map(Expr::val));
        connection.execute(&insert).await.expect("a row");
    }
    let mut file = None;
    if database.backend() == Backend::Sqlite {
        let journal = connection.execute_unprepared("PRAGMA journal_mode = WAL");
        journal.await.expect("a journal that readers can share");
        file = Some(File::new(database.folder().join("lectern.db")));
    }
    let told = ToldAuthorizer::default()
        .grant("sample.read", "s1")
        .grant("sample.read", "s2")
        .site("s3");
    let mut shared = shared(told);
    shared.services.insert(Arc::new(Shelf(samples)));
    let origin = ("tests", "1.0.0");
    let routes = [
        Route::of::<Sample>(origin).list().actions().build(),
        Route::of::<Shelved>(origin).list().actions().build(),
    ];
    let db = Db {
        reader: connection.clone(),
        writer: connection,
        file,
        query_pools: QueryPools::default(),
        faults: entity_core::db::Faults::default(),
        stops: None,
    };
    Dispatcher::new(
        Arc::new(Registry::new(routes).expect("types that go together")),
        Arc::new(db),
        Arc::new(KeptEvents::default()),
        shared,
    )
}
