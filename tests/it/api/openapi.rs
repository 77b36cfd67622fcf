//! `GET /api/openapi.json` and `GET /api/docs`: the service is as it describes itself.

mod call;
mod document;

use std::collections::{BTreeMap, BTreeSet};

use call::{Known, calls};
use document::Document;
use entity_core::Registry;
use entity_core::catalog::Catalog;
use http::{HeaderName, Method, StatusCode};
use server::web::api::Endpoints;
use tests::{
    Backend, Client, Database, OnBackend as _, TestApp, above_storage, is_full, is_left_out, say,
};

const PATH: &str = "/api/openapi.json";

/// Operations that end the session they are called in: each gets one of its own.
const ENDS_SESSION: [&str; 4] = [
    "deleteAnySessionCurrent",
    "deleteSession",
    "deleteSessionAtForm",
    "logOut",
];

/// Most people make one in so many calls of each operation, unless `FULL=1`; the administrator makes all.
const SAMPLED: usize = 4;

/// The suffix of the ids of operations that have a better address.
const AT_FORM: &str = "AtForm";

/// Operations whose examples nobody can succeed with: what they need differs from one service to the next.
const NEEDS_MORE: &str = include_str!("openapi/needs_more.txt");

/// Types whose ids are drawn, so that it is left to chance which of the demo's entities is asked for, and what can be done
/// with that one; or all of which one of the operations deletes.
const DRAWN: [&str; 7] = [
    // Rows of the audit log are stored a little after the request.
    "readAudit",
    "SamPub",
    "QuizQuestion",
    "Lesson",
    "Forums",
    "Notification",
    "Task",
];

fn catalog() -> Catalog {
    let registry = Registry::from_inventory().expect("types that go together");
    Catalog::of(
        &registry,
        &entity_formats::standard().expect("formats that go together"),
    )
}

async fn document(client: &Client) -> Document {
    Document::new(client.get(PATH).await.expect(StatusCode::OK).json())
}

/// The method and path of everything that is registered. Optional segments of a path are left out.
fn offered() -> BTreeSet<(String, String)> {
    let mut offered = BTreeSet::new();
    for entry in catalog().types {
        let path = format!("/direct/{}", entry.prefix);
        for address in entry.addresses {
            offered.insert((address.method.to_owned(), format!("{path}{}", address.path)));
        }
        for action in entry.actions {
            let id = if action.target == "entity" {
                "/{id}"
            } else {
                ""
            };
            let mut path = format!("{path}{id}/{}", action.name);
            for argument in action.arguments.iter().filter(|it| it.required) {
                path = format!("{path}/{{{}}}", argument.name);
            }
            offered.insert((action.method.to_owned(), path));
        }
    }
    let endpoints = Endpoints::from_inventory().expect("endpoints that go together");
    for endpoint in endpoints.iter() {
        offered.insert((endpoint.verb.name().to_owned(), endpoint.path.to_owned()));
    }
    offered
}

