//! Endpoints of a third party: the type's rule, the description, and one that contradicts another.

use std::process::Command;

use http::{Method, StatusCode};
use load::process::Process;
use load::{Backend, Client, Database, OnBackend};
use serde_json::json;
use tempfile::TempDir;

use super::{Desk, link};

const LOANS: &str = "/api/sites/biology-101/loans";

/// There is one loan of a beamer, to Ada.
pub(super) async fn loans_are_listed_as_far_as_they_are_seen(process: &Process, desk: &Desk) {
    for who in [&desk.instructor, &desk.assistant, &desk.ada] {
        let list = who.get(LOANS).await.expect(StatusCode::OK).json();
        assert_eq!(list[0]["item"], "Beamer", "{list}");
        assert_eq!(list[0]["borrower"], "Ada Moreau");
        assert_eq!(list[0]["dueDate"], "2101-01-01T00:00:00Z");
        assert_eq!(list[0].as_object().map(serde_json::Map::len), Some(4));
        let enveloped = who.get(&format!("{LOANS}?envelope=true")).await.json();
        assert_eq!(enveloped["data"], list);
    }
    let hidden = desk.bob.get(LOANS).await;
    assert_eq!(hidden.expect(StatusCode::OK).json(), json!([]));
    let outsider = Client::on_port(process.port());
    let outsider = outsider.log_in("instructor2", "lectern-demo").await;
    outsider.get(LOANS).await.expect(StatusCode::FORBIDDEN);
    let nowhere = outsider.get("/api/sites/nowhere/loans").await;
    nowhere.expect(StatusCode::NOT_FOUND);
    let wrong = desk.ada.get(&format!("{LOANS}?_limit=x")).await;
    wrong.expect(StatusCode::BAD_REQUEST);

    let stranger = Client::on_port(process.port());
    for path in [LOANS, "/api/sites/nowhere/loans", "/api/sites/nowhere"] {
        stranger.get(path).await.expect(StatusCode::UNAUTHORIZED);
    }
    let refused = desk.ada.delete(LOANS).await;
    refused.expect(StatusCode::METHOD_NOT_ALLOWED);
    assert_eq!(refused.header("allow"), Some("GET, POST, HEAD, OPTIONS"));
}

/// Loans are made at once and listed in parts, and a loan that is refused is not made.
pub(super) async fn equipment_is_lent(desk: &Desk, borrower: &str) {
    let loan = |item: &str, due: &str| json!({"borrower": borrower, "item": item, "due": due});
    let due = "2101-01-01T00:00:00Z";
    let tripod = loan("Tripod", due);
    let lent = desk.instructor.post(LOANS, &tripod).await;
    let lent = lent.expect(StatusCode::OK).json();
    assert_eq!(
        (&lent["item"], &lent["dueDate"]),
        (&json!("Tripod"), &json!(due))
    );
    let id = lent["id"].as_str().expect("an id");
    let one = desk.ada.get(&format!("/direct/loan/{id}.json")).await;
    assert_eq!(one.expect(StatusCode::OK).json()["siteId"], "biology-101");

    desk.ada
        .post(LOANS, &tripod)
        .await
        .expect(StatusCode::FORBIDDEN);
    for wrong in [
        loan("", due),
        loan("Tripod", "tomorrow"),
        loan("Tripod", "2001-01-01T00:00:00Z"),
        json!({"item": "Tripod"}),
        json!([]),
    ] {
        let refused = desk.instructor.post(LOANS, &wrong).await;
        refused.expect(StatusCode::BAD_REQUEST);
    }
    let form = desk.instructor.post_form(LOANS, "item=Tripod").await;
    form.expect(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let broken = desk
        .instructor
        .send(Method::POST, LOANS, "application/json", "{".into());
    broken.await.expect(StatusCode::BAD_REQUEST);

    let first = desk.assistant.get(&format!("{LOANS}?_limit=1")).await;
    assert_eq!(
        first.expect(StatusCode::OK).json().as_array().map(Vec::len),
        Some(1)
    );
    let link = first.header("link").expect("a second part");
    assert!(
        link.contains(&format!("{LOANS}?_start=1&_limit=1>; rel=\"next\"")),
        "{link}"
    );
    let second = desk
        .assistant
        .get(&format!("{LOANS}?_start=1&_limit=1"))
        .await;
    assert_eq!(second.json().as_array().map(Vec::len), Some(1));
    assert_eq!(second.header("link"), None);
    let ended = desk.instructor.delete(&format!("/direct/loan/{id}")).await;
    assert!(ended.status.is_success(), "{}", ended.text());
}

pub(super) async fn endpoints_are_described(process: &Process) {
    let document = Client::on_port(process.port())
        .get("/api/openapi.json")
        .await;
    let document = document.expect(StatusCode::OK).json();
    let path = &document["paths"]["/api/sites/{siteId}/loans"];
    assert_eq!(path["get"]["operationId"], "listLoansOfSite");
    assert_eq!(path["get"]["parameters"][0]["name"], "siteId");
    assert_eq!(path["post"]["tags"], json!(["loan"]));
    let body = &path["post"]["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["$ref"], "#/components/schemas/NewLoan");
    let properties = &document["components"]["schemas"]["LoanView"]["properties"];
    assert_eq!(properties["dueDate"]["type"], "string");
}

#[tokio::test]
async fn a_service_with_contradicting_endpoints_does_not_start() {
    let folder = TempDir::new().expect("a folder for temporary files can be made");
    let clash = ["--crate-name=clash".to_owned()];
    let program = link("bin/clash.rs", folder.path(), &clash, "clash");
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let output = Command::new(program)
        .env("LECTERN_LISTEN", "127.0.0.1:0")
        .env("LECTERN_DATABASE", database.url())
        .current_dir(folder.path())
        .output()
        .expect("a program");
    assert!(!output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    let expected =
        "`GET /api/user/roles` is claimed by the crates `entity-providers` and `library-shelf`";
    assert!(told.contains(expected), "{told}");
}
