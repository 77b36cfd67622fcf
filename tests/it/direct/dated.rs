//! Lists that clients know by their date alone: a change that leaves every entry as it was moves it too.

use chrono::TimeDelta;
use http::StatusCode;
use http::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use serde_json::json;
use tests::{Client, TestApp, both};

use super::{created, id_of, list, text};

const FORMATS: [&str; 3] = ["atom", "rss", "json"];
const NEWS: &str = "/direct/announcement";
const OF_SITE: &str = "/direct/announcement/site/biology-101";

/// A list that a client has, with the date that was told for it.
struct Known {
    client: Client,
    path: String,
    date: String,
}

impl Known {
    /// The list at `path`, read at the beginning of a second of its own.
    async fn read(app: &TestApp, client: &Client, path: String) -> Self {
        app.advance(TimeDelta::seconds(1));
        let answer = client.get(&path).await;
        let date = answer.expect(StatusCode::OK).header(LAST_MODIFIED);
        let date = date.unwrap_or_else(|| panic!("{path} has no date"));
        Self {
            client: client.clone(),
            path,
            date: date.to_owned(),
        }
    }

    async fn ask(&self) -> StatusCode {
        let client = self.client.clone();
        let dated = client.with_header(IF_MODIFIED_SINCE, &self.date);
        dated.get(&self.path).await.status
    }
}

/// The lists at `path` in each format.
async fn in_formats(app: &TestApp, client: &Client, path: &str) -> Vec<Known> {
    let mut lists = Vec::new();
    for format in FORMATS {
        lists.push(Known::read(app, client, format!("{path}.{format}")).await);
    }
    lists
}

/// Asserts that the lists are known by their dates until `change` is done, and not then.
async fn assert_moved(app: &TestApp, lists: &[Known], change: impl Future<Output = ()>) {
    app.advance(TimeDelta::minutes(1));
    for known in lists {
        assert_eq!(
            known.ask().await,
            StatusCode::NOT_MODIFIED,
            "{}",
            known.path
        );
    }
    change.await;
    for known in lists {
        assert_eq!(known.ask().await, StatusCode::OK, "{}", known.path);
        // Not the second time either, and after the second is over in which it changed.
        app.advance(TimeDelta::seconds(2));
        assert_eq!(known.ask().await, StatusCode::OK, "{}", known.path);
    }
}

async fn announce(teacher: &Client, fields: serde_json::Value) -> String {
    let id = created(&teacher.post(NEWS, &fields).await, "announcement");
    format!("{NEWS}/{id}")
}

both! {
    async fn the_deletion_of_an_older_entry_moves_the_date(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let old = announce(&teacher, json!({"siteId": "biology-101", "title": "Old"})).await;
        app.advance(TimeDelta::minutes(1));
        announce(&teacher, json!({"siteId": "biology-101", "title": "New"})).await;
        let lists = in_formats(&app, &student, OF_SITE).await;
        assert_moved(&app, &lists, async {
            teacher.delete(&old).await.expect(StatusCode::NO_CONTENT);
        })
        .await;
    }

    async fn a_release_and_a_retraction_move_the_date(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let now = app.service().now();
        let at = |minutes| (now + TimeDelta::minutes(minutes)).timestamp_millis();
        let fields = json!({"siteId": "biology-101", "title": "Later", "releaseDate": at(20), "retractDate": at(40)});
        announce(&teacher, fields).await;
        for _ in ["release", "retraction"] {
            let lists = in_formats(&app, &student, OF_SITE).await;
            assert_moved(&app, &lists, async { app.advance(TimeDelta::minutes(20)) }).await;
        }
    }

    async fn a_site_that_is_left_moves_the_dates(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let user = id_of(&student).await;
        let members = list(&teacher, "/direct/membership/site/biology-101.json", "membership").await;
        let own = members.iter().find(|it| it["userId"] == *user).expect("a member");
        let membership = format!("/direct/membership/{}", text(own, "entityId"));
        let lists = in_formats(&app, &student, "/direct/announcement/user").await;
        assert_moved(&app, &lists, async {
            teacher.delete(&membership).await.expect(StatusCode::NO_CONTENT);
        })
        .await;
    }

    async fn a_private_feed_moves_its_date_too(app: TestApp) {
        let (owner, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let old = announce(&teacher, json!({"siteId": "biology-101", "title": "Old"})).await;
        let made = owner.post("/direct/feed", &json!({"path": "/announcement/site/biology-101"})).await;
        let made = made.expect(StatusCode::CREATED).json();
        let stranger = app.anonymous();
        let mut lists = Vec::new();
        for format in ["atom", "rss"] {
            let address = text(&made["addresses"], format);
            let path = address.strip_prefix("http://127.0.0.1:8080").expect("our own");
            lists.push(Known::read(&app, &stranger, path.to_owned()).await);
        }
        assert_moved(&app, &lists, async {
            teacher.delete(&old).await.expect(StatusCode::NO_CONTENT);
        })
        .await;
    }

    async fn a_list_that_changed_within_a_second_has_no_date_until_it_is_over(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        for format in FORMATS {
            let known = Known::read(&app, &student, format!("{OF_SITE}.{format}")).await;
            announce(&teacher, json!({"siteId": "biology-101", "title": format})).await;
            let dated = student.clone().with_header(IF_MODIFIED_SINCE, &known.date);
            let answer = dated.get(&known.path).await;
            assert_eq!(answer.expect(StatusCode::OK).header(LAST_MODIFIED), None);
            app.advance(TimeDelta::seconds(1));
            let answer = dated.get(&known.path).await;
            let date = answer.expect(StatusCode::OK).header(LAST_MODIFIED).expect("a date");
            assert_ne!(date, known.date);
            let again = student.clone().with_header(IF_MODIFIED_SINCE, date).get(&known.path).await;
            again.expect(StatusCode::NOT_MODIFIED);
        }
    }

    async fn readers_of_the_same_address_have_dates_of_their_own(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let path = format!("{OF_SITE}.atom");
        let known = Known::read(&app, &student, path.clone()).await;
        let theirs = Known::read(&app, &teacher, path).await;
        for _ in 0..2 {
            assert_eq!(known.ask().await, StatusCode::NOT_MODIFIED);
            assert_eq!(theirs.ask().await, StatusCode::NOT_MODIFIED);
            app.advance(TimeDelta::minutes(1));
        }
    }

    async fn a_tag_alone_decides_where_both_are_sent(app: TestApp) {
        let student = app.user("student1").await;
        let known = Known::read(&app, &student, format!("{OF_SITE}.atom")).await;
        let both = student.clone().with_header(IF_MODIFIED_SINCE, &known.date);
        both.with_header(IF_NONE_MATCH, "\"other\"").get(&known.path).await.expect(StatusCode::OK);
    }

    async fn an_entry_is_news_as_of_its_release(app: TestApp) {
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let release = app.service().now() + TimeDelta::minutes(10);
        let fields = json!({"siteId": "biology-101", "title": "Later", "releaseDate": release.timestamp_millis()});
        announce(&teacher, fields).await;
        app.advance(TimeDelta::minutes(20));
        let answer = student.get(&format!("{OF_SITE}.atom")).await;
        let feed = feed_rs::parser::parse(&*answer.body).expect("a feed");
        let entry = feed.entries.iter().find(|it| it.title.as_ref().is_some_and(|it| it.content == "Later"));
        let entry = entry.expect("what came out");
        assert_eq!((entry.updated, entry.published), (Some(release), Some(release)));
        assert!(feed.updated >= entry.updated);
    }
}
