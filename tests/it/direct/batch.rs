//! `/direct/batch`: many requests in one.

use http::{HeaderName, Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{FORM, JSON, list, news, read};

const BATCH: &str = "/direct/batch.json";
const PREFER: HeaderName = HeaderName::from_static("prefer");

async fn operations(client: &Client, atomic: bool, operations: Value) -> tests::Answer {
    let body = json!({"atomic": atomic, "operations": operations});
    client.post(BATCH, &body).await
}

async fn titles(client: &Client) -> Vec<String> {
    let all = list(
        client,
        "/direct/announcement/site/biology-101.json",
        "announcement",
    )
    .await;
    let mut titles: Vec<_> = all.iter().map(|it| it["title"].to_string()).collect();
    titles.sort();
    titles
}

both! {
    async fn a_batch_carries_the_cookies_of_its_parts(app: TestApp) {
        let credentials = json!({"_username": "student2", "_password": tests::app::PASSWORD});
        let login = json!([{"method": "POST", "path": "session", "body": credentials}]);
        let by_references = format!("{BATCH}?_refs=session&_username=student2&_password={}", tests::app::PASSWORD);
        for is_operation in [true, false] {
            let student = app.user("student1").await;
            let answer = match is_operation {
                true => operations(&student, false, login.clone()).await,
                false => student.send(Method::POST, &by_references, FORM, "".into()).await,
            };
            answer.expect(StatusCode::OK);
            let cookies: Vec<_> = answer.headers.get_all("set-cookie").iter().collect();
            assert_eq!(cookies.len(), 1, "{cookies:?}");
            assert!(!answer.text().contains("JSESSIONID"), "{}", answer.text());
            let cookie = answer.header("set-cookie").and_then(|it| it.split(';').next()).expect("a cookie");
            let new = app.anonymous().with_header(http::header::COOKIE, cookie);
            assert_eq!(read(&new, "/direct/user/current.json").await["eid"], "student2");
            let handle = new.get("/api/user/roles").await.header("x-sakai-session").map(ToOwned::to_owned);
            assert_eq!(answer.header("x-sakai-session"), handle.as_deref());
            student.get("/api/user/roles").await.expect(StatusCode::UNAUTHORIZED);
        }
        let student = app.user("student1").await;
        let answer = student.delete(&format!("{BATCH}?_refs=session/current")).await;
        assert!(answer.header("set-cookie").is_some_and(|it| it.contains("Max-Age=0")));
    }

    async fn a_part_that_was_sent_nowhere_has_no_address(app: TestApp) {
        let student = app.user("student1").await;
        let parts = json!([
            {"id": "a", "method": "GET", "path": "announcement/none"},
            {"method": "GET", "path": "announcement/$a.entityId"},
            {"method": "GET", "path": "site/%zz"},
        ]);
        let answer = operations(&student, false, parts.clone()).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let results = answer.json()["results"].take();
        for result in results.as_array().expect("results") {
            match result.get("entityURL") {
                Some(url) => assert!(url.as_str().is_some_and(|it| it.contains("/direct/")), "{result}"),
                None => assert!(result["status"].as_u64() >= Some(400), "{result}"),
            }
        }
        assert_eq!(results[1].get("entityURL"), None);
        let xml = student.post("/direct/batch.xml", &json!({"operations": parts})).await;
        assert_eq!(xml.text().matches("<entityURL>").count(), 2);
    }

    async fn references_are_answered_by_their_places(app: TestApp) {
        let student = app.user("student1").await;
        let refs = "/direct/user/current,site/biology-101.xml,,announcement/none,/direct/user/current";
        let answer = student.get(&format!("{BATCH}?_refs={refs}")).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let json = answer.json();
        let keys: Vec<_> = json.as_object().into_iter().flatten().map(|it| it.0.as_str()).collect();
        assert_eq!(keys, ["ref0", "ref1", "ref3"]);
        assert_eq!(json["ref0"]["reference"], "/direct/user/current");
        assert_eq!(json["ref0"]["entityURL"], "http://127.0.0.1:8080/direct/user/current.json");
        assert_eq!(json["ref0"]["data"]["eid"], "student1");
        assert_eq!(json["ref0"]["content"], Value::Null);
        assert_eq!(json["ref1"]["status"], 200);
        assert_eq!(json["ref1"]["data"]["id"], "biology-101");
        assert_eq!(json["ref1"]["headers"]["content-type"], json!(["application/json"]));
        assert_eq!((&json["ref3"]["status"], &json["ref3"]["error"]), (&json!(404), &json!("there is nothing at this address")));
        let all: Vec<_> = answer.headers.get_all("batchstatus").iter().collect();
        assert_eq!(all, ["200", "200", "404"]);
        assert_eq!(answer.header("batcherrors"), Some("ref3"));
        assert_eq!(answer.header("batchmapping"), Some("ref0=/direct/user/current"));
    }

    async fn references_write_with_parameters_of_their_own(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let form = "siteId=biology-101&ref0.title=One&ref1.title=Two";
        let path = format!("{BATCH}?_refs=announcement,announcement/new");
        let answer = teacher.send(Method::POST, &path, FORM, form.into()).await;
        answer.expect(StatusCode::OK);
        let json = answer.json();
        assert_eq!((&json["ref0"]["status"], &json["ref1"]["status"]), (&json!(201), &json!(201)));
        let id = json["ref0"]["content"].as_str().expect("the id of what was made");
        assert_eq!(read(&teacher, &format!("/direct/announcement/{id}.json")).await["title"], "One");
        let other = json["ref1"]["content"].as_str().expect("an id");
        let refs = format!("announcement/{id},announcement/{other}");
        let answer = teacher.delete(&format!("{BATCH}?_refs={refs}")).await;
        answer.expect(StatusCode::OK);
        teacher.get(&format!("/direct/announcement/{id}.json")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn a_batch_of_references_has_an_xml_form(app: TestApp) {
        let student = app.user("student1").await;
        let answer = student.get("/direct/batch.xml?_refs=site/biology-101,announcement/none").await;
        answer.expect(StatusCode::MULTI_STATUS);
        let document = roxmltree::Document::parse(answer.text()).expect("XML");
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("size")), ("refs", Some("2")));
        let child = |name: &str| root.children().find(|it| it.has_tag_name(name)).expect("a result");
        let text = |node: roxmltree::Node<'_, '_>, name: &str| {
            node.descendants().find(|it| it.has_tag_name(name)).and_then(|it| it.text()).map(ToOwned::to_owned)
        };
        assert_eq!(text(child("ref0"), "status").as_deref(), Some("200"));
        let data = child("ref0").children().find(|it| it.has_tag_name("data")).expect("the entity");
        assert_eq!(text(data, "entityReference").as_deref(), Some("/site/biology-101"));
        assert_eq!(text(child("ref1"), "status").as_deref(), Some("404"));
        assert_eq!(text(child("ref1"), "error").as_deref(), Some("there is nothing at this address"));
    }

    async fn results_in_xml_tell_the_same_facts_as_in_json(app: TestApp) {
        let student = app.user("student1").await;
        let asked = json!({"operations": [
            {"method": "GET", "path": "announcement/none"},
            {"method": "POST", "path": "announcement", "body": news("Mine"), "id": "mine"},
            {"method": "GET", "path": "site?_limit=x"},
            {"method": "GET", "path": "announcement/$mine.entityId"},
        ]});
        let json = student.post(BATCH, &asked).await.json();
        let answer = student.post("/direct/batch.xml", &asked).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let document = roxmltree::Document::parse(answer.text()).expect("XML");
        let results: Vec<_> = document.root_element().children().filter(roxmltree::Node::is_element).collect();
        assert_eq!(results.len(), 4);
        for (index, result) in results.into_iter().enumerate() {
            for name in ["id", "status", "error"] {
                let told = result.children().find(|it| it.has_tag_name(name));
                let expected = match &json["results"][index][name] {
                    Value::Null => None,
                    Value::String(text) => Some(text.clone()),
                    other => Some(other.to_string()),
                };
                assert_eq!(told.and_then(|it| it.text()).map(ToOwned::to_owned), expected, "{index} {name}");
                assert_eq!(told.is_some(), expected.is_some(), "{index} {name}");
            }
        }
    }

    async fn an_operation_may_carry_a_form_or_xml(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (form, xml) = (json!({"Content-Type": FORM}), json!({"Content-Type": "application/xml"}));
        for atomic in [true, false] {
            let answer = operations(&teacher, atomic, json!([
                {"id": "a", "method": "POST", "path": "announcement", "body": "siteId=biology-101&title=By+form", "headers": form},
                {"id": "b", "method": "POST", "path": "announcement", "headers": xml,
                    "body": "<announcement><siteId>biology-101</siteId><title>By XML</title></announcement>"},
                {"method": "PUT", "path": "announcement/$b.entityId", "body": "title=$a.entityId", "headers": form},
                {"method": "GET", "path": "announcement/$a.entityId"},
                {"method": "GET", "path": "announcement/$b.entityId"},
            ])).await;
            answer.expect(StatusCode::OK);
            let results = &answer.json()["results"];
            assert_eq!(results[3]["data"]["title"], "By form");
            assert_eq!(results[4]["data"]["title"], results[3]["data"]["id"]);
        }
        let refused = json!([
            {"method": "POST", "path": "announcement", "body": news("Object"), "headers": form},
            {"method": "POST", "path": "announcement", "body": "x", "headers": {"Content-Type": "image/png"}},
        ]);
        let answer = operations(&teacher, false, refused).await.json();
        assert_eq!((&answer["results"][0]["status"], &answer["results"][1]["status"]), (&json!(400), &json!(415)));
    }

    async fn later_operations_name_what_earlier_ones_made(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for atomic in [true, false] {
            let answer = operations(&teacher, atomic, json!([
                {"id": "made", "method": "POST", "path": "announcement", "body": news("Made")},
                {"method": "PUT", "path": "/direct/announcement/$made.entityId", "body": {"title": "$made.entityId"}},
                {"method": "GET", "path": "announcement/$made.entityId"},
                {"method": "DELETE", "path": "announcement/$made.entityId"},
            ])).await;
            answer.expect(StatusCode::OK);
            let json = answer.json();
            assert_eq!(json["atomic"], atomic);
            let statuses: Vec<_> = json["results"].as_array().into_iter().flatten().map(|it| it["status"].as_u64()).collect();
            assert_eq!(statuses, [Some(201), Some(204), Some(200), Some(204)]);
            assert_eq!(json["results"][0]["id"], "made");
            assert_eq!(json["results"][2]["data"]["title"], json["results"][0]["data"]["entityId"]);
        }
        let unknown = json!([{"method": "GET", "path": "announcement/$nobody.entityId"}]);
        let answer = operations(&teacher, false, unknown).await;
        answer.expect(StatusCode::MULTI_STATUS);
        assert_eq!(answer.json()["results"][0]["status"], 400);
        let after_failure = json!([
            {"id": "a", "method": "GET", "path": "announcement/none"},
            {"method": "GET", "path": "announcement/$a.entityId"},
        ]);
        assert_eq!(operations(&teacher, false, after_failure).await.json()["results"][1]["status"], 409);
    }

    async fn an_atomic_batch_is_done_as_a_whole_or_not_at_all(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let before = titles(&teacher).await;
        let mut list = vec![
            json!({"method": "POST", "path": "announcement", "body": news("One")}),
            json!({"method": "POST", "path": "announcement", "body": {"siteId": "biology-101"}}),
        ];
        let answer = operations(&teacher, true, json!(list)).await;
        answer.expect(StatusCode::BAD_REQUEST);
        let error = &answer.json()["error"];
        assert_eq!((&error["operation"], &error["fields"][0]["name"]), (&json!(1), &json!("title")));
        assert_eq!(titles(&teacher).await, before);
        // On its own, each is done.
        operations(&teacher, false, json!(list)).await.expect(StatusCode::MULTI_STATUS);
        assert_eq!(titles(&teacher).await.len(), before.len() + 1);
        list.pop();
        operations(&teacher, true, json!(list)).await.expect(StatusCode::OK);
        assert_eq!(titles(&teacher).await.len(), before.len() + 2);
        let dry = teacher.clone().with_header(PREFER, "tx=rollback");
        for atomic in [true, false] {
            let answer = operations(&dry, atomic, json!(list)).await;
            answer.expect(StatusCode::OK);
            assert_eq!(answer.header("preference-applied"), Some("tx=rollback"));
        }
        assert_eq!(titles(&teacher).await.len(), before.len() + 2);
    }

    async fn each_operation_is_authorised_and_written_down_as_if_alone(app: TestApp) {
        let student = app.user("student1").await;
        let answer = operations(&student, false, json!([
            {"method": "POST", "path": "announcement", "body": news("Mine")},
            {"method": "GET", "path": "site/history-210"},
            {"method": "GET", "path": "user/current"},
        ])).await;
        answer.expect(StatusCode::MULTI_STATUS);
        let json = answer.json();
        let statuses: Vec<_> = json["results"].as_array().into_iter().flatten().map(|it| it["status"].as_u64()).collect();
        assert_eq!(statuses, [Some(403), Some(403), Some(200)]);
        let denied = operations(&student, true, json!([{"method": "POST", "path": "announcement", "body": news("Mine")}])).await;
        denied.expect(StatusCode::FORBIDDEN);
        app.anonymous().get(&format!("{BATCH}?_refs=user/current")).await.expect(StatusCode::UNAUTHORIZED);
    }

    async fn a_malformed_batch_is_refused_as_a_whole(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let before = titles(&teacher).await;
        let good = json!({"method": "POST", "path": "announcement", "body": news("Good")});
        for bad in [
            json!({"method": "GET", "path": "batch.json"}),
            json!({"method": "GET", "path": "/direct/batch"}),
            json!({"method": "GET", "path": "http://example.org/"}),
            json!({"method": "GET", "path": "/api/user/roles"}),
            json!({"method": "TRACE", "path": "site"}),
            json!({"method": "GET", "path": "site", "headers": {"Cookie": "x"}}),
            json!({"method": "GET", "path": "site", "nonsense": 1}),
            json!({"method": "GET", "path": "site", "id": "a.b"}),
            json!({"path": "site"}),
        ] {
            let answer = operations(&teacher, false, json!([good, bad])).await;
            answer.expect(StatusCode::BAD_REQUEST);
        }
        let alone = json!([{"method": "POST", "path": "announcement", "body": news("Kept"), "headers": {"Prefer": "tx=rollback"}}]);
        operations(&teacher, true, alone).await.expect(StatusCode::BAD_REQUEST);
        for refused in [json!([]), json!(vec![good.clone(); 51]), json!({})] {
            operations(&teacher, false, refused).await.expect(StatusCode::BAD_REQUEST);
        }
        for query in ["", "?_refs=", "?_refs=batch", "?_refs=http://example.org/x", "?_refs=/portal/x"] {
            teacher.get(&format!("{BATCH}{query}")).await.expect(StatusCode::BAD_REQUEST);
        }
        let login = json!([{"method": "POST", "path": "session", "body": {"_username": "admin", "_password": "x"}}]);
        operations(&teacher, true, login).await.expect(StatusCode::BAD_REQUEST);
        teacher.get("/direct/batch.html?_refs=site").await.expect(StatusCode::NOT_ACCEPTABLE);
        teacher.send(Method::PATCH, BATCH, JSON, "{}".into()).await.expect(StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(titles(&teacher).await, before);
    }
}
