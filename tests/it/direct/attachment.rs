//! The bytes of files below `/access/content`: uploads, downloads, and files that are attached to something.

use bytes::Bytes;
use http::{Method, StatusCode};
use serde_json::json;
use tests::{Answer, Backend, Client, TestApp, both};

use super::{address, created, id_of, list, read, text};

const UPLOAD: &str = "/direct/content/upload/biology-101";
const ATTACH: &str = "/direct/content/attachment/biology-101";

async fn upload(client: &Client, name: &str, bytes: &[u8]) -> Answer {
    let path = format!("{UPLOAD}?name={name}");
    send(client, Method::POST, &path, bytes).await
}

async fn send(client: &Client, method: Method, path: &str, bytes: &[u8]) -> Answer {
    let body = Bytes::copy_from_slice(bytes);
    client
        .send(method, path, "application/octet-stream", body)
        .await
}

both! {
    async fn a_file_is_sent_with_exactly_its_bytes(app: TestApp) {
        let student = app.user("student1").await;
        let items = list(&student, "/direct/content/site/biology-101.json", "content").await;
        let files: Vec<_> = items.iter().filter(|it| it["size"] != 0).collect();
        assert!(files.len() >= 3, "{items:?}");
        for file in files {
            let path = address(file);
            let answer = student.get(&path).await;
            let length = answer.expect(StatusCode::OK).body.len();
            assert_eq!(file["size"], length, "{path}");
            app.anonymous().get(&path).await.expect(StatusCode::UNAUTHORIZED);
            app.user("instructor2").await.get(&path).await.expect(StatusCode::FORBIDDEN);
        }
    }

    async fn a_file_is_put_into_a_folder_and_replaced(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let id = created(&upload(&teacher, "notes.txt", b"one").await, "content");
        let item = read(&teacher, &format!("/direct/content/{id}.json")).await;
        assert_eq!((&item["type"], &item["size"], &item["title"]), (&json!("text/plain"), &json!(3), &json!("notes.txt")));
        let path = address(&item);
        assert_eq!(path, "/access/content/group/biology-101/notes.txt");
        assert_eq!(student.get(&path).await.expect(StatusCode::OK).text(), "one");
        upload(&teacher, "notes.txt", b"two").await.expect(StatusCode::CONFLICT);
        upload(&student, "mine.txt", b"x").await.expect(StatusCode::FORBIDDEN);
        let bytes = format!("/direct/content/{id}/bytes");
        send(&teacher, Method::PUT, &bytes, b"two!").await.expect(StatusCode::OK);
        let again = read(&teacher, &format!("/direct/content/{id}.json")).await;
        assert_eq!((&again["url"], &again["size"], &again["type"]), (&item["url"], &json!(4), &item["type"]));
        assert_eq!(student.get(&path).await.text(), "two!");
        send(&student, Method::PUT, &bytes, b"x").await.expect(StatusCode::FORBIDDEN);
        let link = list(&teacher, "/direct/content/site/biology-101.json?title=Tree+of+Life", "content").await;
        let link = format!("/direct/content/{}/bytes", text(&link[0], "id"));
        send(&teacher, Method::PUT, &link, b"x").await.expect(StatusCode::BAD_REQUEST);
        let copy = teacher.post(&format!("/direct/content/{id}/copy"), &json!({"name": "copy.txt"})).await;
        let copy = address(&copy.json());
        teacher.delete(&format!("/direct/content/{id}")).await.expect(StatusCode::NO_CONTENT);
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(student.get(&copy).await.text(), "two!");
    }

    async fn an_attachment_is_for_those_who_see_what_it_is_attached_to(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let sent = send(&teacher, Method::POST, &format!("{ATTACH}?name=map%20A.pdf"), b"%PDF").await;
        let file = sent.expect(StatusCode::OK).json();
        let path = address(&file);
        assert!(path.starts_with("/access/content/attachment/biology-101/") && path.ends_with("/map%20A.pdf"));
        teacher.get(&path).await.expect(StatusCode::OK);
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        let draft = json!({"siteId": "biology-101", "title": "t", "draft": true, "attachments": [file]});
        let id = created(&teacher.post("/direct/announcement", &draft).await, "announcement");
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        teacher.put(&format!("/direct/announcement/{id}"), &json!({"draft": false})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(student.get(&path).await.expect(StatusCode::OK).text(), "%PDF");
        for eid in ["instructor2", "student12"] {
            let reads = app.user(eid).await.get(&format!("/direct/announcement/{id}")).await.status == StatusCode::OK;
            let opens = app.user(eid).await.get(&path).await.status == StatusCode::OK;
            assert_eq!(reads, opens, "{eid}");
        }
        app.anonymous().get(&path).await.expect(StatusCode::UNAUTHORIZED);
        // It is nowhere else.
        let id = text(&file, "id");
        let items = list(&teacher, "/direct/content/site/biology-101.json?_limit=0", "content").await;
        assert!(items.iter().all(|it| it["resourceId"] != id));
        teacher.delete(&format!("/direct/announcement/{}", text(&list(&teacher, "/direct/announcement.json?title=t&siteId=biology-101", "announcement").await[0], "id"))).await.expect(StatusCode::NO_CONTENT);
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
    }

    async fn feedback_is_for_the_student_once_it_is_returned(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let work = list(&teacher, "/direct/assignment-submission.json?context=biology-101&_limit=0", "assignment-submission").await;
        let own = id_of(&student).await;
        let mine = work.iter().find(|it| it["submitter"] == own && it["submitted"] == true).expect("work");
        let file = send(&teacher, Method::POST, &format!("{ATTACH}?name=remarks.txt"), b"remarks").await.json();
        let path = format!("/direct/assignment-submission/{}", text(mine, "id"));
        let feedback = json!({"feedbackAttachments": [file], "returned": false});
        teacher.put(&path, &feedback).await.expect(StatusCode::NO_CONTENT);
        student.get(&address(&file)).await.expect(StatusCode::NOT_FOUND);
        teacher.put(&path, &json!({"returned": true})).await.expect(StatusCode::NO_CONTENT);
        student.get(&address(&file)).await.expect(StatusCode::OK);
        app.user("student2").await.get(&address(&file)).await.expect(StatusCode::NOT_FOUND);
    }

    async fn authz_13_nobody_attaches_a_file_that_they_cannot_open(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let student = app.user("student1").await;
        let file = send(&teacher, Method::POST, &format!("{ATTACH}?name=key.pdf"), b"%PDF").await.json();
        let (path, url) = (address(&file), text(&file, "url"));
        let secret = json!({"siteId": "biology-101", "title": "t", "draft": true, "attachments": [file]});
        let id = created(&teacher.post("/direct/announcement", &secret).await, "announcement");
        let work = list(&student, "/direct/assignment-submission.json?context=biology-101&_limit=0", "assignment-submission").await;
        let open = work.iter().find(|it| it["returned"] == false && it["graded"] == false).expect("work to do");
        let own = format!("/direct/assignment-submission/{}", text(open, "id"));
        let refused = student.put(&own, &json!({"submittedAttachments": [file]})).await;
        assert_eq!(refused.expect(StatusCode::BAD_REQUEST).json()["error"]["fields"][0]["name"], "submittedAttachments", "{}", refused.text());
        let texts = [
            format!("<a href=\"{url}\">x</a>"),
            format!("<img src=\"{path}\">"),
            format!("/access/content/attachment{path}"),
            path.clone(),
        ];
        for text in &texts {
            let body = json!({"submittedText": text});
            student.put(&own, &body).await.expect(StatusCode::BAD_REQUEST);
            student.send(Method::PATCH, &own, "application/merge-patch+json", body.to_string().into()).await.expect(StatusCode::BAD_REQUEST);
            let batch = json!({"operations": [{"method": "PUT", "path": own.trim_start_matches("/direct/"), "body": body}]});
            let answer = student.post("/direct/batch.json", &batch).await;
            assert!(answer.text().contains("attached file"), "{}", answer.text());
        }
        let xml = format!("<assignment-submission><submittedText>{path}</submittedText></assignment-submission>");
        student.send(Method::PUT, &format!("{own}.xml"), "application/xml", xml.into()).await.expect(StatusCode::BAD_REQUEST);
        let other = app.user("instructor2").await;
        let stolen = json!({"siteId": "history-210", "title": "mine", "body": texts[0], "attachments": [file]});
        other.post("/direct/announcement", &stolen).await.expect(StatusCode::BAD_REQUEST);
        other.get(&path).await.expect(StatusCode::NOT_FOUND);
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        // Who sees it may pass it on, and what is there already may stay.
        teacher.put(&format!("/direct/announcement/{id}"), &json!({"draft": false, "attachments": [file]})).await.expect(StatusCode::NO_CONTENT);
        student.get(&path).await.expect(StatusCode::OK);
        let assignment = format!("/direct/assignment/{}", text(open, "gradableId"));
        teacher.put(&assignment, &json!({"resubmissions": -1})).await.expect(StatusCode::NO_CONTENT);
        student.put(&own, &json!({"submittedText": texts[0]})).await.expect(StatusCode::NO_CONTENT);
        teacher.delete(&format!("/direct/announcement/{id}")).await.expect(StatusCode::NO_CONTENT);
        student.put(&own, &json!({"submittedText": format!("{} again", texts[0])})).await.expect(StatusCode::NO_CONTENT);
    }
}

#[tokio::test]
async fn dos_a_site_has_room_for_so_many_bytes() {
    let settings = [("files.siteBytes", "64KiB")];
    let app = TestApp::with_settings(Backend::Sqlite, &settings).await;
    let app = app.expect("files are always there");
    let teacher = app.user("instructor1").await;
    let large = vec![b'x'; 60 << 10];
    upload(&teacher, "fits.bin", &vec![b'x'; 21 << 10])
        .await
        .expect(StatusCode::CREATED);
    let refused = upload(&teacher, "large.bin", &large).await;
    assert!(refused.status.is_client_error(), "{}", refused.text());
    let id = list(&teacher, "/direct/content.json?title=fits.bin", "content").await;
    let id = text(&id[0], "id");
    let copy = format!("/direct/content/{id}/copy");
    let second = teacher.post(&copy, &json!({"name": "second.bin"})).await;
    let third = teacher.post(&copy, &json!({"name": "third.bin"})).await;
    assert_eq!(
        [second.status, third.status]
            .iter()
            .filter(|it| **it == StatusCode::FORBIDDEN)
            .count(),
        1
    );
    let root = list(&teacher, "/direct/content/site/biology-101.json", "content").await;
    assert_eq!(root[0]["quota"], "65536");
}
