//! Files that no row names are removed after a while, and no other ones.

use chrono::TimeDelta;
use entity_core::blob::Blob;
use entity_core::db::blobs;
use http::{Method, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::json;
use tests::both;

use super::{BOUNDARY, Gallery, SITE, draw, drawn, form, multipart, send};

/// Cleans up `times` times, an hour and a minute apart.
async fn sweep(app: &Gallery, times: usize) {
    for _ in 0..times {
        app.0.advance(TimeDelta::minutes(61));
        app.0.service().sweep().await.expect("a sweep");
    }
}

both! {
async fn what_no_row_names_goes_after_an_hour(app: Gallery) {
    let teacher = app.teacher().await;
    let kept = drawn(&teacher, "kept.png", b"kept").await;
    let sheet = teacher
        .post("/direct/drawing.json", &json!({"siteId": SITE, "sheets": [{"note": "n"}]}))
        .await;
    sheet.expect(StatusCode::CREATED);
    let sheet = format!("/direct/drawing/{}", sheet.header("entityid").expect("an id"));
    let body = form(&[], &[("sheet", "s.png", b"of a child")]);
    let put = teacher.send(Method::PUT, &sheet, &multipart(), body.into()).await;
    put.expect(StatusCode::NO_CONTENT);
    let twice = drawn(&teacher, "one.png", b"twice").await;
    drawn(&teacher, "two.png", b"twice").await;
    let replaced = drawn(&teacher, "old.png", b"old").await;
    send(&teacher, &format!("{replaced}/picture"), "new.png", b"new".to_vec()).await.expect(StatusCode::OK);
    let deleted = drawn(&teacher, "deleted.png", b"deleted").await;
    for path in [&deleted, &twice] {
        teacher.delete(path).await.expect(StatusCode::NO_CONTENT);
    }
    // Stored, and then refused because of a field behind it.
    let whole = form(&[("siteId", SITE)], &[("picture", "a", b"never named")]);
    let end = whole.len() - format!("--{BOUNDARY}--\r\n").len();
    let body = [&whole[..end], &form(&[("nonsense", "x")], &[])].concat();
    teacher.send(Method::POST, "/direct/drawing", &multipart(), body.into()).await.expect(StatusCode::BAD_REQUEST);
    let before = app.stored();
    app.0.service().sweep().await.expect("a sweep");
    assert_eq!(app.stored(), before);
    sweep(&app, 3).await;
    assert_eq!(app.stored(), 4);
    let teacher = app.teacher().await;
    for (path, bytes) in [(&kept, "kept"), (&replaced, "new")] {
        assert_eq!(teacher.get(&format!("{path}/picture")).await.body, bytes);
    }
    teacher.delete(&sheet).await.expect(StatusCode::NO_CONTENT);
    sweep(&app, 3).await;
    assert_eq!(app.stored(), 3);
}

async fn an_upload_of_the_same_bytes_at_the_same_moment_wins(app: Gallery) {
    let mut teacher = app.teacher().await;
    for round in 0..8 {
        let bytes = format!("again and again {round}").into_bytes();
        let path = drawn(&teacher, "a.png", &bytes).await;
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
        app.0.advance(TimeDelta::minutes(61));
        teacher = app.teacher().await;
        let service = app.0.service();
        let (swept, answer) = tokio::join!(service.sweep(), draw(&teacher, "b.png", &bytes));
        swept.expect("a sweep");
        answer.expect(StatusCode::CREATED);
        let id = answer.header("entityid").expect("an id");
        let shown = teacher.get(&format!("/direct/drawing/{id}/picture")).await;
        assert_eq!((shown.status, &shown.body[..]), (StatusCode::OK, &bytes[..]));
    }
}

async fn a_file_that_is_noted_again_before_it_is_removed_stays(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"bytes").await;
    teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
    app.0.advance(TimeDelta::minutes(61));
    let dispatcher = &app.0.service().dispatcher;
    let origin = entity_core::engine::Origin {
        caller: entity_core::Caller::anonymous(),
        address: std::net::IpAddr::from([127, 0, 0, 1]),
        request_id: "test".into(),
        method: "SWEEP".into(),
        path: "/".into(),
        read_budget: entity_core::engine::ReadBudget::default(),
    };
    let now = app.0.service().now().timestamp_millis();
    let blob = Blob::of(b"bytes");
    let columns = blobs::columns(dispatcher.registry());
    assert!(columns.contains(&("drawing", "picture")) && columns.contains(&("drawing_sheet", "picture")));
    // The sweep has decided that the file is to go; the upload is faster.
    let removed = dispatcher.write(&origin, |cx| {
        let columns = columns.clone();
        Box::pin(async move {
            let over = blobs::over(cx, now, 10).await?;
            assert_eq!(over, [blob.to_column()]);
            blobs::note(cx, &blob, None).await?;
            let removed = blobs::remove(cx, &columns, &over, now - 1).await?;
            Ok((removed, entity_core::engine::Audit::Later))
        })
    });
    assert_eq!(removed.await.expect("a unit of work"), 0);
    assert_eq!(app.stored(), 1);
}

async fn no_file_goes_while_a_type_is_not_linked(app: Gallery) {
    let teacher = app.teacher().await;
    let path = drawn(&teacher, "a.png", b"bytes").await;
    teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
    let note = "INSERT INTO stored_file_column (name) VALUES ('other.picture')";
    let content = &app.0.service().storage.content.writer;
    content.execute_unprepared(note).await.expect("a table of ours");
    sweep(&app, 3).await;
    assert_eq!(app.stored(), 1);
    let forget = "DELETE FROM stored_file_column WHERE name = 'other.picture'";
    content.execute_unprepared(forget).await.expect("a table of ours");
    sweep(&app, 3).await;
    assert_eq!(app.stored(), 0);
}

async fn what_was_rolled_back_is_found_and_removed(app: Gallery) {
    let store = app.0.service().dispatcher.shared().blobs().expect("a store");
    let mut incoming = store.begin().await.expect("a file");
    incoming.write("stray".into()).await.expect("bytes");
    let received = incoming.finish().await.expect("a file");
    received.keep().await.expect("a name");
    assert_eq!(app.stored(), 1);
    let stored = store.store().list(None, 10, std::time::Duration::ZERO).await.expect("a list");
    assert_eq!(stored, [Blob::of(b"stray")]);
    let after = stored.first();
    assert!(store.store().list(after, 10, std::time::Duration::ZERO).await.expect("a list").is_empty());
    // A file is young by the clock of the disk, which no test moves.
    sweep(&app, 2).await;
    assert_eq!(app.stored(), 1);
}
}
