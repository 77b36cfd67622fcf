//! Actions that answer bytes: with their own media type, whatever they are, as a file and not as a page.
//!
//! The service has no such action of its own yet, so that these tests bring one.

use axum::body;
use entity_core::engine::Route;
use entity_core::reply::Bytes;
use entity_core::{Action, ActionResult, Actions, Answers, Entity, Need, Verb};
use http::header::{
    ACCEPT, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH,
};
use http::{HeaderName, Method, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

use super::created;

/// Something to hang on a wall.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "poster", table = "poster", access = Site("poster"), verbs(read, list, create))]
struct Poster {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(title, required)]
    title: String,
    #[entity(required)]
    kind: String,
}

/// No text in any encoding that the service speaks.
const PICTURE: [u8; 6] = [0x89, b'P', 0xff, 0x00, b'\r', b'\n'];

impl Actions for Poster {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_entity(Verb::Get, "picture", Need::Session, |_, poster: Self, _| {
                Box::pin(async move {
                    Ok(ActionResult::Bytes(Bytes {
                        media_type: poster.kind.into(),
                        bytes: PICTURE.to_vec(),
                        name: Some(poster.title),
                    }))
                })
            })
            .doc("What it looks like.")
            .answers(Answers::Bytes(&["image/png", "text/html"])),
        ]
    }
}

/// The service with posters.
struct WithPosters(TestApp);

impl OnBackend for WithPosters {
    async fn on_backend(backend: Backend) -> Option<Self> {
        let posters = Route::of::<Poster>(("tests", "0.0.0"))
            .read()
            .list()
            .create()
            .table()
            .actions()
            .build();
        TestApp::with_type(backend, posters).await.map(Self)
    }
}

async fn poster(teacher: &Client, kind: &str) -> String {
    let fields = json!({"siteId": "biology-101", "title": "Zelle; \"A\"\r\nX: é", "kind": kind});
    let id = created(
        &teacher.post("/direct/poster.json", &fields).await,
        "poster",
    );
    format!("/direct/poster/{id}/picture")
}

async fn accepting(client: &Client, path: &str, media_type: &'static str) -> StatusCode {
    let client = client.clone().with_header(ACCEPT, media_type);
    client.get(path).await.status
}

fn header<'a>(answer: &'a Answer, name: &HeaderName) -> &'a str {
    answer.header(name).expect("a header")
}

both! {
async fn bytes_are_answered_as_they_are(app: WithPosters) {
    let teacher = app.0.user("instructor1").await;
    let path = poster(&teacher, "image/png").await;
    let answer = teacher.get(&path).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.body, &PICTURE[..]);
    assert_eq!(header(&answer, &CONTENT_TYPE), "image/png");
    assert_eq!(
        header(&answer, &CONTENT_DISPOSITION),
        "attachment; filename=\"Zelle_ _A___X_ _\"; filename*=UTF-8''Zelle%3B%20%22A%22%0D%0AX%3A%20%C3%A9"
    );
    let tag = header(&answer, &ETAG).to_owned();
    let again = teacher.clone().with_header(IF_NONE_MATCH, &tag);
    let again = again.get(&path).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    let head = teacher
        .send(Method::HEAD, &path, "", body::Bytes::new())
        .await;
    assert_eq!(head.status, StatusCode::OK);
    assert_eq!(header(&head, &CONTENT_LENGTH), "6");
    assert!(head.body.is_empty());
}

async fn only_those_get_bytes_who_accept_them(app: WithPosters) {
    let teacher = app.0.user("instructor1").await;
    let path = poster(&teacher, "image/png").await;
    for media_type in ["image/png", "image/*", "*/*", "text/html, */*;q=0.1"] {
        let status = accepting(&teacher, &path, media_type).await;
        assert_eq!(status, StatusCode::OK, "{media_type}");
    }
    for media_type in [
        "image/gif",
        "text/html",
        "application/json",
        "image/png;q=0",
    ] {
        let status = accepting(&teacher, &path, media_type).await;
        assert_eq!(status, StatusCode::NOT_ACCEPTABLE, "{media_type}");
    }
    let named = teacher.get(&format!("{path}.json")).await;
    assert_eq!(named.status, StatusCode::NOT_ACCEPTABLE);
    assert!(named.text().contains("image/png"), "{}", named.text());
    let stranger = app.0.anonymous().get(&path).await;
    assert_eq!(stranger.status, StatusCode::UNAUTHORIZED);
}

async fn bytes_are_no_page_and_no_header_of_ours(app: WithPosters) {
    let teacher = app.0.user("instructor1").await;
    let page = teacher.get(&poster(&teacher, "text/html").await).await;
    assert!(header(&page, &CONTENT_SECURITY_POLICY).contains("sandbox"));
    assert!(header(&page, &CONTENT_DISPOSITION).starts_with("attachment"));
    for kind in ["nonsense", "a/b\r\nX: y", "text/", "/", "é/é"] {
        let odd = teacher.get(&poster(&teacher, kind).await).await;
        assert_eq!(odd.status, StatusCode::OK, "{kind}");
        assert_eq!(
            header(&odd, &CONTENT_TYPE),
            "application/octet-stream",
            "{kind}"
        );
    }
}

async fn a_batch_tells_bytes_in_base64_to_those_who_ask_for_them(app: WithPosters) {
    let teacher = app.0.user("instructor1").await;
    let path = poster(&teacher, "image/png").await;
    let ask = |headers| json!({"operations": [{"method": "GET", "path": path, "headers": headers}]});
    let asked = ask(json!({"Accept": "image/png"}));
    let answer = teacher.post("/direct/batch.json", &asked).await;
    answer.expect(StatusCode::OK);
    let text = answer.text();
    assert!(text.contains("\"iVD/AA0K\""), "{text}");
    assert!(text.contains("content-transfer-encoding"), "{text}");
    let plain = teacher.post("/direct/batch.json", &ask(json!({}))).await;
    plain.expect(StatusCode::MULTI_STATUS);
    assert!(plain.text().contains("offered are image/png"), "{}", plain.text());
}

async fn the_description_tells_their_types(app: WithPosters) {
    let document = app.0.anonymous().get("/api/openapi.json").await.json();
    let content =
        &document["paths"]["/direct/poster/{id}/picture"]["get"]["responses"]["200"]["content"];
    let types: Vec<&String> = content.as_object().expect("an object").keys().collect();
    assert_eq!(types, ["image/png", "text/html"]);
}
}
