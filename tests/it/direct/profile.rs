//! `/direct/profile`

use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{Method, Request, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{id_of, read};

/// The fields that not everybody is shown, each with the parts of the profile by which the tests call it.
const FIELDS: [(&str, char); 7] = [
    ("nickname", 'p'),
    ("pronouns", 'p'),
    ("pronunciation", 'p'),
    ("profileUrl", 'p'),
    ("imageUrl", 'p'),
    ("email", 'e'),
    ("studentNumber", 'n'),
];
/// The beginning of a PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a picture";

async fn execute(app: &TestApp, sql: &str) {
    let writer = &app.service().storage.content.writer;
    let done = writer.execute_unprepared(sql).await.expect("a statement");
    assert!(done.rows_affected() > 0, "{sql}");
}

/// The letters of the parts that a profile shows.
fn parts(profile: &Value) -> String {
    assert_eq!(profile["displayName"], "Ada Moreau", "{profile}");
    let is_shown = |name: &str| !matches!(&profile[name], Value::Null) && profile[name] != "";
    let mut parts: Vec<char> = FIELDS
        .iter()
        .filter(|it| is_shown(it.0))
        .map(|it| it.1)
        .collect();
    parts.dedup();
    for (name, part) in FIELDS {
        assert_eq!(is_shown(name), parts.contains(&part), "{name}: {profile}");
    }
    parts.into_iter().collect()
}

/// Sends a file as the whole body.
async fn send(client: &Client, path: &str, name: &str, media_type: &str, bytes: &[u8]) -> Answer {
    let request = Request::builder()
        .method(Method::PUT)
        .uri(client.address() + path)
        .header(CONTENT_TYPE, media_type)
        .header(
            CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\""),
        )
        .body(bytes.to_vec().into());
    let answer = client.try_send(request.expect("a request")).await;
    answer.expect("an answer")
}

