//! Downloads: whole and in parts, conditional, and shown by browsers only where that is safe.

use std::fs;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use entity_core::blob::Blob;
use http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, LAST_MODIFIED, RANGE,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, Method, Request, StatusCode};
use tests::bucket::BucketServer;
use tests::{Answer, Client, both};

use super::backup::place;
use super::{Gallery, drawn, send};

async fn with(client: &Client, path: &str, headers: &[(HeaderName, &str)]) -> Answer {
    let client = headers.iter().fold(client.clone(), |it, (name, value)| {
        it.with_header(name.clone(), value)
    });
    client.get(path).await
}

both! {
async fn parts_are_sent_as_they_are_asked_for(app: Gallery) {
    let teacher = app.teacher().await;
    let bytes: Vec<u8> = (0..300_000_u32).map(|it| it.to_le_bytes()[1]).collect();
    let path = drawn(&teacher, "a.png", &bytes).await + "/picture";
    let whole = teacher.get(&path).await;
    whole.expect(StatusCode::OK);
    assert_eq!(whole.body, bytes);
    let tag = whole.header(ETAG).expect("a tag");
    let date = whole.header(LAST_MODIFIED).expect("a date");
    assert!(tag.starts_with('"'));
    assert_eq!(whole.header(ACCEPT_RANGES), Some("bytes"));
    for (range, status, expected) in [
        ("bytes=0-0", 206, Some((0, 1))),
        ("bytes=299999-", 206, Some((299_999, 300_000))),
        ("bytes=131071-131073", 206, Some((131_071, 131_074))),
        ("bytes=-5", 206, Some((299_995, 300_000))),
        ("bytes=300000-", 416, None),
        ("bytes=0-1,5-6", 200, Some((0, 300_000))),
        ("nonsense", 200, Some((0, 300_000))),
    ] {
        let part = with(&teacher, &path, &[(RANGE, range)]).await;
        assert_eq!(part.status.as_u16(), status, "{range}");
        match expected {
            Some((first, behind)) => assert_eq!(part.body, bytes[first..behind], "{range}"),
            None => assert_eq!(part.header(CONTENT_RANGE), Some("bytes */300000")),
        }
        if let (206, Some((first, behind))) = (status, expected) {
            let told = format!("bytes {first}-{}/300000", behind - 1);
            assert_eq!(part.header(CONTENT_RANGE), Some(&*told));
        }
    }
    // As `curl -C -` goes on with what was cut off.
    for (condition, status) in [(tag, 206), (date, 206), ("\"other\"", 200)] {
        let rest = with(&teacher, &path, &[(RANGE, "bytes=1000-"), (IF_RANGE, condition)]).await;
        assert_eq!(rest.status.as_u16(), status, "{condition}");
    }
    for (name, value) in [(IF_NONE_MATCH, tag), (IF_MODIFIED_SINCE, date)] {
        let known = with(&teacher, &path, &[(name, value)]).await;
        assert_eq!((known.status, known.body.len()), (StatusCode::NOT_MODIFIED, 0));
        assert_eq!(known.header(ETAG), Some(tag));
    }
}

async fn a_head_tells_the_length_and_sends_nothing(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", &vec![1; 70_000]).await + "/picture";
    let head = Request::builder().method(Method::HEAD).uri(&path).body(axum::body::Body::empty());
    let head = teacher.try_send(head.expect("a request")).await.expect("an answer");
    assert_eq!((head.status, head.body.len()), (StatusCode::OK, 0));
    assert_eq!(head.header(CONTENT_LENGTH), Some("70000"));
}

async fn who_may_not_read_the_entity_gets_no_byte_of_its_file(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"canary").await + "/picture";
    let stranger = app.0.anonymous().get(&path).await;
    stranger.expect(StatusCode::UNAUTHORIZED);
    let outsider = app.0.role(lectern_testing::Role::Outsider).await.get(&path).await;
    assert!(outsider.status.is_client_error() && !outsider.text().contains("canary"));
    app.0.user("student1").await.get(&path).await.expect(StatusCode::OK);
    // A batch would hold it in memory.
    let batch = teacher.get(&format!("/direct/batch.json?_refs={path}")).await;
    assert!(!batch.text().contains("canary"));
}
}

#[tokio::test]
async fn browsers_show_only_what_can_not_run() {
    let app = Gallery::with(tests::Backend::Sqlite, &[])
        .await
        .expect("SQLite");
    let teacher = app.teacher().await;
    for (name, media_type, is_shown) in [
        ("a.png", "image/png", true),
        ("a.jpg", "image/jpeg", true),
        ("a.pdf", "application/pdf", true),
        ("a.mp4", "video/mp4", true),
        ("a.txt", "text/plain; charset=utf-8", true),
        ("a.html", "text/html", false),
        ("a.svg", "image/svg+xml", false),
        ("a.xml", "text/xml", false),
        ("a.xhtml", "application/xhtml+xml", false),
        ("a.js", "text/javascript", false),
        ("a.css", "text/css", false),
        ("a.swf", "application/x-shockwave-flash", false),
        ("a", "application/octet-stream", false),
        ("a.png.html", "text/html", false),
    ] {
        let script = b"<script>alert(1)</script>";
        let path = drawn(&teacher, name, script).await + "/picture";
        let answer = teacher.get(&path).await;
        assert_eq!(answer.header(CONTENT_TYPE), Some(media_type), "{name}");
        assert_eq!(answer.header(X_CONTENT_TYPE_OPTIONS), Some("nosniff"));
        let told = answer.header(CONTENT_DISPOSITION).expect("a disposition");
        assert_eq!(told.starts_with("inline"), is_shown, "{name}: {told}");
        let policy = answer.header(CONTENT_SECURITY_POLICY).expect("a policy");
        assert!(policy.contains("default-src 'none'"), "{name}");
        assert_eq!(policy.contains("sandbox"), name != "a.pdf", "{name}");
        let saved = teacher.get(&format!("{path}?save=1")).await;
        let told = saved.header(CONTENT_DISPOSITION).expect("a disposition");
        assert!(told.starts_with("attachment"), "{name}");
    }
}

