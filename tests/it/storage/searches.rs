//! Searches find what the texts say, whatever is in them.

use std::collections::{BTreeMap, BTreeSet};

use entity_core::search::Needle;
use entity_core::{Entity as _, encode_segment};
use entity_providers::courses::announcement::Announcement;
use http::StatusCode;
use sea_orm::{ConnectionTrait, Statement};
use serde_json::json;
use tests::{Client, TestApp, both};

/// Titles and texts in which it is hard to find something.
const TEXTS: [(&str, &str); 12] = [
    ("Zebrafish", "<p>the zebra and the fish</p>"),
    ("100% of_all", "<p>100% \\ ! _x_ %</p>"),
    (
        "\"quoted\" 'words'",
        "<p>\"\"\" and '' AND OR NOT NEAR(a b)</p>",
    ),
    (
        "Übung für Žofín",
        "<p>Jime\u{301}nez, Dvo\u{159}a\u{301}k</p>",
    ),
    ("STRAẞE", "<p>Straße, Ελλάδα ΟΔΌΣ</p>"),
    ("Ёлка для всех", "<p>ёлка</p>"),
    ("한국어 공지", "<p>日本語のお知らせ</p>"),
    ("🎓🎉🎓 done", "<p>👩‍🎓👩‍🎓👩‍🎓</p>"),
    ("a", "<p>b</p>"),
    ("ab", ""),
    ("* ^ - + : ( ) { }", "<p>title:x body_folded:* x*</p>"),
    ("aaaaaaaaaaaaaaaaaaaaaaaa", "<p>abababababababababab</p>"),
];

/// Searches, each of some words. Those that are parts of texts come on top.
const NEEDLES: [&str; 32] = [
    "zebrafish",
    "zebra fish",
    "ZEBRA",
    "xyzzy",
    "%",
    "_",
    "!",
    "%%%",
    "___",
    "100%",
    "of_all",
    "\"",
    "\"\"\"",
    "''",
    "'words'",
    "AND OR",
    "NEAR(a",
    "übung",
    "ubung",
    "jimenez",
    "Jime\u{301}nez",
    "dvořák",
    "strasse",
    "οδος",
    "елка",
    "한국",
    "日本語",
    "🎓",
    "🎓🎉🎓",
    "title:x",
    "\u{301}",
    "* ^ -",
];

async fn rows(connection: &impl ConnectionTrait, sql: &str) -> Vec<sea_orm::QueryResult> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await;
    rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// The announcements with all words of `needle`, as their texts say.
async fn expected(connection: &impl ConnectionTrait, needle: &str) -> BTreeSet<String> {
    let fields = ["title", "body"].map(|it| Announcement::schema().field(it).expect("a field"));
    let needles: Vec<Needle> = needle.split_whitespace().map(Needle::new).collect();
    let all = rows(connection, "SELECT id, title, body FROM announcement").await;
    let texts = all.iter().map(|row| {
        let text = |name: &str| row.try_get::<String>("", name).expect("text");
        (
            text("id"),
            fields.map(|it| it.folded(&text(it.column.expect("a column")))),
        )
    });
    let is_found = |texts: &[String; 2]| {
        needles
            .iter()
            .all(|needle| texts.iter().any(|it| it.contains(needle.text())))
    };
    texts.filter(|it| is_found(&it.1)).map(|it| it.0).collect()
}

/// The announcements that an administrator finds.
async fn found(admin: &Client, needle: &str) -> BTreeSet<String> {
    let path = format!(
        "/direct/announcement.json?_limit=1000&_search={}",
        encode_segment(needle)
    );
    let answer = admin.get(&path).await;
    answer.expect(StatusCode::OK);
    let answer = answer.json();
    let list = answer["announcement_collection"]
        .as_array()
        .expect("a list");
    let ids = list
        .iter()
        .map(|it| it["announcementId"].as_str().expect("an id").to_owned());
    ids.collect()
}

/// All needles: the given ones, a long one, and parts of the texts that are there.
async fn needles(connection: &impl ConnectionTrait) -> Vec<String> {
    let mut needles: Vec<String> = NEEDLES.iter().map(ToString::to_string).collect();
    needles.push("x".repeat(200));
    for (number, row) in rows(
        connection,
        "SELECT title_folded AS text FROM announcement ORDER BY id LIMIT 60",
    )
    .await
    .iter()
    .enumerate()
    {
        let text: String = row.try_get("", "text").expect("text");
        let letters: Vec<char> = text.chars().collect();
        let length = (number % 6 + 1).min(letters.len());
        let first = number * 7 % (letters.len() - length + 1);
        let part: String = letters[first..first + length].iter().collect();
        if !part.trim().is_empty() {
            needles.push(part);
        }
    }
    needles
}

/// Compares all searches with what the texts say.
async fn compare(app: &TestApp, admin: &Client) -> BTreeMap<String, BTreeSet<String>> {
    let reader = &app.service().storage.content.reader;
    let mut answers = BTreeMap::new();
    for needle in needles(reader).await {
        let found = found(admin, &needle).await;
        assert_eq!(found, expected(reader, &needle).await, "{needle:?}");
        answers.insert(needle, found);
    }
    answers
}

/// Writes [`TEXTS`], changes some of them, and deletes others.
async fn write(app: &TestApp) {
    let author = app.user("instructor1").await;
    let mut made = Vec::new();
    for (title, body) in TEXTS {
        let news = json!({"siteId": "biology-101", "title": title, "body": body});
        let answer = author.post("/direct/announcement.json", &news).await;
        answer.expect(StatusCode::CREATED);
        made.push(format!(
            "/direct/announcement/{}",
            answer.header("entityid").expect("an id")
        ));
    }
    let change = json!({"title": "Platypus", "body": "<p>no fish any more: 100%</p>"});
    author
        .put(&made[0], &change)
        .await
        .expect(StatusCode::NO_CONTENT);
    author.delete(&made[8]).await.expect(StatusCode::NO_CONTENT);
}

both! {
    async fn a_search_finds_what_the_texts_say(app: TestApp) {
        let admin = app.user("admin").await;
        write(&app).await;
        let answers = compare(&app, &admin).await;
        assert!(answers["zebrafish"].is_empty() && !answers["of_all"].is_empty(), "{answers:?}");
    }
}