both! {
    async fn a_profile_has_the_keys_that_clients_read(app: TestApp) {
        let id = id_of(&app.user("student1").await).await;
        for reader in ["student2", "instructor1"] {
            let reader = app.user(reader).await;
            for name in [id.as_str(), "student1", "STUDENT1"] {
                let path = format!("/direct/profile/{name}");
                let profile = read(&reader, &format!("{path}.json")).await;
                assert_eq!((&profile["userUuid"], &profile["displayName"]), (&json!(id), &json!("Ada Moreau")));
                assert_eq!((&profile["nickname"], &profile["pronouns"]), (&json!("Addie"), &json!("she/her")));
                assert_eq!(profile["entityReference"], json!(format!("/profile/{id}")));
                let picture = profile["imageUrl"].as_str().expect("an address");
                let picture = picture.strip_prefix("http://127.0.0.1:8080").expect("our address");
                let answer = reader.get(picture).await;
                assert_eq!(answer.expect(StatusCode::OK).header(CONTENT_TYPE), Some("image/png"));
                assert!(answer.body.starts_with(b"\x89PNG"));
                let page = reader.get(&format!("{path}.html")).await;
                assert!(page.expect(StatusCode::OK).text().contains("Addie"));
            }
        }
    }

    async fn who_sees_which_part_of_a_profile(app: TestApp) {
        let id = id_of(&app.user("student1").await).await;
        let path = format!("/direct/profile/{id}.json");
        let seen = async |eid: &str| parts(&read(&app.user(eid).await, &path).await);
        let matrix = [("student1", "pen"), ("student2", "p"), ("student5", "p"), ("ta1", "pe"),
            ("instructor1", "pen"), ("instructor2", ""), ("admin", "pen")];
        for (eid, expected) in matrix {
            assert_eq!(seen(eid).await, expected, "{eid}");
        }
        app.anonymous().get(&path).await.expect(StatusCode::UNAUTHORIZED);
        // Of whom joined by themselves, the roster tells neither the address nor the number.
        let of_student = format!("user_id = '{id}'");
        execute(&app, &format!("UPDATE membership SET origin = 'joined' WHERE {of_student}")).await;
        for (eid, expected) in [("student1", "pen"), ("ta1", "p"), ("instructor1", "p"), ("admin", "pen")] {
            assert_eq!(seen(eid).await, expected, "{eid}, of a member who joined");
        }
        // Who does not want to be seen in a site shares it with few.
        execute(&app, &format!("UPDATE membership SET origin = 'mandate', is_hidden = TRUE WHERE {of_student}")).await;
        for (eid, expected) in [("student1", "pen"), ("student2", ""), ("ta1", "pe"), ("instructor1", "pen")] {
            assert_eq!(seen(eid).await, expected, "{eid}, of a hidden member");
        }
        // A membership that does not count is none.
        execute(&app, &format!("UPDATE membership SET is_active = FALSE, is_hidden = FALSE WHERE {of_student}")).await;
        for (eid, expected) in [("student2", ""), ("ta1", ""), ("instructor1", ""), ("admin", "pen")] {
            assert_eq!(seen(eid).await, expected, "{eid}, of an inactive member");
        }
    }

    async fn a_function_that_a_role_loses_hides_its_part(app: TestApp) {
        let path = "/direct/profile/student1.json";
        let (admin, student) = (app.user("admin").await, app.user("student5").await);
        assert_eq!(parts(&read(&student, path).await), "p");
        let perms = "/direct/site/biology-101/setPerms";
        for (form, expected) in [
            ("Student:roster.viewprofile=false", ""),
            ("Student:roster.viewemail=true", "e"),
            ("Student:roster.viewcandidatedetails=true", "en"),
            ("Student:roster.viewprofile=true", "pen"),
        ] {
            let set = admin.post_form(perms, form).await;
            assert!(set.status.is_success(), "{}", set.text());
            assert_eq!(parts(&read(&student, path).await), expected, "{form}");
        }
    }

    async fn who_shares_no_site_is_told_the_name_and_finds_nobody_by_guessing(app: TestApp) {
        let stranger = app.user("instructor2").await;
        let id = id_of(&app.user("student1").await).await;
        let profile = read(&stranger, &format!("/direct/profile/{id}.json")).await;
        assert_eq!((&profile["displayName"], &profile["email"]), (&json!("Ada Moreau"), &json!("")));
        // Whether there is a picture is not told.
        for person in ["student1", "student2"] {
            let id = id_of(&app.user(person).await).await;
            let blank = stranger.get(&format!("/direct/profile/{id}/image")).await;
            assert_eq!(blank.expect(StatusCode::OK).header(CONTENT_TYPE), Some("image/png"));
            assert!(blank.body.len() < 80 && blank.body.starts_with(b"\x89PNG"));
            let recording = stranger.get(&format!("/direct/profile/{id}/pronunciation")).await;
            recording.expect(StatusCode::NOT_FOUND);
        }
        let member = app.user("student5").await;
        let missing = member.get("/direct/profile/student2/image").await;
        missing.expect(StatusCode::NOT_FOUND);
        for name in ["student1", "nobody", "student1@example.edu"] {
            let path = format!("/direct/profile/{name}.json");
            stranger.get(&path).await.expect(StatusCode::NOT_FOUND);
        }
        stranger.get("/direct/profile/student11.json").await.expect(StatusCode::OK);
    }

    async fn people_change_their_own_profile_and_no_other(app: TestApp) {
        let (student, admin) = (app.user("student3").await, app.user("admin").await);
        let id = id_of(&student).await;
        let path = "/direct/profile/me";
        let blank = read(&student, &format!("{path}.json")).await;
        assert_eq!((&blank["nickname"], &blank["email"]), (&json!(null), &json!("student3@example.edu")));
        let body = json!({"nickname": "  Carlita ", "pronouns": "she/her", "email": "other@example.edu", "displayName": "X"});
        student.put(path, &body).await.expect(StatusCode::NO_CONTENT);
        let changed = read(&student, "/direct/profile/current.json").await;
        assert_eq!((&changed["nickname"], &changed["userUuid"]), (&json!("Carlita"), &json!(id)));
        assert_eq!((&changed["email"], &changed["displayName"]), (&json!("student3@example.edu"), &json!("Carla Jiménez")));
        // What was read can be sent back; an empty form field empties a field.
        student.put(path, &changed).await.expect(StatusCode::NO_CONTENT);
        let form = student.get(&format!("{path}/edit.html")).await;
        assert!(form.expect(StatusCode::OK).text().contains("Carlita"));
        let sent = student.post_form(&format!("{path}/edit"), "nickname=&pronouns=they/them").await;
        assert!(sent.status.is_success() || sent.status.is_redirection(), "{}", sent.text());
        let changed = read(&student, &format!("{path}.json")).await;
        assert_eq!((&changed["nickname"], &changed["pronouns"]), (&json!(null), &json!("they/them")));

        let number = json!({"studentNumber": "1"});
        student.put(path, &number).await.expect(StatusCode::FORBIDDEN);
        admin.put(&format!("/direct/profile/{id}"), &number).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &format!("{path}.json")).await["studentNumber"], "1");
        student.put(path, &json!({"studentNumber": "1", "nickname": "C"})).await.expect(StatusCode::NO_CONTENT);
        for (body, field) in [
            (json!({"nickname": "x".repeat(256)}), "nickname"),
            (json!({"pronouns": "x".repeat(100)}), "pronouns"),
            (json!({"pronunciation": ["x"]}), "pronunciation"),
            (json!({"motto": "x"}), "motto"),
        ] {
            let refused = student.put(path, &body).await;
            assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains(field), "{body}");
        }
        // Two at once, the first ones that are stored.
        let one = app.user("student4").await;
        let (nickname, pronouns) = (json!({"nickname": "D"}), json!({"pronouns": "he/him"}));
        let (first, second) = tokio::join!(one.put(path, &nickname), one.put(path, &pronouns));
        first.expect(StatusCode::NO_CONTENT);
        second.expect(StatusCode::NO_CONTENT);
        let both = read(&one, &format!("{path}.json")).await;
        assert_eq!((&both["nickname"], &both["pronouns"]), (&json!("D"), &json!("he/him")));
    }

    async fn a_picture_is_sent_shown_and_removed(app: TestApp) {
        let (student, peer) = (app.user("student6").await, app.user("student7").await);
        let id = id_of(&student).await;
        let path = "/direct/profile/me/image";
        let of_peer = format!("/direct/profile/{id}/image");
        peer.get(&of_peer).await.expect(StatusCode::NOT_FOUND);
        let put = send(&student, path, "me.PNG", "image/png", PNG).await;
        assert_eq!(put.expect(StatusCode::OK).json()["userUuid"], json!(id));
        for place in ["", "/thumb", "/official"] {
            let shown = peer.get(&format!("{of_peer}{place}")).await;
            assert_eq!(&shown.expect(StatusCode::OK).body[..], PNG);
            assert_eq!(shown.header(CONTENT_TYPE), Some("image/png"));
            assert_eq!(shown.header(X_CONTENT_TYPE_OPTIONS), Some("nosniff"));
        }
        let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.jpg\"\r\n\
            Content-Type: image/jpeg\r\n\r\nJPEG\r\n--x--\r\n";
        let put = student.send(Method::PUT, path, "multipart/form-data; boundary=x", form.into()).await;
        put.expect(StatusCode::OK);
        let shown = peer.get(&of_peer).await;
        assert_eq!((&shown.body[..], shown.header(CONTENT_TYPE)), (&b"JPEG"[..], Some("image/jpeg")));
        student.delete(path).await.expect(StatusCode::OK);
        peer.get(&of_peer).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(read(&peer, &format!("/direct/profile/{id}.json")).await["imageUrl"], json!(null));

        let path = "/direct/profile/me/pronunciation";
        send(&student, path, "a.mp3", "audio/mpeg", b"sound").await.expect(StatusCode::OK);
        let profile = read(&peer, &format!("/direct/profile/{id}.json")).await;
        assert_eq!(profile["hasPronunciationRecording"], json!(true));
        let heard = peer.get(&format!("/direct/profile/{id}/pronunciation")).await;
        assert_eq!((&heard.body[..], heard.header(CONTENT_TYPE)), (&b"sound"[..], Some("audio/mpeg")));
        student.delete(path).await.expect(StatusCode::OK);
        peer.get(&format!("/direct/profile/{id}/pronunciation")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn sec_hostile_pictures_are_refused_or_never_run(app: TestApp) {
        let student = app.user("student8").await;
        let path = "/direct/profile/me/image";
        let svg = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
        for (name, media_type, bytes) in [
            ("a.svg", "image/svg+xml", &svg[..]),
            ("a.svg", "image/png", &svg[..]),
            ("a.png.svg", "image/png", &svg[..]),
            ("a.html", "image/png", b"<script>alert(1)</script>"),
            ("a.xhtml", "image/png", b"<html/>"),
            ("a.pdf", "application/pdf", b"%PDF"),
            ("a.mp3", "audio/mpeg", b"sound"),
            ("png", "image/png", PNG),
            ("a.png", "image/png", b""),
        ] {
            let refused = send(&student, path, name, media_type, bytes).await;
            refused.expect(StatusCode::BAD_REQUEST);
        }
        // Without a name, nothing tells of which kind it is.
        let bare = student.send(Method::PUT, path, "image/png", PNG.into()).await;
        bare.expect(StatusCode::BAD_REQUEST);
        let large = vec![7; (2 << 20) + 1];
        let refused = send(&student, path, "a.png", "image/png", &large).await;
        refused.expect(StatusCode::PAYLOAD_TOO_LARGE);
        send(&student, path, "a.png", "image/png", &large[1..]).await.expect(StatusCode::OK);
        // A page that calls itself a picture is sent as a picture, and never looked into.
        let page = b"<!doctype html><script>alert(1)</script>";
        send(&student, path, "../../a.png", "text/html", page).await.expect(StatusCode::OK);
        let shown = student.get(path).await;
        assert_eq!(shown.expect(StatusCode::OK).header(CONTENT_TYPE), Some("image/png"));
        assert_eq!(shown.header(X_CONTENT_TYPE_OPTIONS), Some("nosniff"));
        assert!(!shown.header(CONTENT_DISPOSITION).unwrap_or_default().contains('/'));
        let refused = send(&student, "/direct/profile/me/pronunciation", "a.png", "audio/mpeg", PNG).await;
        refused.expect(StatusCode::BAD_REQUEST);
    }
}
