//! The checks find faults: types that are sound pass all of them, and each fault that is planted is found.

mod actions;
mod exhibit;
mod formats;
mod specimen;

use entity_core::Provider;
use entity_core::engine::Route;
use http::StatusCode;
use lectern_testing::conformance::{self, Check, Given, Held, Suite};
use lectern_testing::endpoints::Added;
use lectern_testing::{Backend, Role, TestApp};
use serde_json::{Value, json};

use self::exhibit::{
    Exhibit, ExposedExhibit, LateExhibit, LongExhibit, MisnamedExhibit, Piece, ReversedExhibit,
    TellingExhibit, route,
};
use self::specimen::{
    ACTION_FOR_ALL, ACTION_KEEPS_VERSION, ACTION_OF_ALL_SITES, CHANGED_TEXT, DELETE_FOR_ALL,
    FAILING_ACTION, FAILING_VIEW, FAILING_WRITE, FAILURE_AT_LIMITS, FORGOTTEN_VERSION, Flawed,
    LACK_IN_LIST, LEAK_BY_EXPAND, LEAK_BY_FILTER, LEAK_IN_ACTION, LEAK_IN_COUNT, LEAK_IN_LIST,
    LEAK_IN_REFUSAL, LEAK_IN_SEARCH, LEAK_IN_VIEW, LOST_NULL, OTHER_VALUE_IN_LIST, OUTLIVED_SITE,
    QUERY_PER_ROW, ROWS_LEFT, SOUND, TITLES_IN_VIEW, TWO_AT_ONCE, UNNAMED_FIELD, UPDATE_FOR_ALL,
    UPDATE_FOR_STRANGERS, VEILED_IN_ACTION, VEILED_IN_VIEW, VIEW_OF_ALL_SITES, WRONG_MEDIA_TYPE,
    WRONG_STATUS,
};

/// The type `prefix` on a service with what is added; `None` where this kind of storage is not installed.
async fn suite(backend: Backend, prefix: &str, added: Added) -> Option<Suite> {
    suite_of(backend, prefix, added, Given::Values(json!({}))).await
}

async fn suite_of(backend: Backend, prefix: &str, added: Added, given: Given) -> Option<Suite> {
    let app = TestApp::with_added(backend, added).await?;
    let suite = Suite::on(app, prefix, given).await;
    Some(suite.expect("entities of the type can be made"))
}

/// The type that is written by hand, with `FAULT`, for a service.
fn planted<const FAULT: u8>() -> Added {
    let route = Route::of::<Flawed<FAULT>>(("tests", "1.0.0"));
    let route = route
        .read()
        .list()
        .create()
        .update()
        .delete()
        .actions()
        .table();
    Added {
        types: vec![route.build()],
        endpoints: Flawed::<FAULT>::VIEWS,
        formats: None,
    }
}

/// Fails unless `check` finds the fault in what is added, and says so in a complaint that contains `word`.
async fn is_found_in(suite: Option<Suite>, fault: &str, check: &str, word: &str) {
    let Some(suite) = suite else {
        return;
    };
    let check: Check = conformance::CHECKS
        .into_iter()
        .find_map(|(name, it)| (name == check).then_some(it))
        .expect("a check");
    match check(&suite).await {
        Err(complaint) => assert!(complaint.contains(word), "{fault}: {complaint}"),
        Ok(held) => panic!("{fault} is not found: {held:?}"),
    }
}

async fn is_found<const FAULT: u8>(backend: Backend, check: &str, word: &str) {
    let suite = suite(backend, "specimen", planted::<FAULT>()).await;
    is_found_in(suite, &format!("fault {FAULT}"), check, word).await;
}

/// Fails unless `check` finds the fault in the functions of the derived type.
async fn is_found_of(backend: Backend, fault: (&str, Route), check: &str, word: &str) {
    let added = Added {
        types: vec![fault.1],
        ..Added::default()
    };
    let suite = suite(backend, "exhibit", added).await;
    is_found_in(suite, fault.0, check, word).await;
}

