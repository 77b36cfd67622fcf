//! Drawing people into a site of one's own, to read what the site tells about its members.

use chrono::TimeDelta;
use http::{HeaderName, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

const BATCH: &str = "/direct/batch.json";
const PREFER: HeaderName = HeaderName::from_static("prefer");
/// The facts about the victim that the attacker does not type and is not to learn.
const SECRETS: [&str; 3] = ["instructor2@example.edu", "Lindqvist", "Daniel"];

/// Makes a site of this type, adds the victim in every way there is, and reads what the site then tells.
fn attack(site: &str, kind: &str, victim: &str) -> Value {
    let role = if kind == "course" {
        "Student"
    } else {
        "access"
    };
    let roster = format!("membership/site/{site}");
    let by_name = format!("{roster}?userSearchValues={victim}");
    let by_json = format!("membership/sitebyjson/{site}");
    let member = json!({"userEid": victim, "locationReference": format!("/site/{site}"), "memberRole": role});
    json!([
        {"method": "POST", "path": "site", "body": {"id": site, "title": "Trap", "type": kind}},
        {"id": "made", "method": "POST", "path": "membership", "body": member},
        {"method": "POST", "path": by_name, "body": {"userSearchValues": victim}},
        {"method": "POST", "path": by_json, "body": {"json": [{"id": victim, "role": role}]}},
        {"method": "PUT", "path": format!("site/{site}/group"), "body": {"groupTitle": "All", "userIds": victim}},
        {"method": "GET", "path": format!("{roster}?_order=userSortName")},
        {"method": "GET", "path": format!("membership?siteId={site}&_expand=userId")},
        {"method": "GET", "path": format!("{roster}.csv")},
        {"method": "GET", "path": format!("site/{site}/memberships")},
        {"method": "GET", "path": format!("user/{victim}")},
    ])
}

async fn sites(client: &Client) -> String {
    client
        .get("/direct/site.json?select=update")
        .await
        .text()
        .to_owned()
}

both! {
    async fn nobody_reads_about_others_by_drawing_them_into_a_site(app: TestApp) {
        let victim = app.user("instructor2").await;
        let own = victim.get("/direct/membership.json").await.json();
        // The victim has logged in, and nobody else at that instant.
        let login = own["membership_collection"][0]["lastLoginTime"].as_i64().expect("an instant");
        app.advance(TimeDelta::seconds(1));
        let login = format!("\"lastLoginTime\":{login}");
        let secrets: Vec<&str> = SECRETS.into_iter().chain([login.as_str()]).collect();
        let attacker = app.user("student1").await;
        let mine = sites(&attacker).await;
        let mut learnt = Vec::new();
        for kind in ["course", "project"] {
            let all = attack("trap", kind, "instructor2");
            let operations = all.as_array().expect("operations");
            // An atomic batch tells everything only if all goes well: so each way to add somebody has one of its own.
            let (ways, reads) = (&operations[1..5], &operations[5..9]);
            for way in ways {
                let batch: Vec<_> = [&operations[0], way].into_iter().chain(reads).collect();
                let body = json!({"atomic": true, "operations": batch});
                let answer = attacker.clone().with_header(PREFER, "tx=rollback").post(BATCH, &body).await;
                let found = secrets.iter().filter(|it| answer.text().contains(**it));
                learnt.extend(found.map(|it| format!("{it} by {} in a {kind}", way["path"])));
            }
        }
        assert!(learnt.is_empty(), "the attacker learnt {learnt:?}");
        assert_eq!(sites(&attacker).await, mine, "a rehearsal leaves nothing");
        let own = victim.get("/direct/membership.json").await;
        assert!(!own.text().contains("trap"), "{}", own.text());
    }

    async fn what_an_attacker_is_answered_is_the_same_for_people_who_do_not_exist(app: TestApp) {
        let attacker = app.user("student1").await;
        let mut answers = Vec::new();
        // Somebody and nobody, each invited to a site of their own.
        for (site, victim) in [("trap-of-one", "instructor2"), ("trap-of-two", "instructor7")] {
            let body = json!({"atomic": false, "operations": attack(site, "project", victim)});
            let told = attacker.post(BATCH, &body).await.json();
            let results = told["results"].as_array().expect("results").iter();
            let facts = results.map(|it| {
                let data = if it["error"].is_null() { &it["data"] } else { &it["error"] };
                essence(&json!([it["status"], data]), &[site, victim])
            });
            answers.push(facts.collect::<Vec<_>>());
        }
        let nobody = answers.pop().expect("an answer");
        let somebody = answers.pop().expect("an answer");
        assert_eq!(nobody.len(), somebody.len());
        for (index, (somebody, nobody)) in somebody.iter().zip(&nobody).enumerate() {
            assert_eq!(somebody, nobody, "operation {index}");
            let is_done = [0, 1, 2, 3, 5].contains(&index);
            assert_eq!(somebody.starts_with("[20"), is_done || index > 5 && index < 9, "{index}: {somebody}");
        }
    }

    async fn a_person_is_no_member_before_they_say_so(app: TestApp) {
        let attacker = app.user("student1").await;
        let operations = attack("trap", "project", "instructor2");
        for operation in operations.as_array().expect("operations") {
            let path = format!("/direct/{}", operation["path"].as_str().expect("a path"));
            match operation["method"].as_str() {
                Some("POST") => drop(attacker.post(&path, &operation["body"]).await),
                _ => drop(attacker.get(&path).await),
            }
        }
        let roster = attacker.get("/direct/membership/site/trap.json").await;
        roster.expect(StatusCode::OK);
        let members = roster.json()["membership_collection"].as_array().map(Vec::len);
        assert_eq!(members, Some(1), "{}", roster.text());
        let own = app.user("instructor2").await.get("/direct/membership.json").await;
        assert!(!own.text().contains("trap"), "{}", own.text());
    }
}

/// `data` without ids that are made anew each time, and without what was typed.
fn essence(data: &Value, typed: &[&str]) -> String {
    let text = typed
        .iter()
        .fold(data.to_string(), |text, it| text.replace(it, "TYPED"));
    let is_made =
        |word: &str| word.len() == 36 && word.bytes().filter(|it| *it == b'-').count() == 4;
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let mut text = text.clone();
    for word in words.filter(|it| is_made(it)) {
        text = text.replace(word, "MADE");
    }
    text
}
