//! Making many people members of a site at once.

use entity_core::Caller;
use http::{Method, StatusCode};
use lectern_testing::counting::Counter;
use serde_json::json;
use tests::{Answer, Client, TestApp, both};

use super::{FORM, id_of, list, text};

const PATH: &str = "/direct/membership/site/field-trip";
const BY_JSON: &str = "/direct/membership/sitebyjson/field-trip";

/// Returns the headers that count the results.
fn told(answer: &Answer) -> [Option<&str>; 3] {
    [
        "x-success-count",
        "x-warning-not-found",
        "x-warning-already-members",
    ]
    .map(|it| answer.header(it))
}

async fn role_of(client: &Client, eid: &str) -> Option<String> {
    let members = list(client, PATH, "membership").await;
    members
        .iter()
        .find(|it| it["userEid"] == eid)
        .map(|it| text(it, "memberRole"))
}

both! {
    async fn people_are_found_by_id_external_id_or_address(app: TestApp) {
        let admin = app.user("admin").await;
        let tenth = id_of(&app.user("student10").await).await;
        let form = format!(
            "userSearchValues=STUDENT9&userSearchValues={tenth}&userSearchValues=student11%40example.edu\
             &userSearchValues=nobody,student1&userSearchValues=a%C3%A9&memberRole=maintain&notificationMessage=Hi"
        );
        let answer = admin.post_form(&format!("{PATH}.json"), &form).await;
        answer.expect(StatusCode::OK);
        assert_eq!(told(&answer), [Some("3"), Some("nobody,a%C3%A9"), Some("student1")]);
        assert_eq!(answer.json()["membership_collection"].as_array().map(Vec::len), Some(9));
        for eid in ["student9", "student10", "student11"] {
            assert_eq!(role_of(&admin, eid).await.as_deref(), Some("maintain"), "{eid}");
        }
        assert_eq!(role_of(&admin, "student1").await.as_deref(), Some("access"));
    }

    async fn without_a_role_people_are_what_those_are_who_join(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let body = json!({"userSearchValues": ["student9", "student9"]});
        let answer = teacher.post(PATH, &body).await;
        answer.expect(StatusCode::OK);
        assert_eq!(told(&answer), [Some("1"), None, None]);
        assert_eq!(role_of(&app.user("admin").await, "student9").await.as_deref(), Some("access"));
    }

    async fn each_gets_a_role_of_their_own_by_json(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let people = json!([
            {"id": "student9", "role": "access"}, {"id": "student10", "role": "maintain"},
            {"id": "student1", "role": "maintain"}, {"id": "nobody"}
        ]);
        let form = format!("json={}", entity_core::encode_segment(&people.to_string()).replace('&', "%26"));
        let answer = teacher.post_form(BY_JSON, &form).await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.json(), "");
        assert_eq!(told(&answer), [Some("2"), Some("nobody"), Some("student1")]);
        let admin = app.user("admin").await;
        assert_eq!(role_of(&admin, "student10").await.as_deref(), Some("maintain"));
        assert_eq!(role_of(&admin, "student1").await.as_deref(), Some("access"));
        let again = teacher.post(BY_JSON, &json!({ "json": people })).await;
        assert_eq!(told(&again)[0], Some("0"));
    }

    async fn adding_somebody_by_name_takes_the_same_however_many_members_there_are(app: TestApp) {
        let counter = Counter::of(app.service());
        let caller = Caller::user(id_of(&app.user("instructor1").await).await, "instructor1");
        let fields = |sent: serde_json::Value| sent.as_object().cloned().expect("fields");
        let named = |name: &str| fields(json!({"userSearchValues": name, "memberRole": "access"}));
        let path = "/membership/site/field-trip";
        let nobody = counter.post(&caller, path, named("nobody")).await.expect("an answer");
        let one = counter.post(&caller, path, named("student9")).await.expect("an answer");
        let all = (1..=20).map(|it| format!("student{it}")).collect::<Vec<_>>();
        let many = counter.post(&caller, path, named(&all.join(","))).await.expect("an answer");
        let again = counter.post(&caller, path, named("nobody")).await.expect("an answer");
        assert!(again.shown > nobody.shown + 10, "{again:?}");
        assert_eq!((nobody.statements, one.statements), (again.statements, many.statements));
        let place = json!({"userEid": "instructor2", "locationReference": "/site/field-trip", "memberRole": "access"});
        let created = counter.post(&caller, "/membership", fields(place)).await.expect("an answer");
        assert!(one.statements <= created.statements + 4, "{one:?}, and {created:?}");
    }

    async fn a_long_list_is_read_to_its_end(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let people: Vec<_> = (0..199).map(|it| json!({"id": format!("nobody-by-the-name-of-{it}")})).collect();
        let mut people = json!(people);
        people.as_array_mut().expect("a list").push(json!({"id": "student9"}));
        let form = format!("json={}", entity_core::encode_segment(&people.to_string()));
        let answer = teacher.post_form(BY_JSON, &form).await;
        answer.expect(StatusCode::OK);
        let [added, unknown, _] = told(&answer);
        assert_eq!(added, Some("1"));
        assert!(unknown.is_some_and(|it| it.starts_with("nobody-by-the-name-of-0,") && it.ends_with(",...")));
    }

    async fn one_wrong_role_keeps_everybody_out(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let people = json!({"json": [{"id": "student9", "role": "access"}, {"id": "student10", "role": "king"}]});
        teacher.post(BY_JSON, &people).await.expect(StatusCode::BAD_REQUEST);
        for body in [
            json!({}),
            json!({"userSearchValues": "student9", "memberRole": "king"}),
            json!({"userSearchValues": [5]}),
            json!({"userSearchValues": "a\u{0}b"}),
            json!({"userSearchValues": (0..300).map(|it| it.to_string()).collect::<Vec<_>>()}),
        ] {
            teacher.post(PATH, &body).await.expect(StatusCode::BAD_REQUEST);
        }
        for body in [json!({}), json!({"json": "no"}), json!({"json": {"id": "x"}}), json!({"json": [{"role": "access"}]})] {
            teacher.post(BY_JSON, &body).await.expect(StatusCode::BAD_REQUEST);
        }
        assert_eq!(list(&teacher, PATH, "membership").await.len(), 6);
    }

    async fn a_rehearsal_and_a_repetition_tell_the_same(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let prefer = http::HeaderName::from_static("prefer");
        let form = "userSearchValues=student9,nobody";
        let dry = teacher.clone().with_header(prefer, "tx=rollback").post_form(PATH, form).await;
        assert_eq!(told(&dry), [Some("1"), Some("nobody"), None]);
        let key = http::HeaderName::from_static("idempotency-key");
        let keyed = teacher.with_header(key, "once");
        for _ in 0..2 {
            let answer = keyed.send(Method::POST, PATH, FORM, form.into()).await;
            assert_eq!(told(&answer), [Some("1"), Some("nobody"), None]);
        }
    }
}
