//! Filling the disk with what counts as one's own: an account and a site have no more than they may have.

use futures::future::join_all;
use http::StatusCode;
use serde_json::{Value, json};
use tests::rows::{databases, texts};
use tests::{Answer, Backend, Client, OnBackend, TestApp, both};

use crate::usage::{POLLS, assert_exact, counted, polls};

const BATCH: &str = "/direct/batch.json";
const NEWS: &str = "/direct/announcement.json";
/// The number of entities of a new site: the site, and its maker as its member.
const SITE: i64 = 2;

fn news(site: &str, body: &str) -> Value {
    json!({"siteId": site, "title": "Fill", "body": body})
}

fn batch(site: &str, number: usize, is_atomic: bool) -> Value {
    let operation =
        json!({"method": "POST", "path": "announcement", "body": news(site, "<p>x</p>")});
    json!({"atomic": is_atomic, "operations": vec![operation; number]})
}

async fn new_site(client: &Client, id: &str) {
    let draft = json!({"id": id, "title": "Mine", "type": "project"});
    client
        .post("/direct/site.json", &draft)
        .await
        .expect(StatusCode::CREATED);
}

/// Returns the number of announcements there are in `site`, asked of the database.
async fn number(app: &TestApp, site: &str) -> i64 {
    let sql =
        format!("SELECT CAST(count(*) AS TEXT) AS line FROM announcement WHERE site_id = '{site}'");
    let found = texts(&databases(app).await[0], &sql).await;
    found[0].parse().expect("a number")
}

async fn ids(app: &TestApp, site: &str) -> Vec<String> {
    let sql = format!("SELECT id AS line FROM announcement WHERE site_id = '{site}' ORDER BY id");
    texts(&databases(app).await[0], &sql).await
}

#[track_caller]
fn assert_refused(answer: &Answer, setting: &str) {
    answer.expect(StatusCode::FORBIDDEN);
    let error = &answer.json()["error"];
    assert_eq!(error["code"], "quota_exceeded", "{error}");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains(&format!("`{setting}`")), "{message}");
    assert!(message.contains("delete something first"), "{message}");
}

async fn limited(backend: Backend, settings: &[(&str, &str)]) -> Option<TestApp> {
    TestApp::with_settings(backend, settings).await
}

/// A service in which an account has room for little text.
struct Terse(TestApp);

impl OnBackend for Terse {
    async fn on_backend(backend: Backend) -> Option<Self> {
        limited(backend, &[("quota.accountBytes", "1MiB")])
            .await
            .map(Self)
    }
}

both! {
    async fn y67_who_makes_what_belongs_to_nobody_pays_for_it(app: Terse) {
        let app = app.0;
        let teacher = app.user("instructor1").await;
        let text = "x".repeat(90_000);
        let (mut made, mut refused) = (Vec::new(), None);
        for number in 0..20 {
            let quiz = json!({"ownerSiteId": "biology-101", "title": format!("Quiz {number}"), "description": text});
            let answer = teacher.post("/direct/sam_pub.json", &quiz).await;
            if answer.status != StatusCode::CREATED {
                refused = Some(answer);
                break;
            }
            made.push(answer.json()["entityId"].as_str().expect("an id").to_owned());
        }
        assert!(made.len() >= 5, "{} {:?}", made.len(), refused.as_ref().map(Answer::text));
        let refused = refused.expect("a refusal");
        assert_refused(&refused, "quota.accountBytes");
        // It counts no more when it is gone.
        assert_eq!(entity_providers::storage::db::miscounted(&app.service().storage.content).await.expect("counts"), 0);
        for id in &made {
            teacher.delete(&format!("/direct/sam_pub/{id}")).await.expect(StatusCode::NO_CONTENT);
        }
        let quiz = json!({"ownerSiteId": "biology-101", "title": "Quiz", "description": text});
        teacher.post("/direct/sam_pub", &quiz).await.expect(StatusCode::CREATED);
        assert_eq!(entity_providers::storage::db::miscounted(&app.service().storage.content).await.expect("counts"), 0);
    }
}