const AGREEMENT: &str = "callers_see_the_same_in_every_way";
const VALUES: &str = "values_are_the_same_in_every_way";
const VEILS: &str = "veiled_values_show_nowhere";
const EVENTS: &str = "events_are_when_entities_say";
const ACTIONS: &str = "actions_answer_everybody";
const WRITING: &str = "writing_actions_ask_who_may";
const WRITERS: &str = "only_those_write_who_may";
const VIEWS: &str = "views_show_what_the_list_shows";
const SECRECY: &str = "hidden_entities_leave_no_trace";
const ROUND_TRIP: &str = "fields_come_back_as_they_were_sent";
const INPUT: &str = "wrong_input_is_refused";
const VERSIONS: &str = "versions_hold";
const COST: &str = "a_list_takes_a_constant_number_of_statements";
const TWICE: &str = "of_two_creations_at_once_one_succeeds";
const LEFTOVERS: &str = "a_deletion_leaves_nothing";
const LIFETIME: &str = "entities_end_with_their_site";

async fn faults_of_reading_are_found(backend: Backend) {
    is_found::<LEAK_IN_LIST>(backend, AGREEMENT, "in the list but not by its id").await;
    is_found::<LEAK_IN_COUNT>(backend, AGREEMENT, "is told that there are").await;
    is_found::<LEAK_IN_SEARCH>(backend, AGREEMENT, "_search=").await;
    is_found::<LEAK_BY_FILTER>(backend, SECRECY, "&name=").await;
    is_found::<LEAK_BY_EXPAND>(backend, SECRECY, "`read_many` must answer").await;
    is_found::<LEAK_IN_REFUSAL>(backend, SECRECY, "tell nothing of the entity").await;
    is_found::<LACK_IN_LIST>(backend, AGREEMENT, "by its id but not in the list").await;
    is_found::<QUERY_PER_ROW>(backend, COST, "by one statement for all").await;
    is_found::<FAILING_ACTION>(backend, ACTIONS, "gets 500").await;
    is_found::<LEAK_IN_ACTION>(backend, ACTIONS, "but not by its id").await;
    is_found::<ACTION_OF_ALL_SITES>(backend, ACTIONS, "of another site").await;
    is_found::<WRONG_MEDIA_TYPE>(backend, ACTIONS, "answers text/plain").await;
    is_found::<FAILING_VIEW>(backend, VIEWS, "gets 500").await;
    is_found::<LEAK_IN_VIEW>(backend, VIEWS, "but not by its id").await;
    is_found::<VIEW_OF_ALL_SITES>(backend, VIEWS, "of another site").await;
    is_found::<OTHER_VALUE_IN_LIST>(backend, VALUES, "in the list").await;
    is_found::<VEILED_IN_VIEW>(backend, VEILS, "`remark` of").await;
    is_found::<VEILED_IN_ACTION>(backend, VEILS, "/card").await;
    is_found::<TITLES_IN_VIEW>(backend, VEILS, "`name` of").await;
}

async fn faults_of_writing_are_found(backend: Backend) {
    is_found::<LOST_NULL>(backend, ROUND_TRIP, "was sent as null").await;
    is_found::<CHANGED_TEXT>(backend, ROUND_TRIP, "`name` was sent as").await;
    is_found::<FORGOTTEN_VERSION>(backend, VERSIONS, "leaves the version as it was").await;
    is_found::<FAILURE_AT_LIMITS>(backend, INPUT, "500").await;
    is_found::<WRONG_STATUS>(backend, INPUT, "404").await;
    is_found::<UNNAMED_FIELD>(backend, INPUT, "Error::field").await;
    is_found::<OUTLIVED_SITE>(backend, LIFETIME, "is still there").await;
    is_found::<FAILING_WRITE>(backend, WRITING, "gets 500").await;
    is_found::<ACTION_KEEPS_VERSION>(backend, WRITING, "leaves its version").await;
    is_found::<ACTION_FOR_ALL>(backend, WRITING, "asks for Session").await;
    is_found::<UPDATE_FOR_ALL>(backend, WRITERS, "must not write it").await;
    is_found::<UPDATE_FOR_STRANGERS>(backend, WRITERS, "must not write it").await;
    is_found::<DELETE_FOR_ALL>(backend, WRITERS, "every member of a site may delete").await;
    is_found::<ROWS_LEFT>(backend, LEFTOVERS, "`demo_password`").await;
    // On SQLite there is one writer, so that nothing happens at once.
    if backend == Backend::Postgres {
        is_found::<TWO_AT_ONCE>(backend, TWICE, "201 Created and 201 Created").await;
    }
}

