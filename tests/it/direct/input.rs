//! Bodies: what was read can be sent back in every format, and what is wrong is told in plain words.

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, above_storage};

use super::{FORM, JSON, XML, created, id_of, read, text};

/// The fields that change with each write.
const TIMES: [&str; 4] = ["modifiedOn", "lastModified", "modifiedDate", "modifiedTime"];
/// Words that only those know who read the code.
const INTERNALS: [&str; 10] = [
    "struct ",
    "u64",
    "i64",
    "expected ",
    "invalid type",
    "missing field",
    "Stored",
    "sqlx",
    "serde",
    "variant",
];

/// Writes this field into a body as an empty one.
type Write<'a> = &'a (dyn Fn(&str) -> String + Sync);

/// Fields of every kind that may be written.
const NAMES: [&str; 11] = [
    "title",
    "highlight",
    "releaseDate",
    "groups",
    "attachments",
    "props",
    "joinable",
    "email",
    "memberRole",
    "active",
    "formats",
];

/// Something of each type that may be changed, and who changes it.
async fn writable(app: &TestApp) -> Vec<(Client, String)> {
    let (teacher, admin) = (app.user("instructor1").await, app.user("admin").await);
    let student = app.user("student1").await;
    let site = read(&teacher, "/direct/site/biology-101.json").await;
    let group = text(&site["siteGroups"][0], "id");
    let news = json!({
        "siteId": "biology-101", "title": "All of it", "body": "<p>a &amp; b</p>", "highlight": true, "groups": [group],
        "releaseDate": "2026-11-20T10:00:00Z",
        "attachments": [{"name": "d e.pdf", "url": "/access/content/x"}, {"name": "f", "url": "https://example.org/f", "size": 12}],
    });
    let full = created(
        &teacher.post("/direct/announcement", &news).await,
        "announcement",
    );
    let one = json!({"siteId": "biology-101", "title": "One file", "attachments": [{"name": "g", "url": "/access/g"}]});
    let single = created(
        &teacher.post("/direct/announcement", &one).await,
        "announcement",
    );
    let feed = json!({"path": "/announcement/site/biology-101", "formats": ["atom"]});
    let feed = created(&student.post("/direct/feed", &feed).await, "feed");
    let props = json!({"props": {"term": "2026"}});
    admin
        .put("/direct/site/biology-101", &props)
        .await
        .expect(StatusCode::NO_CONTENT);
    let (user, id) = (id_of(&student).await, id_of(&teacher).await);
    vec![
        (teacher.clone(), format!("/direct/announcement/{full}")),
        (teacher.clone(), format!("/direct/announcement/{single}")),
        (admin.clone(), "/direct/site/biology-101".to_owned()),
        (admin.clone(), "/direct/site/history-210".to_owned()),
        (admin.clone(), format!("/direct/user/{user}")),
        (student, format!("/direct/user/{user}")),
        (admin.clone(), format!("/direct/user/{id}")),
        (
            teacher,
            format!("/direct/membership/{user}::site:biology-101"),
        ),
        (app.user("student1").await, format!("/direct/feed/{feed}")),
    ]
}

/// Returns the entity at `path`, but for the times of changes.
async fn state(client: &Client, path: &str) -> Value {
    let mut state = read(client, &format!("{path}.json")).await;
    let fields = state.as_object_mut().expect("an entity");
    fields.retain(|name, _| !TIMES.contains(&name.as_str()));
    state
}

/// The document without the attributes `name`.
fn without(document: &str, name: &str) -> String {
    let start = format!(" {name}=\"");
    let mut pieces = document.split(start.as_str());
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        text + piece.split_once('"').map_or(piece, |(_, rest)| rest)
    })
}

async fn put(client: &Client, path: &str, media_type: &str, body: &str) -> Answer {
    client
        .send(Method::PUT, path, media_type, body.to_owned().into())
        .await
}

/// Fails if the answer is no refusal, or tells more of the program than of what was sent.
fn check_refusal(answer: &Answer, sent: &str) {
    assert!(
        answer.status.is_client_error(),
        "{sent}: {} {}",
        answer.status,
        answer.text()
    );
    for word in INTERNALS {
        assert!(!answer.text().contains(word), "{sent}: {}", answer.text());
    }
}

