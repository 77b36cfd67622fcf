//! Uploads: as forms and as bodies, their permissions and their limits.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures::{StreamExt as _, stream};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Method, Request, StatusCode};
use lectern_testing::Role;
use serde_json::json;
use tests::{Answer, Backend, both};

use super::{BOUNDARY, Gallery, MOST, SITE, draw, drawn, form, multipart, send};

both! {
async fn a_form_brings_fields_and_files(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "cell.png", b"first").await;
    let read = teacher.get(&format!("{path}.json")).await.json();
    assert_eq!((&read["title"], &read["size"]), (&json!("cell.png"), &json!(5)));
    assert!(!read.to_string().contains("digest") && read.get("picture").is_none());
    let shown = teacher.get(&format!("{path}/picture")).await;
    shown.expect(StatusCode::OK);
    assert_eq!(&shown.body[..], b"first");
    // A change by a form with another file; what equals a stored file takes no further room.
    let body = form(&[("title", "Cell")], &[("picture", "a.gif", b"second")]);
    let put = teacher.send(Method::PUT, &path, &multipart(), body.into()).await;
    put.expect(StatusCode::NO_CONTENT);
    assert_eq!(teacher.get(&format!("{path}/picture")).await.body, "second");
    drawn(&teacher, "other", b"second").await;
    assert_eq!(app.stored(), 2);
    // A browser sends an empty part where no file was chosen.
    let body = form(&[("siteId", SITE), ("title", "None")], &[("picture", "", b"")]);
    let none = teacher.send(Method::POST, "/direct/drawing", &multipart(), body.into()).await;
    none.expect(StatusCode::CREATED);
    let id = none.header("entityid").expect("an id");
    let missing = teacher.get(&format!("/direct/drawing/{id}/picture")).await;
    missing.expect(StatusCode::NOT_FOUND);
    // Without a file, other bodies work as everywhere.
    let plain = teacher.post("/direct/drawing.json", &json!({"siteId": SITE})).await;
    plain.expect(StatusCode::CREATED);
}

async fn a_body_is_a_file_where_an_action_takes_one(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await;
    let put = send(&teacher, &format!("{path}/picture"), "b.pdf", b"{\"no\": \"fields\"}".to_vec()).await;
    put.expect(StatusCode::OK);
    assert_eq!(put.json()["size"], 16);
    let empty = send(&teacher, &format!("{path}/picture"), "b.pdf", Vec::new()).await;
    assert_eq!(empty.expect(StatusCode::OK).json()["size"], 0);
    let shown = teacher.get(&format!("{path}/picture")).await;
    assert_eq!((shown.status, shown.body.len()), (StatusCode::OK, 0));
}

