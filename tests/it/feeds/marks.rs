//! Plain text stays text in every format: what looks like a tag in it is no element of a page, and of no entry of a feed.

use std::cell::RefCell;

use entity_core::Registry;
use entity_core::schema::{Kind, Meaning, Role};
use feed_rs::parser;
use html5ever::tokenizer::{
    BufferQueue, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use http::StatusCode;
use sea_orm::ConnectionTrait as _;
use serde_json::json;
use tests::{Client, TestApp, both};

use super::PrivateFeed;

const MARK: &str = "x-mark";
/// A text that a browser or a reader of feeds would take for a picture and a redirection, if it were HTML.
const TEXT: &str = "<x-mark onload=a()><meta http-equiv=refresh content=0>";

/// The names of the elements that begin in a text.
#[derive(Default)]
struct Elements(RefCell<Vec<String>>);

impl TokenSink for Elements {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let TagToken(tag) = token {
            self.0.borrow_mut().push(tag.name.to_string());
        }
        TokenSinkResult::Continue
    }
}

fn has_mark(html: &str) -> bool {
    let input = BufferQueue::default();
    input.push_back(html.into());
    let tokenizer = Tokenizer::new(Elements::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.borrow().iter().any(|it| it == MARK)
}

/// Appends the text to every text of every entity that people write.
async fn mark(app: &TestApp) -> usize {
    let registry = Registry::from_inventory().expect("types that go together");
    let writer = &app.service().storage.content.writer;
    let mut marked = 0;
    for route in registry.routes() {
        let Some(spec) = route.table.map(|it| it()) else {
            continue;
        };
        for field in route.schema.writable(true) {
            let is_text = matches!(field.kind, Kind::Text(_)) && field.choices.is_empty();
            let names = field.references.is_some() || field.role == Some(Role::Site);
            let is_free = !names && field.offered.is_none();
            let is_meant = field.meaning.is_none_or(|it| it == Meaning::Address);
            let column = field.column.filter(|_| is_text && is_free && is_meant);
            if let Some(column) = column.filter(|it| *it != spec.key) {
                let table = spec.name;
                let sql = format!(
                    "UPDATE \"{table}\" SET \"{column}\" = \"{column}\" || '{TEXT}' WHERE \"{column}\" <> ''"
                );
                let done = writer.execute_unprepared(&sql).await;
                marked += usize::from(done.expect("a text").rows_affected() > 0);
            }
        }
    }
    marked
}

/// Checks the answer at `path`. Returns whether it has the text.
async fn check(client: &Client, path: &str, format: &str) -> bool {
    let answer = client.get(path).await;
    if answer.status != StatusCode::OK {
        return false;
    }
    if format == "html" {
        assert!(!has_mark(answer.text()), "{path}: {}", answer.text());
    } else {
        let feed = parser::parse(&*answer.body).expect("a feed");
        for entry in feed.entries {
            let content = entry.content.and_then(|it| it.body);
            let summary = entry.summary.map(|it| it.content);
            for html in [content, summary].into_iter().flatten() {
                assert!(!has_mark(&html), "{path}: {html}");
            }
        }
    }
    answer.text().contains(MARK)
}

both! {
    async fn y61_plain_text_is_markup_in_no_format(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let marked = mark(&app).await;
        assert!(marked > 20, "{marked} columns have a text");
        let registry = Registry::from_inventory().expect("types that go together");
        let mut told = Vec::new();
        for route in registry.routes().filter(|it| it.capabilities().contains(&"list")) {
            let prefix = route.prefix;
            for query in ["", "?siteId=biology-101"] {
                for format in ["html", "atom", "rss"] {
                    if check(&teacher, &format!("/direct/{prefix}.{format}{query}"), format).await {
                        told.push((prefix, format));
                    }
                }
            }
            let list = teacher.get(&format!("/direct/{prefix}.json?siteId=biology-101&_limit=1")).await;
            if let (StatusCode::OK, Some(first)) = (list.status, list.json()[format!("{prefix}_collection")].get(0)) {
                let page = first["entityReference"].as_str().expect("a reference").to_owned();
                check(&teacher, &format!("/direct{page}.html"), "html").await;
            }
        }
        for expected in [("chat-message", "atom"), ("chat-message", "rss"), ("chat-message", "html")] {
            assert!(told.contains(&expected), "{expected:?} is not among {told:?}");
        }
        let feed = PrivateFeed::new(&teacher, &json!({"path": "/chat-message"})).await;
        for format in ["atom", "rss"] {
            assert!(check(&app.anonymous(), &feed.path(format), format).await);
            let browser = app.anonymous().with_header(http::header::ACCEPT, "text/html");
            assert!(check(&browser, &feed.path(format), "html").await);
        }
    }
}