#[tokio::test]
async fn a_file_that_is_replaced_while_it_is_sent_is_sent_to_its_end() {
    use axum::body::Body;
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    let app = Gallery::with(tests::Backend::Sqlite, &[])
        .await
        .expect("SQLite");
    let teacher = app.teacher().await;
    let first = vec![1; 3 << 20];
    let path = drawn(&teacher, "a.png", &first).await + "/picture";
    let request = Request::builder()
        .uri(&path)
        .header("host", "127.0.0.1:8080")
        .header("cookie", teacher.cookie().expect("a cookie"))
        .body(Body::empty());
    let service = app.0.service().clone();
    let response = service.oneshot(request.expect("a request")).await;
    let mut body = response.expect("an answer").into_body();
    let mut read = body
        .frame()
        .await
        .expect("a piece")
        .expect("bytes")
        .into_data()
        .expect("data")
        .to_vec();
    send(&teacher, &path, "b.png", vec![2; 10])
        .await
        .expect(StatusCode::OK);
    app.0.advance(chrono::TimeDelta::hours(2));
    app.0.service().sweep().await.expect("a sweep");
    app.0.advance(chrono::TimeDelta::hours(2));
    app.0.service().sweep().await.expect("a sweep");
    assert_eq!(app.stored(), 1);
    read.extend(body.collect().await.expect("the rest").to_bytes());
    assert!(read == first);
}

/// The answers to a request for all of the file and for a part of it.
async fn asked(client: &Client, path: &str) -> [Option<StatusCode>; 2] {
    let mut answers = [None; 2];
    for (answer, range) in answers.iter_mut().zip(["", "bytes=1-2"]) {
        let request = Request::builder()
            .uri(client.address() + path)
            .header(RANGE, range);
        let sent = client
            .try_send(request.body(axum::body::Body::empty()).expect("a request"))
            .await;
        // A transfer that breaks off is no answer.
        *answer = sent.ok().map(|it| it.status);
    }
    answers
}

const SERVED: [Option<StatusCode>; 2] = [Some(StatusCode::OK), Some(StatusCode::PARTIAL_CONTENT)];
const REFUSED: [Option<StatusCode>; 2] = [Some(StatusCode::SERVICE_UNAVAILABLE); 2];

/// Asserts what becomes of a file whose bytes are at `place` when these change.
async fn is_sent_while_it_is_whole(teacher: &Client, path: &str, place: &Path) {
    let bytes = fs::read(place).expect("a file");
    let mut time = UNIX_EPOCH;
    let mut write = |bytes: &[u8]| {
        fs::write(place, bytes).expect("room");
        // Stores tell the time in seconds, and tests are quick.
        time += Duration::from_mins(1);
        let file = fs::OpenOptions::new().write(true).open(place);
        file.and_then(|it| it.set_modified(time))
            .expect("it was just written");
    };
    let large = [None, REFUSED[1]];
    let other = if bytes.len() > 8 << 20 {
        large
    } else {
        REFUSED
    };
    assert_eq!(asked(teacher, path).await, SERVED);
    write(&[&bytes[1..], b"?"].concat());
    assert_eq!(asked(teacher, path).await, other, "other bytes");
    write(&bytes[1..]);
    assert_eq!(asked(teacher, path).await, REFUSED, "too short");
    fs::remove_file(place).expect("it was there");
    assert_eq!(asked(teacher, path).await, REFUSED, "gone");
    write(&bytes);
    assert_eq!(asked(teacher, path).await, SERVED, "it is back");
}

both! {
async fn y10_a_file_with_other_bytes_is_not_served(app: Gallery) {
    let teacher = app.teacher().await;
    let folder = app.0.database().folder().join("files");
    for bytes in [b"small".to_vec(), vec![7; 300 << 10], vec![7; (8 << 20) + 1]] {
        let path = drawn(&teacher, "a.png", &bytes).await + "/picture";
        is_sent_while_it_is_whole(&teacher, &path, &place(&folder, &bytes)).await;
    }
    let bytes = b"never sent before";
    let path = drawn(&teacher, "a.png", bytes).await + "/picture";
    fs::write(place(&folder, bytes), b"never sent before?").expect("room");
    let refused = teacher.get(&path).await;
    assert!(refused.text().contains("file_damaged"), "{refused:?}");
}

async fn y10_a_file_of_a_bucket_with_other_bytes_is_not_served(app: Gallery) {
    let server = BucketServer::start().await;
    let app = app.in_bucket(&server).await;
    let teacher = app.0.user("instructor1").await;
    for bytes in [b"small".to_vec(), vec![7; 300 << 10], vec![7; (8 << 20) + 1]] {
        let path = drawn(&teacher, "a.png", &bytes).await + "/picture";
        let name = format!("files/{}.{}", Blob::of(&bytes).digest(), bytes.len());
        is_sent_while_it_is_whole(&teacher, &path, &server.place(&name)).await;
    }
}
}