async fn who_may_not_write_is_told_so_before_the_body_is_read(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await + "/picture";
    for role in [Role::Student, Role::Outsider] {
        let user = app.0.role(role).await;
        let is_refused = |it: &Answer| matches!(it.status, StatusCode::FORBIDDEN | StatusCode::NOT_FOUND);
        let request = Request::builder()
            .method(Method::PUT)
            .uri(&path)
            .header(CONTENT_TYPE, "image/png")
            .body(Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>()));
        let refused = user.try_send(request.expect("a request")).await.expect("an answer");
        assert!(is_refused(&refused), "{}", refused.text());
        let refused = draw(&user, "a.png", b"x").await;
        assert!(is_refused(&refused), "{}", refused.text());
    }
    let stranger = app.0.anonymous();
    send(&stranger, &path, "a", b"x".to_vec()).await.expect(StatusCode::UNAUTHORIZED);
    draw(&stranger, "a", b"x").await.expect(StatusCode::UNAUTHORIZED);
    let missing = send(&teacher, "/direct/drawing/nothing/picture", "a", b"x".to_vec()).await;
    missing.expect(StatusCode::NOT_FOUND);
    assert_eq!(app.stored(), 1);
}
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_comes_or_as_soon_as_it_is() {
    let settings = [("files.size", "4MiB")];
    let app = Gallery::with(Backend::Sqlite, &settings)
        .await
        .expect("SQLite");
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await + "/picture";
    let announced = |length: u64, body: Body| {
        let request = Request::builder()
            .method(Method::PUT)
            .uri(&path)
            .header(CONTENT_LENGTH, length)
            .body(body);
        let request = request.expect("a request");
        let teacher = teacher.clone();
        async move { teacher.try_send(request).await.expect("an answer") }
    };
    let pending = || Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    for length in [(4 << 20) + 1, MOST + 1, 1 << 30, u64::MAX] {
        let refused = announced(length, pending()).await;
        refused.expect(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let piece = Bytes::from(vec![7; 1 << 20]);
    let endless = stream::repeat(piece).map(Ok::<_, std::io::Error>);
    let request = Request::builder()
        .method(Method::PUT)
        .uri(&path)
        .body(Body::from_stream(endless));
    let refused = teacher.try_send(request.expect("a request")).await;
    refused
        .expect("an answer")
        .expect(StatusCode::PAYLOAD_TOO_LARGE);
    // What the type has no room for.
    let body = form(
        &[("siteId", SITE), ("title", "nothing more")],
        &[("picture", "a", b"x")],
    );
    let refused = teacher
        .send(Method::POST, "/direct/drawing", &multipart(), body.into())
        .await;
    refused.expect(StatusCode::PAYLOAD_TOO_LARGE);
    app.wait_for(1).await;
    assert_eq!(teacher.get(&path).await.body, "first");
}

#[tokio::test]
async fn a_cut_upload_leaves_nothing() {
    let app = Gallery::with(Backend::Sqlite, &[]).await.expect("SQLite");
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await + "/picture";
    let cut = stream::iter([
        Ok(Bytes::from(vec![1; 300_000])),
        Err(std::io::Error::other("gone")),
    ]);
    let request = Request::builder()
        .method(Method::PUT)
        .uri(&path)
        .body(Body::from_stream(cut));
    let refused = teacher.try_send(request.expect("a request")).await;
    refused.expect("an answer").expect(StatusCode::BAD_REQUEST);
    app.wait_for(1).await;
    // A form that lacks its end.
    let whole = form(&[("siteId", SITE)], &[("picture", "a", &vec![2; 50_000])]);
    let part = whole[..40_000].to_vec();
    let refused = teacher
        .send(Method::POST, "/direct/drawing", &multipart(), part.into())
        .await;
    refused.expect(StatusCode::BAD_REQUEST);
    app.wait_for(1).await;
}

/// A body that comes slowly.
struct Slow {
    piece: Bytes,
    timer: Pin<Box<tokio::time::Sleep>>,
    pause: Duration,
}

impl futures::Stream for Slow {
    type Item = Result<Bytes, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        futures::ready!(self.timer.as_mut().poll(cx));
        let next = tokio::time::Instant::now() + self.pause;
        self.timer.as_mut().reset(next);
        Poll::Ready(Some(Ok(self.piece.clone())))
    }
}

#[tokio::test]
async fn who_sends_slowly_is_cut_off_and_in_nobody_elses_way() {
    let settings = [
        ("limits.bodyTimeout", "1"),
        ("limits.requestDeadline", "2"),
        ("admission.writes", "1"),
        // An account has an eighth of these.
        ("admission.uploads", "256"),
    ];
    let app = Gallery::with(Backend::Sqlite, &settings)
        .await
        .expect("SQLite");
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"first").await + "/picture";
    let slowly = |piece: usize, pause: u64| {
        let pause = Duration::from_millis(pause);
        let body = Slow {
            piece: vec![1; piece].into(),
            timer: Box::pin(tokio::time::sleep(pause)),
            pause,
        };
        let request = Request::builder()
            .method(Method::PUT)
            .uri(&path)
            .body(Body::from_stream(body.take(40)));
        let (teacher, request) = (teacher.clone(), request.expect("a request"));
        tokio::spawn(async move { teacher.try_send(request).await.expect("an answer") })
    };
    let attackers: Vec<_> = (0..20).map(|_| slowly(10, 100)).collect();
    let patient = slowly(2_000, 100);
    tokio::time::sleep(Duration::from_millis(300)).await;
    drawn(&teacher, "quick.png", b"quick").await;
    for attacker in attackers {
        attacker
            .await
            .expect("a task")
            .expect(StatusCode::BAD_REQUEST);
    }
    // Longer than any other request may take.
    patient.await.expect("a task").expect(StatusCode::OK);
    app.wait_for(3).await;
}

