//! `GET /direct/content/{id}/zip`: a folder as one file, which another program reads.

use bytes::Bytes;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use http::{Method, Request, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{created, list, text};
use crate::python::{self, Needs};

/// Reads an archive with Python, and checks that it is whole.
const SCRIPT: &str = "
import io, json, sys, zipfile
z = zipfile.ZipFile(io.BytesIO(sys.stdin.buffer.read()))
assert z.testzip() is None
print(json.dumps([[i.filename, i.file_size, list(i.date_time), z.read(i).decode('latin-1')[:20]] for i in z.infolist()]))
";

async fn send(client: &Client, path: &str, bytes: &[u8]) -> Answer {
    let (octets, bytes) = ("application/octet-stream", Bytes::copy_from_slice(bytes));
    client.send(Method::POST, path, octets, bytes).await
}

async fn folder(client: &Client, title: &str, within: Option<&str>, hidden: bool) -> String {
    let body =
        json!({"siteId": "biology-101", "title": title, "folderId": within, "hidden": hidden});
    created(&client.post("/direct/content", &body).await, "content")
}

async fn file(client: &Client, within: &str, name: &str, bytes: &[u8]) -> String {
    let path = format!("/direct/content/upload/biology-101?folderId={within}&name={name}");
    let sent = send(client, &path, bytes).await;
    text(&sent.expect(StatusCode::CREATED).json(), "id")
}

/// The paths in the archive, with what is in each.
async fn paths(client: &Client, id: &str) -> Option<Vec<(String, String)>> {
    let answer = client.get(&format!("/direct/content/{id}/zip")).await;
    answer.expect(StatusCode::OK);
    let found = python::run(SCRIPT, &answer.body, Needs::Nothing)?;
    let found: Value = serde_json::from_slice(&found).expect("JSON");
    let found = found.as_array().expect("a list").iter();
    let part = |it: &Value, at: usize| it[at].as_str().expect("a text").to_owned();
    Some(found.map(|it| (part(it, 0), part(it, 3))).collect())
}

both! {
    async fn sec_the_zip_of_a_folder_has_what_the_caller_may_open(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let top = folder(&teacher, "Übung 1", None, false).await;
        let open = folder(&teacher, "open", Some(&top), false).await;
        let shut = folder(&teacher, "shut", Some(&top), true).await;
        folder(&teacher, "empty", Some(&top), false).await;
        file(&teacher, &top, "a%3Ab.txt", b"first").await;
        file(&teacher, &open, "large.bin", &vec![b'x'; 300_000]).await;
        let canary = file(&teacher, &shut, "canary.txt", b"canary").await;
        let Some(all) = paths(&teacher, &top).await else { return };
        let names = |it: &[(String, String)]| it.iter().map(|it| it.0.clone()).collect::<Vec<_>>();
        assert_eq!(
            names(&all),
            ["a_b.txt", "empty/", "open/", "open/large.bin", "shut/", "shut/canary.txt"]
        );
        assert_eq!((all[0].1.as_str(), all[5].1.as_str()), ("first", "canary"));
        let seen = paths(&student, &top).await.expect("Python runs");
        assert_eq!(names(&seen), ["a_b.txt", "empty/", "open/", "open/large.bin"]);
        student.get(&format!("/direct/content/{canary}/zip")).await.expect(StatusCode::NOT_FOUND);
        student.get(&format!("/direct/content/{shut}/zip")).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(paths(&teacher, &canary).await.expect("Python runs").len(), 1);
        app.user("instructor2").await.get(&format!("/direct/content/{shut}/zip")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn the_zip_of_a_folder_is_a_file_that_clients_keep(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let top = folder(&teacher, "Übung 1", None, false).await;
        let own = file(&teacher, &top, "a.txt", b"first").await;
        let path = format!("/direct/content/{top}/zip");
        let answer = teacher.get(&path).await;
        assert_eq!(answer.header(CONTENT_TYPE), Some("application/zip"));
        assert_eq!(
            answer.header(CONTENT_DISPOSITION),
            Some("attachment; filename=\"_bung 1.zip\"; filename*=UTF-8''%C3%9Cbung%201%2Ezip")
        );
        let tag = answer.header(ETAG).expect("a tag").to_owned();
        let again = teacher.clone().with_header(IF_NONE_MATCH, &tag);
        again.get(&path).await.expect(StatusCode::NOT_MODIFIED);
        let bytes = format!("/direct/content/{own}/bytes");
        let second = Bytes::from_static(b"second");
        let put = teacher.send(Method::PUT, &bytes, "application/octet-stream", second).await;
        put.expect(StatusCode::OK);
        again.get(&path).await.expect(StatusCode::OK);
        teacher.get(&format!("{path}.json")).await.expect(StatusCode::NOT_ACCEPTABLE);
        let head = Request::builder().method(Method::HEAD).uri(&path).body(axum::body::Body::empty());
        let head = teacher.try_send(head.expect("a request")).await.expect("an answer");
        assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
        let site = list(&teacher, "/direct/content/site/biology-101.json?_limit=0", "content").await;
        let address = site.iter().find(|it| it["id"] == *top).map(|it| text(it, "url"));
        let address = address.expect("a folder");
        let page = teacher.get(address.split_once("/access").map(|it| format!("/access{}", it.1)).as_deref().unwrap_or_default()).await;
        assert!(page.text().contains(&path), "{}", page.text());
    }
}
