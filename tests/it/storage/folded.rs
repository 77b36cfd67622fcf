//! The text that is searched is stored folded, whoever writes it, and the plans of statements under the writer's lock.

use entity_core::Entity;
use entity_core::primitives::plain_text;
use entity_core::schema::Schema;
use entity_providers::courses::announcement::Announcement;
use entity_providers::people::site::Site;
use entity_providers::people::user::User;
use http::StatusCode;
use sea_orm::{ConnectionTrait, Database as Connection, DatabaseConnection, DbBackend, Statement};
use serde_json::json;
use server::pages::feed::Feed;
use tests::{TestApp, both};

/// Every table that lists look into by `_search`, and the type behind it.
fn searched() -> [(&'static str, &'static Schema); 4] {
    [
        ("announcement", Announcement::schema()),
        ("site", Site::schema()),
        ("user_account", User::schema()),
        ("feed", Feed::schema()),
    ]
}

async fn all(connection: &DatabaseConnection, sql: &str) -> Vec<sea_orm::QueryResult> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    let rows = connection.query_all_raw(statement).await;
    rows.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Compares the stored folded texts with their sources, and returns the number of texts.
async fn compare(connection: &DatabaseConnection) -> usize {
    let mut texts = 0;
    for (table, schema) in searched() {
        for field in schema.fields {
            let (Some(column), Some(folded)) = (field.column, field.folded_column()) else {
                continue;
            };
            let sql = format!("SELECT {column} AS own, {folded} AS folded FROM {table}");
            for row in all(connection, &sql).await {
                let own: Option<String> = row.try_get("", "own").expect("text");
                let kept: Option<String> = row.try_get("", "folded").expect("text");
                assert_eq!(kept, own.map(|it| field.folded(&it)), "{table}.{column}");
                texts += 1;
            }
        }
    }
    texts
}

both! {
    async fn every_searched_text_is_stored_folded_too(app: TestApp) {
        let connection = Connection::connect(app.database().url()).await.expect("it connects");
        let before = compare(&connection).await;
        assert!(before > 100, "the demo has texts: {before}");
        let (admin, author) = (app.user("admin").await, app.user("instructor1").await);
        let news = json!({"siteId": "biology-101", "title": "ÜBUNG", "body": "<p>&Auml;RGER</p>"});
        let news = author.post("/direct/announcement.json", &news).await;
        news.expect(StatusCode::CREATED);
        let news = format!("/direct/announcement/{}", news.header("entityid").expect("an id"));
        let site = json!({"id": "folded", "title": "ΟΔΟΣ", "shortDescription": "ЁЛКА"});
        admin.post("/direct/site.json", &site).await.expect(StatusCode::CREATED);
        let user = json!({"eid": "folded", "firstName": "ÉVA", "lastName": "Ñ", "password": "lectern-demo-2"});
        let user = admin.post("/direct/user.json", &user).await;
        user.expect(StatusCode::CREATED);
        let user = format!("/direct/user/{}", user.header("entityid").expect("an id"));
        let feed = json!({"path": "/announcement/site/biology-101", "title": "FÜR MICH"});
        let feed = author.post("/direct/feed.json", &feed).await;
        feed.expect(StatusCode::CREATED);
        let feed = format!("/direct/feed/{}", feed.header("entityid").expect("an id"));
        assert_eq!(compare(&connection).await, before + 2 + 2 + 4 + 1);
        for (client, path, change) in [
            (&author, &*news, json!({"title": "ANDERE Ö", "body": "<p>Ø</p>"})),
            (&admin, "/direct/site/folded", json!({"title": "Ж", "shortDescription": null})),
            (&admin, &*user, json!({"firstName": "Ø", "email": "É@example.edu"})),
            (&author, &*feed, json!({"title": "ŁÓDŹ"})),
        ] {
            let answer = client.put(path, &change).await;
            assert!(answer.status.is_success(), "{path}: {}", answer.text());
        }
        compare(&connection).await;
        let found = author.get("/direct/announcement.json?title[like]=andere%20%C3%B6").await;
        assert_eq!(found.json()["announcement_collection"].as_array().map(Vec::len), Some(1), "{}", found.text());
    }

    async fn the_last_place_of_a_site_is_found_by_an_index(app: TestApp) {
        let connection = Connection::connect(app.database().url()).await.expect("it connects");
        let question = "SELECT max(position) AS last FROM announcement WHERE site_id = 'biology-101'";
        let plan = match connection.get_database_backend() {
            DbBackend::Postgres => {
                // With few rows PostgreSQL would rather read the table.
                let rows = "INSERT INTO announcement (id, site_id, channel, title, body, created_by, created, \
                    published, modified, is_draft, is_restricted, position, attachments, version) \
                    SELECT 'row-' || number, 'biology-101', 'main', 'x', 'x', 'nobody', 0, 0, 0, FALSE, FALSE, \
                    number, '[]', 1 FROM generate_series(1, 5000) AS numbers (number)";
                connection.execute_unprepared(rows).await.expect("rows");
                connection.execute_unprepared("ANALYZE announcement").await.expect("figures");
                all(&connection, &format!("EXPLAIN {question}")).await.iter()
                    .map(|it| it.try_get_by_index::<String>(0).expect("a line") + "\n").collect::<String>()
            }
            _ => all(&connection, &format!("EXPLAIN QUERY PLAN {question}")).await.iter()
                .map(|it| it.try_get::<String>("", "detail").expect("a line") + "\n").collect::<String>(),
        };
        let is_cheap = plan.contains("announcement_by_position") && !plan.contains("Seq Scan");
        assert!(is_cheap, "{plan}");
    }
}

#[test]
fn what_html_says_is_what_is_folded() {
    let body = Announcement::schema().field("body").expect("a field");
    assert_eq!(body.folded("<p>&Auml;RGER</p>"), "arger");
    assert_eq!(plain_text("<p>&Auml;RGER</p>"), "ÄRGER");
}