above_storage! {
    async fn a_change_has_a_body_and_nothing_in_the_query(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let news = json!({"siteId": "biology-101", "title": "Kept"});
        let path = format!("/direct/announcement/{}", created(&teacher.post("/direct/announcement", &news).await, "announcement"));
        let (json, empty) = (r#"{"title":"New"}"#, "");
        for (method, query, media_type, body, named) in [
            (Method::PUT, "?title=X", JSON, empty, Some("title")), (Method::PUT, "?title=X", FORM, "title=New", Some("title")),
            (Method::POST, "?title=X", JSON, json, Some("title")), (Method::PATCH, "?title=X", "application/merge-patch+json", json, Some("title")),
            (Method::PUT, "", JSON, empty, None), (Method::PUT, "", FORM, empty, None), (Method::POST, "", JSON, empty, None),
            (Method::POST, "?_method=DELETE", JSON, empty, Some("_method")), (Method::POST, "?_method=PUT", FORM, "title=New", Some("_method")),
            (Method::PUT, "?_method=DELETE", JSON, json, Some("_method")), (Method::DELETE, "?_method=PUT", JSON, empty, Some("_method")),
        ] {
            let answer = teacher.send(method.clone(), &format!("{path}{query}"), media_type, body.into()).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{method} {query} {body}: {}", answer.text());
            assert_eq!(answer.json()["error"]["fields"][0]["name"].as_str(), named, "{method} {query}");
        }
        let bare = teacher.try_request(Method::PUT, &path, None).await.expect("an answer");
        bare.expect(StatusCode::BAD_REQUEST);
        teacher.post("/direct/announcement?siteId=biology-101", &json!({"title": "x"})).await.expect(StatusCode::BAD_REQUEST);
        let join = teacher.post("/direct/membership/join/biology-101?_method=DELETE", &json!({})).await;
        join.expect(StatusCode::BAD_REQUEST);
        assert_eq!(read(&teacher, &path).await["title"], "Kept");
        put(&teacher, &format!("{path}?_validateSession=1&_fields=title"), JSON, json).await.expect(StatusCode::NO_CONTENT);
        teacher.post_form(&path, "_method=DELETE").await.expect(StatusCode::NO_CONTENT);
        let keep_alive = teacher.try_request(Method::PUT, "/direct/session/current", None).await.expect("an answer");
        keep_alive.expect(StatusCode::NO_CONTENT);
    }

    async fn what_the_path_decides_comes_before_the_body(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let broken = "{\"title\":";
        let change = "application/merge-patch+json";
        for (client, method, path, expected) in [
            (&teacher, Method::PUT, "/direct/site/nosuch", StatusCode::NOT_FOUND), (&teacher, Method::POST, "/direct/site/nosuch", StatusCode::NOT_FOUND),
            (&teacher, Method::PATCH, "/direct/announcement/nosuch", StatusCode::NOT_FOUND), (&teacher, Method::PUT, "/direct/nosuch/x", StatusCode::NOT_FOUND),
            (&teacher, Method::DELETE, "/direct/site/nosuch", StatusCode::NOT_FOUND), (&student, Method::DELETE, "/direct/site/biology-101", StatusCode::FORBIDDEN),
            (&student, Method::PUT, "/direct/site/biology-101", StatusCode::FORBIDDEN), (&student, Method::PATCH, "/direct/site/biology-101", StatusCode::FORBIDDEN),
            (&student, Method::POST, "/direct/site/biology-101/role/X", StatusCode::FORBIDDEN),
            (&student, Method::PUT, "/direct/site/biology-101/setPerms", StatusCode::FORBIDDEN),
            (&teacher, Method::PUT, "/direct/site/biology-101", StatusCode::BAD_REQUEST),
        ] {
            for (media_type, body) in [(JSON, broken), (XML, "<a"), ("text/plain", "x"), (JSON, ""), (change, broken)] {
                let answer = client.send(method.clone(), path, media_type, body.into()).await;
                let may_do = matches!(answer.status, StatusCode::BAD_REQUEST | StatusCode::UNSUPPORTED_MEDIA_TYPE);
                match expected {
                    StatusCode::BAD_REQUEST => assert!(may_do, "{method} {path} {media_type}: {}", answer.text()),
                    expected => assert_eq!(answer.status, expected, "{method} {path} {media_type} {body}: {}", answer.text()),
                }
            }
        }
        let stranger = app.anonymous().send(Method::PUT, "/direct/site/biology-101", JSON, broken.into()).await;
        stranger.expect(StatusCode::UNAUTHORIZED);
    }

    async fn what_was_read_can_be_sent_back(app: TestApp) {
        for (client, path) in writable(&app).await {
            let before = state(&client, &path).await;
            let json = client.get(&format!("{path}.json")).await;
            let xml = client.get(&format!("{path}.xml")).await;
            let typed = xml.text().to_owned();
            let bare = without(&without(&typed, "type"), "size");
            let prefix = path.split('/').nth(2).expect("a prefix");
            let wrapped = format!("{{\"{prefix}\":{}}}", json.text());
            for (media_type, body) in [(JSON, json.text()), (JSON, &wrapped), (XML, &typed), (XML, &bare)] {
                let answer = put(&client, &path, media_type, body).await;
                assert_eq!(answer.status, StatusCode::NO_CONTENT, "{path} {body}: {}", answer.text());
                assert_eq!(state(&client, &path).await, before, "{path} {body}");
            }
        }
    }

    async fn nothing_clears_what_may_be_empty_and_nothing_else(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let full = json!({"siteId": "biology-101", "title": "Full", "body": "<p>x</p>", "highlight": true, "draft": true,
            "releaseDate": "2026-11-20T10:00:00Z", "attachments": [{"name": "a", "url": "/access/a"}]});
        let id = created(&teacher.post("/direct/announcement", &full).await, "announcement");
        let path = format!("/direct/announcement/{id}");
        let bare = |name: &str| format!("<announcement><{name}/></announcement>");
        let nil = |name: &str| format!("<announcement xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>\
            <{name} xsi:nil='true'/></announcement>");
        let ways: [(&str, Write<'_>); 6] = [
            (JSON, &|name| json!({name: null}).to_string()),
            (FORM, &|name| format!("{name}=")),
            (XML, &bare),
            (XML, &nil),
            ("application/merge-patch+json", &|name| json!({name: null}).to_string()),
            ("application/json-patch+json", &|name| json!([{"op": "replace", "path": format!("/{name}"), "value": null}]).to_string()),
        ];
        for (media_type, write) in ways {
            let method = if media_type.contains("patch") { Method::PATCH } else { Method::PUT };
            put(&teacher, &path, JSON, &full.to_string()).await.expect(StatusCode::NO_CONTENT);
            for (name, empty) in [("highlight", json!(null)), ("releaseDate", json!(null)), ("attachments", json!([])), ("body", json!(""))] {
                let body = write(name);
                let answer = teacher.send(method.clone(), &path, media_type, body.clone().into()).await;
                assert_eq!(answer.status, StatusCode::NO_CONTENT, "{media_type} {body}: {}", answer.text());
                assert_eq!(read(&teacher, &format!("{path}.json")).await[name], empty, "{media_type} {body}");
            }
            for name in ["title", "draft"] {
                let answer = teacher.send(method.clone(), &path, media_type, write(name).into()).await;
                answer.expect(StatusCode::BAD_REQUEST);
                assert_eq!(answer.json()["error"]["fields"][0]["name"], name, "{media_type}");
            }
            let left = read(&teacher, &format!("{path}.json")).await;
            assert_eq!((&left["title"], &left["draft"]), (&json!("Full"), &json!(true)), "{media_type}");
        }
    }

    async fn bodies_are_read_as_common_clients_write_them(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let site = read(&teacher, "/direct/site/biology-101.json").await;
        let group = text(&site["siteGroups"][0], "id");
        let full = json!({"siteId": "biology-101", "title": "One"});
        let id = created(&teacher.post("/direct/announcement", &full).await, "announcement");
        let path = format!("/direct/announcement/{id}");
        for (media_type, body, key, expected) in [
            (JSON, "\u{feff}{\"title\":\"a\"}".to_owned(), "title", json!("a")),
            (XML, "\u{feff}<announcement><title>b</title></announcement>".to_owned(), "title", json!("b")),
            ("text/json", json!({"title": "c"}).to_string(), "title", json!("c")),
            (FORM, format!("groups[]={group}"), "groups", json!([group])),
            (FORM, "groups%5B%5D=".to_owned(), "groups", json!([])),
        ] {
            let answer = put(&teacher, &path, media_type, &body).await;
            assert_eq!(answer.status, StatusCode::NO_CONTENT, "{media_type} {body}: {}", answer.text());
            assert_eq!(read(&teacher, &format!("{path}.json")).await[key], expected, "{media_type} {body}");
        }
        for xml in ["<q:announcement><title>a</title></q:announcement>", "<announcement><title xsi:nil='true'/></announcement>"] {
            put(&teacher, &path, XML, xml).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn a_refusal_names_twenty_fields_and_counts_the_rest(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let fields: serde_json::Map<String, Value> = (0..5000).map(|it| (format!("unknown{it}"), json!(1))).collect();
        let answer = teacher.send(Method::PUT, "/direct/site/biology-101", JSON, Value::from(fields).to_string().into()).await;
        answer.expect(StatusCode::BAD_REQUEST);
        let error = answer.json()["error"].take();
        assert_eq!(error["fields"].as_array().map(Vec::len), Some(20));
        let message = text(&error, "message");
        assert!(message.ends_with("and 4980 more"), "{message}");
        for (path, media_type, body) in [
            ("/api/login", JSON, r#"{"username":"student1","username":"student2","password":"x"}"#),
            ("/direct/session", JSON, r#"{"_username":"student1","_username":"student2","_password":"x"}"#),
            ("/api/login", FORM, "username=student1&username=student2&password=x"),
            ("/direct/announcement", JSON, r#"{"siteId":"biology-101","title":"a","title":"b"}"#),
            ("/direct/announcement", XML, "<announcement><title>a</title><title>b</title></announcement>"),
            ("/direct/announcement", FORM, "siteId=biology-101&title=a&title=b"),
            ("/direct/batch.json", JSON, r#"{"operations":[],"operations":[]}"#),
        ] {
            let answer = teacher.send(Method::POST, path, media_type, body.into()).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{path} {body}: {}", answer.text());
        }
    }

    async fn xml_needs_no_types_at_any_depth(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let xml = "<announcement><siteId>biology-101</siteId><title>Bare</title><highlight>true</highlight>\
            <attachments><attachment><name>a</name><url>/access/a</url><size>12</size></attachment></attachments>\
            <groups></groups></announcement>";
        let answer = teacher.send(Method::POST, "/direct/announcement", XML, xml.into()).await;
        let made = read(&teacher, &format!("/direct/announcement/{}.json", created(&answer, "announcement"))).await;
        assert_eq!((&made["highlight"], &made["attachments"][0]["size"]), (&json!(true), &json!(12)));
        assert_eq!(made["groups"], json!([]));
    }

    async fn what_has_the_wrong_shape_is_refused_in_plain_words(app: TestApp) {
        let shapes = [
            json!([5]), json!(["x"]), json!([[]]), json!([{}]), json!([null]), json!({"a": 5}), json!({"a": []}), json!(1.5),
            json!([{"url": 5, "name": "a"}]), json!([{"url": "/a"}]), json!([{"url": "/a", "name": "a", "size": "12"}]),
            json!([{"url": "/a", "name": "a", "size": -1}]), json!([{"url": "/a", "name": "a", "type": []}]), json!("\u{1}"),
        ];
        let mut looked_at = 0;
        for (client, path) in writable(&app).await {
            let fields = state(&client, &path).await;
            for name in NAMES.into_iter().filter(|it| fields.get(it).is_some()) {
                for shape in &shapes {
                    for (media_type, sent) in [
                        (JSON, json!({name: shape}).to_string()),
                        (FORM, format!("{name}={shape}")),
                        ("application/merge-patch+json", json!({name: shape}).to_string()),
                        ("application/json-patch+json", json!([{"op": "replace", "path": format!("/{name}"), "value": shape}]).to_string()),
                    ] {
                        let method = if media_type.contains("patch") { Method::PATCH } else { Method::PUT };
                        let dry = client.clone().with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
                        let answer = dry.send(method, &path, media_type, sent.clone().into()).await;
                        if !answer.status.is_success() {
                            check_refusal(&answer, &format!("{path} {sent}"));
                            looked_at += 1;
                        }
                    }
                }
            }
        }
        assert!(looked_at > 300, "only {looked_at} are refused");
    }

    async fn what_is_wrong_is_named_by_its_path(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (_, path) = writable(&app).await.swap_remove(0);
        for (media_type, sent, field, message) in [
            (JSON, r#"{"attachments":["/a"]}"#, "attachments[0]", "must be an object with `name` and `url`"),
            (JSON, r#"{"attachments":[{"name":"a"}]}"#, "attachments[0].url", "is required"),
            (JSON, r#"{"attachments":[{"name":"a","url":"/a","size":"12"}]}"#, "attachments[0].size", "must be a whole number"),
            (JSON, r#"{"groups":["a",5]}"#, "groups[1]", "must be text"),
            (FORM, "attachments=/access/content/a.pdf", "attachments[0]", "must be an object with `name` and `url`"),
            (XML, "<announcement><attachments><a><name>a</name><url>/a</url><size>x</size></a></attachments></announcement>",
                "attachments[0].size", "must be a whole number"),
        ] {
            let answer = put(&teacher, &path, media_type, sent).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let expected = json!([{"name": field, "message": message}]);
            assert_eq!(answer.json()["error"]["fields"], expected, "{sent}");
        }
        for operations in [json!(5), json!([5]), json!([{"method": "GET"}]), json!([{"method": 5, "path": "site"}])] {
            let answer = teacher.post("/direct/batch.json", &json!({"operations": operations})).await;
            check_refusal(&answer, &operations.to_string());
        }
        for patch in ["{}", "[5]", r#"[{"op":"nonsense","path":"/title"}]"#, r#"[{"op":"add","path":"title"}]"#] {
            let answer = teacher.send(Method::PATCH, &path, "application/json-patch+json", patch.into()).await;
            check_refusal(&answer, patch);
        }
    }

    async fn xml_that_is_meant_for_something_else_is_refused(app: TestApp) {
        let (teacher, path) = writable(&app).await.swap_remove(0);
        let before = state(&teacher, &path).await;
        for (xml, named) in [
            ("<site><title>a</title></site>", "`site`"),
            ("<announcement_collection><title>a</title></announcement_collection>", "`announcement_collection`"),
            ("<announcement title='x'/>", "`title`"),
            ("<announcement><title value='x'>a</title></announcement>", "`value`"),
        ] {
            let answer = put(&teacher, &path, XML, xml).await;
            answer.expect(StatusCode::BAD_REQUEST);
            let message = answer.json()["error"]["message"].to_string();
            assert!(message.contains(named), "{xml}: {message}");
        }
        assert_eq!(state(&teacher, &path).await, before);
        // What is the name of nothing else says nothing.
        for (root, title) in [("data", "Told"), ("entity", "Told again"), ("note", "And again")] {
            let xml = format!("<{root}><title>{title}</title></{root}>");
            put(&teacher, &path, XML, &xml).await.expect(StatusCode::NO_CONTENT);
            assert_eq!(state(&teacher, &path).await["title"], title);
        }
    }

    async fn a_body_means_nothing_where_something_is_read(app: TestApp) {
        let (student, stranger) = (app.user("student1").await, app.anonymous());
        for client in [&student, &stranger] {
            for method in [Method::GET, Method::HEAD] {
                for (media_type, body) in [(JSON, "abc"), (XML, "<"), (FORM, "_method=DELETE"), ("image/png", "x")] {
                    let path = "/direct/session/current.json";
                    let answer = client.send(method.clone(), path, media_type, body.into()).await;
                    answer.expect(StatusCode::OK);
                }
            }
        }
        read(&student, "/direct/site/biology-101.json").await;
    }
}
