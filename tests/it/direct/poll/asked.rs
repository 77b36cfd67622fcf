//! Requests that make, change and delete polls and options, and items of lessons that show polls.

use super::*;

both! {
    async fn a_new_poll_has_what_was_not_sent(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let made = teacher.post("/direct/poll.json", &json!({"siteId": SITE, "text": "Tea?"})).await;
        made.expect(StatusCode::CREATED);
        let made = made.json();
        let now = at(&app, 0);
        for (key, value) in [
            ("minOptions", json!(1)),
            ("maxOptions", json!(1)),
            ("displayResult", json!("open")),
            ("limitVoting", json!(true)),
            ("voteOpen", json!(now)),
            ("voteClose", json!(now + 7 * 86_400_000)),
            ("creationDate", json!(now)),
            ("options", json!([])),
            ("owner", json!(id_of(&teacher).await)),
        ] {
            assert_eq!(made[key], value, "{key}");
        }
        for (fields, name) in [
            (json!({"text": " "}), "text"),
            (json!({"minOptions": -1}), "minOptions"),
            (json!({"minOptions": 2, "maxOptions": 1}), "maxOptions"),
            (json!({"maxOptions": 0}), "maxOptions"),
            (json!({"maxOptions": 51}), "maxOptions"),
            (json!({"displayResult": "sometimes"}), "displayResult"),
            (json!({"voteOpen": now, "voteClose": now - 1}), "voteClose"),
            (json!({"text": "x".repeat(501)}), "text"),
        ] {
            let mut all = json!({"siteId": SITE, "text": "Tea?"});
            for (key, value) in fields.as_object().expect("an object") {
                all[key] = value.clone();
            }
            let refused = teacher.post("/direct/poll", &all).await;
            refused.expect(StatusCode::BAD_REQUEST);
            assert!(refused.text().contains(&format!("`{name}`")), "{}", refused.text());
        }
    }

    async fn who_may_change_a_poll_changes_its_options(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, options) = make(&teacher, json!({})).await;
        let new = json!({"siteId": SITE, "pollId": id, "text": "four"});
        let four = created(&teacher.post("/direct/poll-option/new", &new).await, "poll-option");
        teacher.put(&format!("/direct/poll-option/{four}"), &json!({"optionOrder": 0, "text": "zero"})).await
            .expect(StatusCode::NO_CONTENT);
        teacher.delete(&format!("/direct/poll-option/{}", options[1])).await.expect(StatusCode::NO_CONTENT);
        let texts = |poll: &Value| -> Vec<String> {
            poll["options"].as_array().expect("a list").iter().map(|it| text(it, "text")).collect()
        };
        assert_eq!(texts(&poll(&teacher, id).await), ["zero", "one", "three"]);
        for (fields, status) in [
            (json!({"siteId": SITE, "pollId": 1, "text": "x"}), StatusCode::BAD_REQUEST),
            (json!({"siteId": SITE, "text": "x"}), StatusCode::BAD_REQUEST),
        ] {
            teacher.post("/direct/poll-option", &fields).await.expect(status);
        }
        let admin = app.user("admin").await;
        let elsewhere = json!({"siteId": "field-trip", "pollId": id, "text": "x"});
        admin.post("/direct/poll-option", &elsewhere).await.expect(StatusCode::BAD_REQUEST);
    }

    async fn options_are_sent_as_lines_and_are_bounded(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let (id, _) = make(&teacher, json!({})).await;
        let path = format!("/direct/poll/{id}/options");
        let form = teacher.post_form(&path, "text=four%0D%0A%0D%0A+five").await;
        assert!(form.status.is_success() || form.status.is_redirection(), "{}", form.text());
        assert_eq!(poll(&teacher, id).await["options"][4]["text"], "five");
        let page = teacher.get(&format!("/direct/poll/{id}.html")).await;
        assert!(page.text().contains(&format!("action=\"{path}\"")), "{}", page.text());
        for body in [json!({}), json!({"text": ""}), json!({"text": []}), json!({"text": [5]}), json!({"text": 5})] {
            teacher.post(&path, &body).await.expect(StatusCode::BAD_REQUEST);
        }
        let many: Vec<String> = (0..46).map(|it| format!("option {it}")).collect();
        let refused = teacher.post(&path, &json!({"text": many})).await;
        refused.expect(StatusCode::FORBIDDEN);
        assert!(refused.text().contains("50 options"), "{}", refused.text());
        assert_eq!(poll(&teacher, id).await["options"].as_array().map(Vec::len), Some(5), "all or none");
        teacher.post(&path, &json!({"text": many[1..]})).await.expect(StatusCode::OK);
    }

    async fn what_was_asked_stays_once_somebody_has_voted(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let (id, options) = make(&teacher, json!({"maxOptions": 2})).await;
        let (path, option) = (format!("/direct/poll/{id}"), format!("/direct/poll-option/{}", options[0]));
        teacher.put(&path, &json!({"text": "Which one, again?"})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&option, &json!({"text": "uno"})).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(vote(&student, id, &options[..1]).await, StatusCode::OK);
        let before = poll(&teacher, id).await;
        for fields in [
            json!({"text": "Which one not?"}),
            json!({"description": "<p>Other</p>"}),
            json!({"minOptions": 2}),
            json!({"maxOptions": 3}),
            json!({"limitVoting": false}),
        ] {
            teacher.put(&path, &fields).await.expect(StatusCode::CONFLICT);
        }
        teacher.put(&option, &json!({"text": "two"})).await.expect(StatusCode::CONFLICT);
        teacher.delete(&option).await.expect(StatusCode::CONFLICT);
        teacher.delete(&format!("/direct/poll-option/{}", options[2])).await.expect(StatusCode::CONFLICT);
        let new = json!({"siteId": SITE, "pollId": id, "text": "four"});
        teacher.post("/direct/poll-option", &new).await.expect(StatusCode::CONFLICT);
        teacher.post(&format!("{path}/options"), &json!({"text": "four"})).await.expect(StatusCode::CONFLICT);
        assert_eq!(poll(&teacher, id).await, before);
        teacher.put(&option, &json!({"optionOrder": 9})).await.expect(StatusCode::NO_CONTENT);
        teacher.put(&path, &json!({"voteClose": at(&app, 60)})).await.expect(StatusCode::NO_CONTENT);
        teacher.delete(&path).await.expect(StatusCode::NO_CONTENT);
    }

    async fn an_item_of_lessons_shows_a_poll_to_those_who_may_read_it(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let page = json!({"siteId": SITE, "lessonTitle": "Polls"});
        let page = created(&teacher.post("/direct/lessons", &page).await, "lessons");
        let (now, _) = make(&teacher, json!({"text": "Asked now?"})).await;
        let later = json!({"text": "Asked later?", "voteOpen": at(&app, 60), "voteClose": at(&app, 90)});
        let (later, _) = make(&teacher, later).await;
        for id in [now, later] {
            for target in [id.to_string(), format!("/poll/{id}")] {
                let item = json!({"siteId": SITE, "lessonId": page, "kind": "poll", "sakaiId": target});
                created(&teacher.post("/direct/lesson-item", &item).await, "lesson-item");
            }
        }
        let path = format!("/direct/lesson-item.json?lessonId={page}");
        let names = |items: Vec<Value>| -> Vec<String> { items.iter().map(|it| text(it, "name")).collect() };
        let all = ["Asked now?", "Asked now?", "Asked later?", "Asked later?"];
        assert_eq!(names(list(&teacher, &path, "lesson-item").await), all);
        assert_eq!(names(list(&student, &path, "lesson-item").await), all[..2]);
        let html = student.get(&format!("/direct/lessons/lesson/{page}.html")).await;
        assert!(!html.text().contains("Asked later?"), "{}", html.text());
        app.advance(TimeDelta::seconds(60));
        assert_eq!(names(list(&student, &path, "lesson-item").await), all);
    }
}