#[tokio::test]
async fn malformed_forms_are_refused_by_the_client_s_fault() {
    let app = Gallery::with(Backend::Sqlite, &[]).await.expect("SQLite");
    let teacher = app.teacher().await;
    let site = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"siteId\"\r\n\r\n{SITE}\r\n"
    );
    let end = format!("--{BOUNDARY}--\r\n");
    let part = |head: &str, value: &str| format!("--{BOUNDARY}\r\n{head}\r\n\r\n{value}\r\n");
    let name = |it: &str| format!("Content-Disposition: form-data; name=\"{it}\"");
    let many = part(&name("a"), "").repeat(1_001);
    for (body, expected) in [
        (String::new(), StatusCode::BAD_REQUEST),
        ("junk".repeat(100_000), StatusCode::BAD_REQUEST),
        (end.clone(), StatusCode::BAD_REQUEST),
        (
            site.clone() + &part("X: y", "z") + &end,
            StatusCode::BAD_REQUEST,
        ),
        (
            site.clone() + &part(&"X".repeat(200_000), "z") + &end,
            StatusCode::BAD_REQUEST,
        ),
        (
            site.clone() + &part(&name("title"), &"z".repeat(70_000)) + &end,
            StatusCode::PAYLOAD_TOO_LARGE,
        ),
        (
            site.clone() + &part(&name("nonsense"), "z") + &end,
            StatusCode::BAD_REQUEST,
        ),
        (
            site.clone() + &part(&name("siteId"), "z") + &end,
            StatusCode::BAD_REQUEST,
        ),
        (site.clone() + &many + &end, StatusCode::BAD_REQUEST),
        (
            site.clone() + &part(&(name("picture") + "; filename=\"a\""), "1").repeat(3) + &end,
            StatusCode::BAD_REQUEST,
        ),
        (
            part(&(name("picture") + "; filename=\"a\""), "1") + &site + &end,
            StatusCode::BAD_REQUEST,
        ),
    ] {
        let shown: String = body.chars().take(200).collect();
        let answer = teacher
            .send(Method::POST, "/direct/drawing", &multipart(), body.into())
            .await;
        assert_eq!(answer.status, expected, "{shown}: {}", answer.text());
    }
    app.wait_for(0).await;
}

#[tokio::test]
async fn forged_uploads_are_refused_and_forms_may_hold_the_token() {
    let app = Gallery::with(Backend::Sqlite, &[("csrf.mode", "token")])
        .await
        .expect("SQLite");
    let teacher = app.teacher().await;
    let foreign = teacher.clone().with_header(
        http::HeaderName::from_static("sec-fetch-site"),
        "cross-site",
    );
    draw(&foreign, "a", b"x")
        .await
        .expect(StatusCode::FORBIDDEN);
    draw(&teacher, "a", b"x")
        .await
        .expect(StatusCode::FORBIDDEN);
    let page = teacher.get("/direct/drawing/new.html").await;
    let token = page
        .text()
        .split("name=\"sakai_csrf_token\" value=\"")
        .nth(1);
    let token = token.and_then(|it| it.split('"').next()).expect("a token");
    let fields = |token| [("siteId", SITE), ("sakai_csrf_token", token)];
    for (fields, expected) in [
        (fields("wrong"), StatusCode::FORBIDDEN),
        (fields(token), StatusCode::CREATED),
    ] {
        let body = form(&fields, &[("picture", "a", b"x")]);
        let answer = teacher
            .send(Method::POST, "/direct/drawing", &multipart(), body.into())
            .await;
        answer.expect(expected);
    }
    assert_eq!(app.stored(), 1);
}

#[tokio::test]
async fn fifty_uploads_at_once_are_all_stored() {
    let app = Gallery::with(Backend::Sqlite, &[("admission.uploads", "80")])
        .await
        .expect("SQLite");
    let teacher = app.teacher().await;
    let uploads = (0..50_u8).map(|it| {
        let teacher = teacher.clone();
        tokio::spawn(async move {
            let bytes = vec![it; 200_000];
            let path = drawn(&teacher, &format!("{it}.png"), &bytes).await;
            let read = teacher.get(&format!("{path}/picture")).await;
            assert_eq!(&read.body[..], bytes);
        })
    });
    for upload in uploads.collect::<Vec<_>>() {
        upload.await.expect("an upload that is stored");
    }
    assert_eq!(app.stored(), 50);
}
