//! Files that nothing names, which their senders pay for, and files that drafts of others name.

use bytes::Bytes;
use chrono::TimeDelta;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{address, created, list, text};

const ATTACH: &str = "/direct/content/attachment/biology-101";
const UPLOAD: &str = "/direct/content/upload/biology-101";
const POSTS: &str = "/direct/conversations-post";
/// More drafts than the service asks at once.
const DRAFTS: usize = 130;

tests::app_with! {
    /// A service in which an account has little room for files that nothing names.
    Small, [("files.accountBytes", "100KiB")]
}

async fn send(client: &Client, path: &str, bytes: usize, fill: u8) -> Answer {
    let body = Bytes::from(vec![fill; bytes]);
    let binary = "application/octet-stream";
    client.send(Method::POST, path, binary, body).await
}

async fn used(client: &Client) -> Value {
    let folders = list(client, "/direct/content/site/biology-101.json", "content").await;
    folders[0]["usage"].clone()
}

both! {
    async fn y63_refused_and_deleted_files_count_for_their_sender_until_they_are_gone(app: Small) {
        let app = app.0;
        let teacher = app.user("instructor1").await;
        let id = created(&send(&teacher, &format!("{UPLOAD}?name=a.bin"), 60 << 10, b'a').await, "content");
        // What an entity names counts for the site alone.
        let refused = send(&teacher, &format!("{UPLOAD}?name=a.bin"), 60 << 10, b'b').await;
        refused.expect(StatusCode::CONFLICT);
        let refused = send(&teacher, &format!("{UPLOAD}?name=c.bin"), 60 << 10, b'c').await;
        assert!(matches!(refused.status, StatusCode::PAYLOAD_TOO_LARGE | StatusCode::FORBIDDEN), "{}", refused.text());
        send(&app.user("admin").await, &format!("{UPLOAD}?name=d.bin"), 60 << 10, b'd').await.expect(StatusCode::CREATED);
        for _ in 0..3 {
            app.advance(TimeDelta::minutes(61));
            app.service().sweep().await.expect("a sweep");
        }
        let teacher = app.user("instructor1").await;
        let path = format!("/direct/content/{id}");
        send(&teacher, &format!("{UPLOAD}?name=c.bin"), 60 << 10, b'c').await.expect(StatusCode::CREATED);
        // It is on the disk for an hour.
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        let refused = send(&teacher, &format!("{UPLOAD}?name=e.bin"), 60 << 10, b'e').await;
        assert!(!refused.status.is_success(), "{}", refused.text());
    }

    async fn y63_attachments_that_nothing_names_are_their_senders_and_go_after_a_day(app: Small) {
        let app = app.0;
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let before = used(&teacher).await;
        let sent = send(&student, &format!("{ATTACH}?name=a.txt"), 60 << 10, b'a').await;
        let loose = sent.expect(StatusCode::OK).json();
        let named = send(&teacher, &format!("{ATTACH}?name=b.txt"), 1 << 10, b'b').await.json();
        let news = json!({"siteId": "biology-101", "title": "t", "attachments": [named]});
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        let refused = send(&student, &format!("{ATTACH}?name=c.txt"), 60 << 10, b'c').await;
        assert!(!refused.status.is_success(), "{}", refused.text());
        assert_eq!(used(&teacher).await, before);
        let all = "/direct/content/loose/biology-101.json";
        let own = student.get(all).await.expect(StatusCode::OK).json();
        assert_eq!(own.as_array().map(Vec::len), Some(1), "{own}");
        assert_eq!(own[0]["id"], loose["id"]);
        assert_eq!(teacher.get(all).await.json(), json!([]));
        let path = text(&loose, "id");
        let id = path.split('/').nth(3).expect("an id");
        teacher.delete(&format!("/direct/content/loose/biology-101/{id}")).await.expect(StatusCode::NOT_FOUND);
        student.delete(&format!("/direct/content/loose/biology-101/{id}")).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(student.get(all).await.json(), json!([]));
        student.get(&address(&loose)).await.expect(StatusCode::NOT_FOUND);
        for _ in 0..3 {
            app.advance(TimeDelta::minutes(61));
            app.service().sweep().await.expect("a sweep");
        }
        let student = app.user("student1").await;
        let again = send(&student, &format!("{ATTACH}?name=c.txt"), 60 << 10, b'c').await;
        let again = again.expect(StatusCode::OK).json();
        app.service().sweep().await.expect("a sweep");
        student.get(&address(&again)).await.expect(StatusCode::OK);
        app.advance(TimeDelta::hours(25));
        app.service().sweep().await.expect("a sweep");
        let student = app.user("student1").await;
        student.get(&address(&again)).await.expect(StatusCode::NOT_FOUND);
        student.get(&address(&named)).await.expect(StatusCode::OK);
    }

    async fn y63_a_file_that_a_text_of_no_site_names_stays_and_stays_its_senders(app: Small) {
        let app = app.0;
        let student = app.user("student1").await;
        let sent = send(&student, &format!("{ATTACH}?name=a.txt"), 60 << 10, b'a').await;
        let path = address(&sent.expect(StatusCode::OK).json());
        let task = json!({"description": "read it", "notes": format!("<a href=\"{path}\">it</a>")});
        created(&student.post("/direct/task", &task).await, "task");
        app.advance(TimeDelta::hours(25));
        app.service().sweep().await.expect("a sweep");
        let student = app.user("student1").await;
        student.get(&path).await.expect(StatusCode::OK);
        let own = student.get("/direct/content/loose/biology-101.json").await.json();
        assert_eq!(own.as_array().map(Vec::len), Some(1), "{own}");
        let refused = send(&student, &format!("{ATTACH}?name=c.txt"), 60 << 10, b'c').await;
        assert!(!refused.status.is_success(), "{}", refused.text());
    }

    async fn y64_drafts_that_name_a_file_hide_it_from_nobody(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let other = app.user("student2").await;
        let topic = json!({"siteId": "biology-101", "title": "About leaves"});
        let topic = created(&teacher.post("/direct/conversations", &topic).await, "conversations");
        let file = send(&student, &format!("{ATTACH}?name=a.txt"), 10, b'a').await.json();
        let path = address(&file);
        let message = format!("<a href=\"{path}\">x</a>");
        for number in 0..DRAFTS {
            let draft = json!({
                "siteId": "biology-101", "topicId": topic, "draft": true, "message": format!("{message} {number}")
            });
            created(&student.post(POSTS, &draft).await, "conversations-post");
        }
        other.get(&path).await.expect(StatusCode::NOT_FOUND);
        let post = json!({"siteId": "biology-101", "topicId": topic, "message": message});
        let id = created(&student.post(POSTS, &post).await, "conversations-post");
        other.get(&path).await.expect(StatusCode::OK);
        student.put(&format!("{POSTS}/{id}"), &json!({"message": "no file"})).await.expect(StatusCode::NO_CONTENT);
        other.get(&path).await.expect(StatusCode::NOT_FOUND);
    }
}