both! {
    async fn a_site_is_filled_no_further_than_its_quota(kind: Storage) {
        let Some(app) = limited(kind.0, &[("quota.siteEntities", "400")]).await else { return };
        let attacker = app.user("student1").await;
        new_site(&attacker, "mine").await;
        let mut refused = 0;
        for _ in 0..20 {
            let told = attacker.post(BATCH, &batch("mine", 50, false)).await.json();
            let results = told["results"].as_array().expect("results").iter();
            let (made, rest): (Vec<_>, Vec<_>) = results.partition(|it| it["status"] == 201);
            assert!(rest.iter().all(|it| it["status"] == 403), "{told}");
            assert_eq!(made.len() + rest.len(), 50, "one that is refused keeps no other from being done");
            refused += rest.len();
        }
        let made = number(&app, "mine").await;
        assert_eq!((made, refused), (400 - SITE, 602));
        assert_refused(&attacker.post(NEWS, &news("mine", "")).await, "quota.siteEntities");

        // Deleting makes room, for as many as were deleted; an atomic batch fails as a whole.
        let all = ids(&app, "mine").await;
        for id in &all[..3] {
            attacker.delete(&format!("/direct/announcement/{id}")).await.expect(StatusCode::NO_CONTENT);
        }
        let whole = attacker.post(BATCH, &batch("mine", 4, true)).await;
        assert_refused(&whole, "quota.siteEntities");
        assert_eq!(whole.json()["error"]["operation"], 3);
        assert_eq!(number(&app, "mine").await, made - 3);
        attacker.post(BATCH, &batch("mine", 3, true)).await.expect(StatusCode::OK);
        assert_refused(&attacker.post(NEWS, &news("mine", "")).await, "quota.siteEntities");
        // So does a batch that deletes before it adds.
        let gone = json!({"method": "DELETE", "path": format!("announcement/{}", all[5])});
        let mut swap = batch("mine", 1, true);
        swap["operations"].as_array_mut().expect("operations").insert(0, gone);
        attacker.post(BATCH, &swap).await.expect(StatusCode::OK);

        // What takes no more is never refused, nor what is done elsewhere.
        let title = json!({"title": "Other"});
        attacker.put(&format!("/direct/announcement/{}", all[6]), &title).await.expect(StatusCode::NO_CONTENT);
        new_site(&attacker, "another").await;
        attacker.post(NEWS, &news("another", "")).await.expect(StatusCode::CREATED);

        // Administrators have no limits, and what they make counts for the others.
        let admin = app.user("admin").await;
        admin.post(NEWS, &news("mine", "")).await.expect(StatusCode::CREATED);
        assert_refused(&attacker.post(NEWS, &news("mine", "")).await, "quota.siteEntities");
        attacker.delete(&format!("/direct/announcement/{}", all[7])).await.expect(StatusCode::NO_CONTENT);
        assert_refused(&attacker.post(NEWS, &news("mine", "")).await, "quota.siteEntities");
        let metrics = app.service().figures.to_text();
        assert!(metrics.contains("\nlectern_quota_refusals 607\n"), "{metrics}");
        assert_exact(&app, &[]).await;
    }

    async fn an_account_writes_no_more_than_its_quota_in_all_its_sites(kind: Storage) {
        let Some(app) = limited(kind.0, &[("quota.accountBytes", "1MiB")]).await else { return };
        let attacker = app.user("student1").await;
        let body = "x".repeat(60_000);
        let mut made = 0;
        for site in ["one", "two", "three"] {
            new_site(&attacker, site).await;
            for _ in 0..15 {
                let answer = attacker.post(NEWS, &news(site, &body)).await;
                match answer.status {
                    StatusCode::CREATED => made += 1,
                    _ => assert_refused(&answer, "quota.accountBytes"),
                }
            }
        }
        assert_eq!(made, 17);
        let user = attacker.get("/direct/user/current.json").await.json();
        let key = ("account".to_owned(), user["id"].as_str().expect("an id").to_owned());
        let bytes = counted(&app).await[&key].1;
        assert!((17 * 60_000..1 << 20).contains(&bytes), "{bytes}");

        // What grows is refused, what shrinks is not.
        let path = format!("/direct/announcement/{}", ids(&app, "one").await[0]);
        let longer = "x".repeat(120_000);
        assert_refused(&attacker.put(&path, &json!({"body": longer})).await, "quota.accountBytes");
        let (_, unchanged) = counted(&app).await[&key];
        assert_eq!(unchanged, bytes);
        attacker.put(&path, &json!({"body": "short"})).await.expect(StatusCode::NO_CONTENT);
        attacker.post(NEWS, &news("three", &body)).await.expect(StatusCode::CREATED);
        // Others have their own, and a site that is deleted frees what was in it.
        app.user("instructor1").await.post(NEWS, &news("biology-101", &body)).await.expect(StatusCode::CREATED);
        attacker.delete("/direct/site/one").await.expect(StatusCode::NO_CONTENT);
        for _ in 0..14 {
            attacker.post(NEWS, &news("two", &body)).await.expect(StatusCode::CREATED);
        }
        assert_exact(&app, &[]).await;
    }

    async fn requests_at_once_do_not_pass_a_limit_together(kind: Storage) {
        let Some(app) = limited(kind.0, &[("quota.siteEntities", "12")]).await else { return };
        let attacker = app.user("student1").await;
        new_site(&attacker, "mine").await;
        let draft = news("mine", "<p>x</p>");
        let answers = join_all((0..40).map(|_| attacker.post(NEWS, &draft))).await;
        let made = answers.iter().filter(|it| it.status == StatusCode::CREATED).count();
        for answer in answers.iter().filter(|it| it.status != StatusCode::CREATED) {
            assert_refused(answer, "quota.siteEntities");
        }
        assert_eq!(made, 10);
        assert_eq!(number(&app, "mine").await, 10);
        assert_exact(&app, &[]).await;
    }

    async fn a_quota_of_0_is_none(kind: Storage) {
        let none = ["quota.accountEntities", "quota.accountBytes", "quota.siteEntities", "quota.siteBytes"];
        let Some(app) = limited(kind.0, &none.map(|it| (it, "0"))).await else { return };
        let user = app.user("student1").await;
        new_site(&user, "mine").await;
        user.post(BATCH, &batch("mine", 50, true)).await.expect(StatusCode::OK);
        assert_exact(&app, &[]).await;
    }

    async fn a_type_that_says_nothing_of_quotas_has_them(kind: Storage) {
        let settings = [("quota.siteEntities", "30")];
        let Some(app) = TestApp::with_type_and_settings(kind.0, polls(), &settings).await else { return };
        let user = app.user("student1").await;
        let site = json!({"id": "mine", "title": "Mine", "type": "project"});
        user.post("/direct/site.json", &site).await.expect(StatusCode::CREATED);
        let draft = json!({"siteId": "mine", "question": "Why?", "points": 3});
        let mut made = 0;
        for _ in 0..40 {
            let answer = user.post("/direct/usage-poll.json", &draft).await;
            if answer.status == StatusCode::CREATED {
                made += 1;
            } else {
                assert_refused(&answer, "quota.siteEntities");
            }
        }
        assert_eq!(made, 28);
        assert_exact(&app, &[POLLS]).await;
    }
}

/// A kind of storage, for tests that start the service with settings of their own.
struct Storage(Backend);

impl OnBackend for Storage {
    async fn on_backend(backend: Backend) -> Option<Self> {
        Some(Self(backend))
    }
}
