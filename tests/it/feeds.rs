//! Feeds as other programs read them: one parser in Rust, and Python's feedparser where `FEED_PYTHON` names a
//! Python that has it.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

use http::StatusCode;
use http::header::{ETAG, IF_NONE_MATCH};
use tests::{TestApp, both};

const FEEDS: [&str; 2] = [
    "/direct/announcement/site/biology-101.atom",
    "/direct/announcement/site/biology-101.rss",
];

/// Prints the number of entries, or complains.
const FEEDPARSER: &str = "
import feedparser, sys
feed = feedparser.parse(sys.stdin.buffer.read())
assert not feed.bozo, feed.bozo_exception
assert feed.feed.title
for entry in feed.entries:
    assert entry.id and entry.title and entry.link.startswith('http'), entry
print(len(feed.entries))
";

/// How many entries feedparser finds; `None` where it is not installed.
fn entries_by_feedparser(feed: &[u8]) -> Option<usize> {
    let python = env::var_os("FEED_PYTHON")?;
    let mut child = Command::new(python)
        .args(["-c", FEEDPARSER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("FEED_PYTHON names a program");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(feed).expect("it reads");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "feedparser complains");
    let text = String::from_utf8_lossy(&output.stdout);
    Some(text.trim().parse().expect("a number"))
}

both! {
    async fn feed_readers_find_every_announcement(app: TestApp) {
        let student = app.user("student1").await;
        let list = student.get("/direct/announcement/site/biology-101.json").await;
        list.expect(StatusCode::OK);
        let list = list.json();
        let expected = list["announcement_collection"].as_array().expect("a list").len();
        assert!(expected > 0);
        for path in FEEDS {
            let answer = student.get(path).await;
            answer.expect(StatusCode::OK);
            let feed = feed_rs::parser::parse(&*answer.body).expect("a feed");
            assert_eq!(feed.entries.len(), expected, "{path}");
            let again = entries_by_feedparser(&answer.body);
            assert!(again.is_none_or(|it| it == expected), "{path}: {again:?}");
        }
    }

    async fn a_feed_that_did_not_change_is_not_sent_again(app: TestApp) {
        for path in FEEDS {
            let student = app.user("student1").await;
            let first = student.get(path).await;
            first.expect(StatusCode::OK);
            let version = first.header(ETAG).expect("a version").to_owned();
            let reader = student.with_header(IF_NONE_MATCH, &version);
            reader.get(path).await.expect(StatusCode::NOT_MODIFIED);
        }
    }
}
