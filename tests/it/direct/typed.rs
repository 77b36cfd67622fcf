//! Typed texts that may have markup: all of what people type is stored, shown and given back.

use bytes::Bytes;
use entity_core::primitives::plain_text;
use http::header::{ACCEPT, COOKIE, SET_COOKIE};
use http::{Method, StatusCode};
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tests::{Client, TestApp, above_storage};

use super::form::untouched;
use super::{JSON, XML, created, read, text};

const PLACE: &str = "/direct/announcement";
/// Texts without markup.
const TEXTS: [&str; 9] = [
    "if x<y then swap x and y",
    "ask Ada <ada@example.org> about it",
    "Vec<Option<T>>, List<Object> & fn f<P>(p: P)",
    "a<b and c>d",
    "AT&T, R&amp;D, &lt;b&gt;x&lt;/b&gt;",
    "first line\nsecond line\n\nnext paragraph",
    "half of <b and </i> and <!-- what",
    "see https://example.org/a?b=1&c=2.",
    "plain",
];
const FORM: &str = "application/x-www-form-urlencoded";

/// The bodies of an announcement with this text, in each format in which it may come.
fn bodies(body: &str) -> [(&'static str, Bytes); 3] {
    let fields = [
        ("siteId", "biology-101"),
        ("title", "Typed"),
        ("body", body),
    ];
    let xml = |it: &str| it.replace('&', "&amp;").replace('<', "&lt;");
    let elements = fields.map(|(name, text)| format!("<{name}>{}</{name}>", xml(text)));
    let object: Value = fields.into_iter().collect();
    [
        (JSON, Bytes::from(object.to_string())),
        (FORM, Bytes::from(entity_formats::write_pairs(fields))),
        (
            XML,
            Bytes::from(format!(
                "<announcement>{}</announcement>",
                elements.concat()
            )),
        ),
    ]
}

async fn browser(app: &TestApp) -> Client {
    let teacher = app.user("instructor1").await;
    teacher.with_header(ACCEPT, "text/html,*/*;q=0.8")
}

/// The text that the box for `name` holds in the form at `path`.
async fn in_the_box(client: &Client, path: &str, name: &str) -> String {
    let page = client.get(&format!("{path}/edit.html")).await;
    let mut pairs = untouched(page.expect(StatusCode::OK)).into_iter();
    pairs
        .find(|it| it.0 == name)
        .expect("a box")
        .1
        .replace("\r\n", "\n")
}

above_storage! {
    async fn y1_what_is_typed_is_stored_whole_whatever_it_comes_as(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for typed in TEXTS {
            let mut stored = Vec::new();
            for (media_type, body) in bodies(typed) {
                let answer = teacher.send(Method::POST, PLACE, media_type, body).await;
                let path = format!("{PLACE}/{}", created(&answer, "announcement"));
                let entity = read(&teacher, &path).await;
                stored.push(text(&entity, "body"));
                assert_eq!(in_the_box(&teacher, &path, "body").await, typed, "{media_type}");
                // What was read is sent back, and the box as it is: neither is a change.
                teacher.put(&path, &entity).await.expect(StatusCode::NO_CONTENT);
                let page = teacher.get(&format!("{path}/edit.html")).await;
                let pairs = untouched(&page);
                let form = entity_formats::write_pairs(pairs.iter().map(|it| (&*it.0, &*it.1)));
                teacher.post_form(&path, &form).await.expect(StatusCode::NO_CONTENT);
                assert_eq!(read(&teacher, &path).await, entity, "{media_type}");
                let shown = |it: &str| it.split_whitespace().collect::<Vec<_>>().join(" ");
                assert_eq!(plain_text(stored.last().expect("one")), shown(typed), "{media_type}");
                let table = teacher.get(&format!("{path}.csv")).await;
                let cell = typed.replace('"', "\"\"");
                assert!(table.text().contains(&cell), "{typed} in {}", table.text());
            }
            assert!(stored.iter().all(|it| *it == stored[0]), "{stored:?}");
        }
        let found = teacher.get("/direct/announcement/site/biology-101.json?_search=swap").await;
        assert_eq!(found.json()["announcement_collection"].as_array().expect("a list").len(), 3);
    }

    async fn y1_what_no_page_may_show_leaves_its_address_and_the_answer_says_so(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let film = "<p>Watch <iframe src=\"https://films.example/1\"></iframe></p>";
        let body = json!({"siteId": "biology-101", "title": "Film", "body": film});
        let answer = teacher.post(PLACE, &body).await;
        assert_eq!(answer.header("x-replaced-elements"), Some("iframe"));
        let path = format!("{PLACE}/{}", created(&answer, "announcement"));
        let stored = text(&read(&teacher, &path).await, "body");
        assert!(stored.contains(">https://films.example/1</a>"), "{stored}");
        let person = browser(&app).await;
        let form = entity_formats::write_pairs([("title", "Film"), ("body", film), ("_method", "PUT")]);
        let sent = person.post_form(&path, &form).await;
        sent.expect(StatusCode::SEE_OTHER);
        let cookie = sent.header(SET_COOKIE).expect("a cookie");
        let cookies = format!("{}; {}", person.cookie().expect("one"), cookie.split(';').next().expect("one"));
        let name = COOKIE;
        let page = app.anonymous().with_header(name, &cookies).get(&format!("{path}.html")).await;
        assert!(page.text().contains("such as a film"), "{}", page.text());
    }

    async fn y1_a_stored_text_that_comes_back_is_not_what_somebody_types(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"siteId": "biology-101", "title": "Old", "body": "x"});
        let path = format!("{PLACE}/{}", created(&teacher.post(PLACE, &body).await, "announcement"));
        let old = "UPDATE announcement SET body = 'a &amp; b' WHERE title = 'Old'";
        let writer = &app.service().storage.content.writer;
        writer.execute_unprepared(old).await.expect("a text of an earlier version");
        let mut entity = read(&teacher, &path).await;
        assert_eq!(entity["body"], "a &amp; b");
        assert_eq!(in_the_box(&teacher, &path, "body").await, "a & b");
        entity["title"] = json!("New");
        teacher.put(&path, &entity).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &path).await["body"], "a &amp; b");
    }

    async fn y2_lines_are_kept_wherever_people_read(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let typed = "first line\r\nsecond line\r\n\r\nnext paragraph";
        let html = "<p>first line<br>second line</p><p>next paragraph</p>";
        let site = json!({"siteId": "biology-101", "title": "Lines"});
        let with = |name: &str, more: Value| {
            let mut body = site.clone();
            body[name] = json!(typed);
            body.as_object_mut().expect("an object").extend(more.as_object().expect("one").clone());
            body
        };
        let start = json!({"firstTime": 1_900_000_000_000_i64, "duration": 3_600_000});
        for (prefix, name, body) in [
            ("announcement", "body", with("body", json!({}))),
            ("calendar", "description", with("description", start)),
        ] {
            let answer = teacher.post(&format!("/direct/{prefix}"), &body).await;
            let path = format!("/direct/{prefix}/{}", created(&answer, prefix));
            assert_eq!(read(&teacher, &path).await[name], html);
            let page = teacher.get(&format!("{path}.html")).await;
            assert!(page.text().contains(html), "{prefix}");
            let feed = teacher.get(&format!("/direct/{prefix}/site/biology-101.atom")).await;
            let escaped = html.replace('<', "&lt;").replace('>', "&gt;");
            assert!(feed.text().contains(&escaped) || feed.text().contains(html), "{prefix}: {}", feed.text());
        }
        let calendar = teacher.get("/direct/calendar/site/biology-101.ics").await;
        let unfolded = calendar.text().replace("\r\n ", "");
        assert!(unfolded.contains("DESCRIPTION:first line\\nsecond line\\n\\nnext paragraph"), "{unfolded}");
    }
}