async fn faults_of_entries_are_found(backend: Backend) {
    let late = ("late", route::<LateExhibit>());
    is_found_of(backend, late, EVENTS, "begins at").await;
    let long = ("long", route::<LongExhibit>());
    is_found_of(backend, long, EVENTS, "ends at").await;
    let reversed = ("reversed", route::<ReversedExhibit>());
    is_found_of(backend, reversed, EVENTS, "before it begins").await;
    let telling = ("telling", route::<TellingExhibit>());
    is_found_of(backend, telling, VEILS, "`number` of").await;
    let exposed = ("exposed", route::<ExposedExhibit>());
    is_found_of(backend, exposed, VEILS, "`place` of").await;
    let misnamed = ("misnamed", route::<MisnamedExhibit>());
    is_found_of(backend, misnamed, VALUES, ".atom").await;
}

async fn faults_of_formats_are_found(backend: Backend) {
    for (fault, formats, word) in [
        ("XML", formats::with_careless_xml(), "as XML"),
        ("CSV", formats::with_careless_csv(), "as CSV"),
        ("plain CSV", formats::with_plain_csv(), "not text/csv"),
    ] {
        let added = Added {
            formats: Some(formats),
            ..planted::<SOUND>()
        };
        let suite = suite(backend, "specimen", added).await;
        is_found_in(suite, fault, VALUES, word).await;
    }
}

/// Fails unless the type passes all checks, of which it has something for each but those named.
async fn is_sound(suite: Option<Suite>, skipped: &[&str]) {
    let Some(suite) = suite else {
        return;
    };
    for (name, check) in conformance::CHECKS {
        match check(&suite).await {
            Ok(Held::Passed) => assert!(!skipped.contains(&name), "{name} is not skipped"),
            Ok(Held::Skipped(reason)) => assert!(skipped.contains(&name), "{name}: {reason}"),
            Err(complaint) => panic!("{name}: {complaint}"),
        }
    }
}

/// The fields of a piece of an exhibit of its own.
async fn make_piece(app: &TestApp, site: &str, number: usize) -> Value {
    let admin = app.role(Role::Superuser).await;
    // A member of each site.
    let keeper = app.role(Role::OtherStudent).await;
    let keeper = keeper.get("/direct/session/current.json").await.json();
    let exhibit = json!({
        "siteId": site, "keeper": keeper["userId"], "name": format!("Exhibit {number}"), "code": number,
        "opens": "2026-12-01T10:00:00Z", "closes": "2026-12-01T12:00:00Z",
    });
    let exhibit = admin.post("/direct/exhibit.json", &exhibit).await;
    exhibit.expect(StatusCode::CREATED);
    let id = exhibit.header("EntityId").expect("an exhibit");
    json!({"siteId": site, "exhibitId": id, "item": format!("Piece {number}")})
}

async fn sound_types_pass(backend: Backend) {
    let specimen = suite(backend, Flawed::<SOUND>::PREFIX, planted::<SOUND>()).await;
    is_sound(specimen, &[EVENTS, TWICE]).await;
    let both = || Added {
        types: vec![route::<Exhibit>(), route::<Piece>()],
        ..Added::default()
    };
    let exhibit = suite(backend, Exhibit::PREFIX, both()).await;
    is_sound(exhibit, &[ACTIONS, WRITING]).await;
    let piece = suite(backend, Piece::PREFIX, both()).await;
    is_sound(piece, &[EVENTS, ACTIONS, WRITING]).await;
    let made = Given::Entities(|app, site, number| Box::pin(make_piece(app, site, number)));
    let piece = suite_of(backend, Piece::PREFIX, both(), made).await;
    is_sound(piece, &[EVENTS, ACTIONS, WRITING, VEILS]).await;
}

/// Makes a test for each kind of database.
macro_rules! on_both {
    ($($name:ident),+) => {$(
        mod $name {
            #[tokio::test]
            async fn sqlite() {
                super::$name(lectern_testing::Backend::Sqlite).await;
            }

            #[tokio::test]
            async fn postgres() {
                super::$name(lectern_testing::Backend::Postgres).await;
            }
        }
    )+};
}

on_both!(
    faults_of_reading_are_found,
    faults_of_writing_are_found,
    faults_of_entries_are_found,
    faults_of_formats_are_found,
    sound_types_pass
);
