//! `compression.data`: data is compressed as it is answered, and nothing that carries a secret is.

use std::io::Read as _;

use flate2::read::GzDecoder;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, IF_MATCH, IF_NONE_MATCH, VARY};
use http::{Method, StatusCode};
use serde_json::json;
use tests::{Answer, Database, TestApp, above_storage};

const DATA: [&str; 8] = [
    "/direct/user.json?_limit=50",
    "/direct/user.xml?_limit=50",
    "/direct/user.csv?_limit=50",
    "/direct/announcement/site/biology-101.json",
    "/direct/announcement/site/biology-101.xml",
    "/direct/announcement/site/biology-101.atom",
    "/direct/content/site/biology-101.json",
    "/api/sites/biology-101/grades",
];

fn plain(answer: &Answer) -> Vec<u8> {
    let mut text = Vec::new();
    let mut decoder = GzDecoder::new(answer.body.as_ref());
    decoder.read_to_end(&mut text).expect("compressed bytes");
    text
}

above_storage! {
    async fn data_is_compressed_for_whoever_takes_that(database: Database) {
        let app = TestApp::start(database, &[("compression.data", "true")]).await;
        app.fill().await;
        let admin = app.user("admin").await;
        let taker = admin.clone().with_header(ACCEPT_ENCODING, "gzip, br");
        for path in DATA {
            let long = admin.get(path).await;
            long.expect(StatusCode::OK);
            assert!(long.body.len() >= 2048, "{path} is too short to be compressed: {}", long.text());
            assert_eq!(long.header(CONTENT_ENCODING), None, "{path}");
            let short = taker.get(path).await;
            assert_eq!(short.expect(StatusCode::OK).header(CONTENT_ENCODING), Some("gzip"), "{path}");
            assert_eq!(plain(&short), long.body, "{path}");
            assert!(short.body.len() < long.body.len(), "{path}");
            let head = taker.send(Method::HEAD, path, "text/plain", "".into()).await;
            assert_eq!(head.header(CONTENT_ENCODING), Some("gzip"), "{path}");
            assert_eq!(head.header(ETAG), short.header(ETAG), "{path}");
            for it in [&long, &short] {
                assert!(it.header(VARY).is_some_and(|it| it.contains("Accept-Encoding")), "{path}");
            }
        }
    }

    async fn a_compressed_answer_has_a_tag_of_its_own_that_guards_writes(database: Database) {
        let app = TestApp::start(database, &[("compression.data", "true")]).await;
        app.fill().await;
        let maria = app.user("instructor1").await;
        let body = "<p>A long text, a long text.</p>".repeat(200);
        let sent = json!({"siteId": "biology-101", "title": "Long", "body": body});
        let made = maria.post("/direct/announcement", &sent).await;
        let id = made.expect(StatusCode::CREATED).header("entityid").expect("an id");
        let path = format!("/direct/announcement/{id}.json");
        let taker = maria.clone().with_header(ACCEPT_ENCODING, "gzip");
        let (long, short) = (maria.get(&path).await, taker.get(&path).await);
        let (long, short) = (long.header(ETAG).expect("a tag"), short.header(ETAG).expect("a tag"));
        assert_ne!(long, short, "other bytes have another tag");
        for (client, tag, expected) in [
            (&taker, short, StatusCode::NOT_MODIFIED),
            (&taker, long, StatusCode::NOT_MODIFIED),
            (&maria, long, StatusCode::NOT_MODIFIED),
            (&maria, short, StatusCode::OK),
        ] {
            let again = client.clone().with_header(IF_NONE_MATCH, tag).get(&path).await;
            again.expect(expected);
            if expected == StatusCode::NOT_MODIFIED {
                assert_eq!(again.header(ETAG), Some(tag));
            }
        }
        let writer = maria.clone().with_header(IF_MATCH, short);
        writer.put(&path, &json!({"title": "Longer"})).await.expect(StatusCode::NO_CONTENT);
        writer.put(&path, &json!({"title": "Longest"})).await.expect(StatusCode::PRECONDITION_FAILED);
    }

    async fn nothing_with_a_secret_is_compressed(database: Database) {
        let app = TestApp::start(database, &[("compression.data", "true")]).await;
        app.fill().await;
        let admin = app.user("admin").await;
        let feed = admin.post("/direct/feed", &json!({"path": "/announcement/site/biology-101"})).await;
        let feed = feed.expect(StatusCode::CREATED).json();
        let address = feed["addresses"]["atom"].as_str().expect("an address");
        let (_, address) = address.split_once("/feeds/").expect("its path");
        let address = format!("/feeds/{address}");
        for path in ["/direct/site.html", "/direct/session/current.json", address.as_str(), "/portal", "/direct/announcement/new.html"] {
            let answer = admin.clone().with_header(ACCEPT_ENCODING, "gzip").get(path).await;
            assert_eq!(answer.expect(StatusCode::OK).header(CONTENT_ENCODING), None, "{path}");
        }
    }

    async fn nothing_is_compressed_unless_that_is_wanted(database: Database) {
        let app = TestApp::start(database, &[]).await;
        app.fill().await;
        let taker = app.user("admin").await.with_header(ACCEPT_ENCODING, "gzip");
        for path in DATA {
            let answer = taker.get(path).await;
            assert_eq!(answer.expect(StatusCode::OK).header(CONTENT_ENCODING), None, "{path}");
        }
    }
}