above_storage! {
    async fn everything_that_is_registered_is_described(app: TestApp) {
        let document = document(&app.anonymous()).await;
        let described: BTreeSet<_> = document
            .operations()
            .map(|it| (it.method.to_ascii_uppercase(), it.path.clone()))
            .collect();
        let missing = offered().difference(&described).cloned().collect::<Vec<_>>();
        assert!(missing.is_empty(), "{missing:?}");
    }

    async fn the_methods_of_a_path_are_those_that_are_described(app: TestApp) {
        let user = app.user("admin").await;
        let mut described: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for operation in document(&user).await.operations() {
            let methods = described.entry(operation.path.clone()).or_default();
            methods.insert(operation.method.to_ascii_uppercase());
        }
        for (path, methods) in described {
            let path = path.replace("{prefix}", "site");
            let answer = user.send(Method::OPTIONS, &path, "text/plain", "".into()).await;
            answer.expect(StatusCode::NO_CONTENT);
            let allow = answer.header("allow").expect("what the path takes").split(", ");
            // Those two every path takes.
            let allowed = allow.filter(|it| !["HEAD", "OPTIONS"].contains(it));
            assert_eq!(allowed.map(ToOwned::to_owned).collect::<BTreeSet<_>>(), methods, "{path}");
        }
    }

    async fn what_counts_in_a_header_is_described(app: TestApp) {
        let document = document(&app.anonymous()).await;
        for (id, expected) in [
            ("readSite", &["_fields", "_expand", "If-None-Match", "If-Modified-Since"][..]),
            ("getAnyUserCurrent", &["_fields", "_expand", "If-None-Match", "If-Modified-Since"]),
            ("updateSite", &["If-Match", "If-Unmodified-Since", "Prefer"]),
            ("deleteSite", &["If-Match", "If-Unmodified-Since", "Prefer"]),
            ("deleteSiteAtForm", &["If-Match", "If-Unmodified-Since", "Prefer"]),
            ("createSiteAtForm", &["Prefer", "Idempotency-Key"]),
            ("batchOfReferences", &["_refs", "separator", "refN"]),
            ("putBatchOfReferences", &["_refs", "separator", "refN"]),
            ("batchOfOperations", &["_refs", "separator", "refN", "Prefer", "Idempotency-Key"]),
        ] {
            let operation = document.operations().find(|it| it.id == id).expect("an operation");
            let names: Vec<_> = operation.parameters.iter().map(|it| it.name.as_str()).collect();
            let missing: Vec<_> = expected.iter().filter(|it| !names.contains(it)).collect();
            assert!(missing.is_empty(), "{id}: {missing:?}");
        }
        for (id, status, header) in [
            ("readSite", "200", "Last-Modified"),
            ("createSite", "201", "Preference-Applied"),
            ("createSite", "201", "Idempotency-Replayed"),
            ("deleteSite", "204", "Preference-Applied"),
        ] {
            let operation = document.operations().find(|it| it.id == id).expect("an operation");
            assert!(operation.tells(status, header), "{id} {status} {header}");
        }
    }

    async fn names_are_unique_and_lead_somewhere(app: TestApp) {
        let document = document(&app.anonymous()).await;
        let mut ids = BTreeSet::new();
        for operation in document.operations() {
            assert!(ids.insert(operation.id.clone()), "{} is there twice", operation.id);
            let variables: BTreeSet<_> = operation
                .path
                .split('/')
                .filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'))
                .map(ToOwned::to_owned)
                .collect();
            let parameters = operation.parameters.iter().filter(|it| it.location == "path");
            let parameters: BTreeSet<_> = parameters.map(|it| it.name.clone()).collect();
            assert_eq!(variables, parameters, "{}", operation.id);
        }
        for reference in document.references() {
            assert!(document.resolve(&reference).is_some(), "{reference}");
        }
    }

    async fn every_operation_answers_as_it_is_described(app: TestApp) {
        if is_left_out(&app) {
            return;
        }
        let is_sampled = !is_full();
        if is_sampled {
            say(&format!(
                "described operations: one in {SAMPLED} calls by others than the administrator; FULL=1 makes all"
            ));
        }
        let mut succeeded = BTreeMap::new();
        for eid in ["student1", "instructor1", "admin"] {
            let user = app.user(eid).await;
            let feed = serde_json::json!({"path": "/announcement/site/biology-101"});
            let made = user.post("/direct/feed", &feed).await;
            let document = document(&user).await;
            let known = Known::of(&user, &document).await.with_feed(&made.json());
            let mut operations: Vec<_> = document.operations().collect();
            // What is deleted is deleted last.
            operations.sort_by_key(|it| (it.method == "delete", !it.id.ends_with(AT_FORM)));
            let mut created = BTreeMap::new();
            for operation in operations {
                let (user, known) = match ENDS_SESSION.contains(&operation.id.as_str()) {
                    true => {
                        let user = app.user(eid).await;
                        let known = Known::of(&user, &document).await;
                        (user, known)
                    }
                    false => (user.clone(), known.with(&created)),
                };
                let is_second_door = operation.method == "delete" && operation.id.ends_with(AT_FORM);
                let calls = calls(operation, &known);
                let last = calls.len() - 1;
                for (index, call) in calls.into_iter().enumerate() {
                    let is_left_out = index % SAMPLED > 0 && index != last;
                    if is_sampled && eid != "admin" && is_left_out {
                        continue;
                    }
                    let mut client = user.clone();
                    // The other address deletes it.
                    if is_second_door {
                        client = client.with_header(HeaderName::from_static("prefer"), "tx=rollback");
                    }
                    for (name, value) in &call.headers {
                        let name = HeaderName::from_bytes(name.as_bytes()).expect("a name");
                        client = client.with_header(name, value);
                    }
                    let answer = client
                        .send(call.method.clone(), &call.path, &call.media_type, call.body.clone().into())
                        .await;
                    if let Some(complaint) = document.complaint(operation, &answer) {
                        panic!("{eid}: {} {} {}: {complaint}", call.method, call.path, call.body);
                    }
                    let is_kept = operation.id.starts_with("create")
                        && answer.headers.get_all("preference-applied").iter().all(|it| it != "tx=rollback");
                    if let Some(id) = answer.header("entityid").filter(|_| is_kept) {
                        created.insert(operation.tag.clone(), id.to_owned());
                    }
                    let is_fine = answer.status.is_success() || answer.status.is_redirection();
                    *succeeded.entry(operation.id.clone()).or_insert(false) |= is_fine;
                }
            }
        }
        let failed = succeeded.into_iter().filter(|it| !it.1).map(|it| it.0);
        let failed = failed.filter(|id| !DRAWN.iter().any(|it| id.contains(it)));
        assert_eq!(failed.collect::<Vec<_>>(), NEEDS_MORE.lines().collect::<Vec<_>>());
    }

    async fn the_page_shows_every_operation(app: TestApp) {
        let stranger = app.anonymous();
        let answer = stranger.get("/api/docs").await;
        let page = answer.expect(StatusCode::OK).text();
        let ids = page.split("id=\"").skip(1).filter_map(|it| Some(it.split_once('"')?.0));
        let ids: BTreeSet<_> = ids.collect();
        for operation in document(&stranger).await.operations() {
            assert!(ids.contains(&*operation.id), "{}", operation.id);
        }
    }

    async fn a_form_of_the_page_leads_to_what_it_is_filled_with(app: TestApp) {
        let stranger = app.anonymous();
        for (query, expected) in [
            ("operation=listSite&_limit=5&_start=&format=application%2Fxml", "/direct/site.xml?_limit=5"),
            ("operation=readSite&id=a%2Fb%3F", "/direct/site/a%2Fb%3F"),
            ("operation=listSite&_search=a%26b", "/direct/site?_search=a%26b"),
        ] {
            let answer = stranger.get(&format!("/api/docs/try?{query}")).await;
            answer.expect(StatusCode::SEE_OTHER);
            let address = format!("http://127.0.0.1:8080{expected}");
            assert_eq!(answer.header("location"), Some(address.as_str()));
        }
        for (query, status) in [
            ("operation=nothing", StatusCode::NOT_FOUND),
            ("operation=createSite", StatusCode::BAD_REQUEST),
            ("operation=readSite", StatusCode::BAD_REQUEST),
            ("operation=listSite&format=text/nothing", StatusCode::BAD_REQUEST),
        ] {
            stranger.get(&format!("/api/docs/try?{query}")).await.expect(status);
        }
    }
}

#[test]
fn every_action_says_what_it_answers() {
    for entry in catalog().types {
        for action in entry.actions {
            assert_ne!(action.answers, "unsaid", "{}/{}", entry.prefix, action.name);
        }
    }
}

#[tokio::test]
async fn a_description_that_is_not_public_is_for_those_who_are_logged_in() {
    let database = Database::on_backend(Backend::Sqlite).await;
    let database = database.expect("a file");
    let app = TestApp::start(database, &[("describe.public", "false")]).await;
    for path in [PATH, "/api/docs", "/api/docs/try?operation=listSite"] {
        let answer = app.anonymous().get(path).await;
        answer.expect(StatusCode::UNAUTHORIZED);
    }
}
