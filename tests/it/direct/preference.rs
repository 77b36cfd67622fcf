//! `/direct/preference`

use http::StatusCode;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{list, read};

const PATH: &str = "/direct/preference/me";
const SITE: &str = "biology-101";

async fn own(client: &Client) -> Value {
    read(client, &format!("{PATH}.json")).await
}

async fn favorites(client: &Client) -> Value {
    read(client, "/portal/favorites/list").await["favoriteSiteIds"].clone()
}

/// The titles of the notifications that are listed, which all ways to ask agree about.
async fn told(client: &Client) -> Vec<String> {
    let by_api = read(client, "/api/users/me/notifications").await;
    let titles = |list: &[Value]| -> Vec<String> {
        list.iter()
            .map(|it| it["title"].as_str().expect("a title").to_owned())
            .collect()
    };
    let by_api = titles(by_api.as_array().expect("a list"));
    let direct = list(client, "/direct/notification.json", "notification").await;
    assert_eq!(titles(&direct), by_api);
    by_api
}

async fn announce(client: &Client, site: &str, title: &str) {
    let body = json!({"siteId": site, "title": title, "body": "<p>x</p>"});
    client
        .post("/direct/announcement", &body)
        .await
        .expect(StatusCode::CREATED);
}

both! {
    async fn wrong_preferences_are_refused_by_name(app: TestApp) {
        let student = app.user("student1").await;
        let kinds = read(&student, "/direct/preference/kinds.json").await;
        assert!(kinds.to_string().contains("\"annc.new\""), "{kinds}");
        let before = own(&student).await;
        for (body, field) in [
            (json!({"timeZone": "Berlin"}), "timeZone"),
            (json!({"timeZone": "+01:00"}), "timeZone"),
            (json!({"timeZone": "../etc/passwd"}), "timeZone"),
            (json!({"language": "german"}), "language"),
            (json!({"language": "de_DE"}), "language"),
            (json!({"language": "<b>"}), "language"),
            (json!({"mutedKinds": ["nothing.new"]}), "mutedKinds"),
            (json!({"mutedKinds": ["annc.new\nx"]}), "mutedKinds"),
            (json!({"mutedKinds": "annc.new"}), "mutedKinds"),
            (json!({"mutedSiteIds": ["history-210"]}), "mutedSiteIds"),
            (json!({"mutedSiteIds": vec!["x"; 201]}), "mutedSiteIds"),
            (json!({"pinnedSiteIds": ["history-210"]}), "pinnedSiteIds"),
            (json!({"pinnedSiteIds": ["nowhere"]}), "pinnedSiteIds"),
            (json!({"pinnedSiteIds": [""]}), "pinnedSiteIds"),
            (json!({"pinnedSiteIds": [7]}), "pinnedSiteIds"),
            (json!({"theme": "dark"}), "theme"),
        ] {
            let refused = student.put(PATH, &body).await;
            assert!(refused.expect(StatusCode::BAD_REQUEST).text().contains(field), "{body}: {}", refused.text());
        }
        assert_eq!(own(&student).await, before);
    }

    async fn pinned_sites_are_the_same_everywhere_and_in_order(app: TestApp) {
        let student = app.user("student1").await;
        assert_eq!(own(&student).await["pinnedSiteIds"], favorites(&student).await);
        for order in [json!(["field-trip", SITE]), json!([SITE, "field-trip"]), json!(["field-trip"]), json!([])] {
            student.put(PATH, &json!({"pinnedSiteIds": order})).await.expect(StatusCode::NO_CONTENT);
            assert_eq!(own(&student).await["pinnedSiteIds"], order);
            assert_eq!(favorites(&student).await, order);
            let sites = read(&student, "/api/users/me/sites?pinned=true").await;
            assert_eq!(sites["sites"].as_array().map(Vec::len), order.as_array().map(Vec::len), "{sites}");
        }
        student.put(PATH, &json!({"pinnedSiteIds": ["field-trip", SITE]})).await.expect(StatusCode::NO_CONTENT);
        let home = student.get("/portal").await;
        let place = |site: &str| home.text().find(&format!("/portal/site/{site}\"")).expect("a link");
        assert!(place("field-trip") < place(SITE));
        // Others keep theirs.
        assert_eq!(favorites(&app.user("student2").await).await.as_array().map(Vec::len), Some(2));
    }

    async fn what_is_muted_is_not_listed(app: TestApp) {
        let (author, student, other) = (app.user("instructor1").await, app.user("student1").await, app.user("student2").await);
        announce(&author, SITE, "In biology").await;
        announce(&author, "field-trip", "On the trip").await;
        app.service().catch_up().await.expect("it follows");
        let has = |titles: &[String], title: &str| titles.iter().any(|it| it == title);
        let all = told(&student).await;
        assert!(has(&all, "In biology") && has(&all, "On the trip"), "{all:?}");
        let listed = list(&student, "/direct/notification.json", "notification").await;
        let of = |title: &str| {
            let found = listed.iter().find(|it| it["title"] == title).expect("told");
            found["notificationId"].as_str().expect("an id").to_owned()
        };
        let (of_site, of_trip) = (of("In biology"), of("On the trip"));
        let set = async |body: Value| student.put(PATH, &body).await.expect(StatusCode::NO_CONTENT).status;

        set(json!({"mutedSiteIds": [SITE]})).await;
        let left = told(&student).await;
        assert!(!has(&left, "In biology") && has(&left, "On the trip"), "{left:?}");
        student.get(&format!("/direct/notification/{of_site}.json")).await.expect(StatusCode::NOT_FOUND);
        student.get(&format!("/direct/notification/{of_trip}.json")).await.expect(StatusCode::OK);
        set(json!({"mutedSiteIds": [], "mutedKinds": ["annc.new"]})).await;
        assert_eq!(list(&student, "/direct/notification.json?event=annc.new", "notification").await, Vec::<Value>::new());
        assert!(!has(&told(&student).await, "On the trip"));
        let count = student.get("/direct/notification.json?_count=exact").await;
        assert_eq!(count.header("x-total-count"), Some(told(&student).await.len().to_string().as_str()));
        // Nobody else is concerned, and what is heard again comes back.
        assert!(has(&told(&other).await, "On the trip"));
        let kinds = read(&student, "/direct/preference/kinds.json").await;
        let kinds = kinds.as_array().or_else(|| kinds["preference"].as_array()).expect("kinds").clone();
        let others: Vec<Value> = kinds.into_iter().filter(|it| it != "annc.new").collect();
        set(json!({"mutedKinds": others})).await;
        assert!(has(&told(&student).await, "On the trip"));
        set(json!({"mutedKinds": []})).await;
        assert_eq!(told(&student).await, all);
    }

    async fn preferences_go_with_the_account_and_marks_with_the_site(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let body = json!({"language": "de", "mutedSiteIds": [SITE], "pinnedSiteIds": [SITE, "field-trip"]});
        student.put(PATH, &body).await.expect(StatusCode::NO_CONTENT);
        admin.delete(&format!("/direct/site/{SITE}")).await.expect(StatusCode::NO_CONTENT);
        let left = own(&student).await;
        assert_eq!((&left["mutedSiteIds"], &left["pinnedSiteIds"]), (&json!([]), &json!(["field-trip"])));
        let id = left["userId"].as_str().expect("an id");
        admin.delete(&format!("/direct/user/{id}")).await.expect(StatusCode::NO_CONTENT);
        let writer = &app.service().storage.content.writer;
        let rows = writer.execute_unprepared(&format!("DELETE FROM preference WHERE user_id = '{id}'")).await;
        assert_eq!(rows.expect("a statement").rows_affected(), 0);
    }
}
