//! Answers are judged one by one, and come back as they were typed.

use chrono::TimeDelta;
use http::header::ACCEPT;

use super::*;
use crate::direct::BROWSER;
use crate::direct::form::untouched;

/// The answers that are stored, in the order of the questions.
async fn stored(client: &Client, attempt: &Value) -> Vec<Value> {
    let path = format!("/direct/quiz-attempt/{}.json", text(attempt, "id"));
    let attempt = read(client, &path).await;
    let questions = attempt["questions"].as_array().expect("a list").iter();
    questions.map(|it| it["answer"].clone()).collect()
}

/// A form with these answers, as the page sends it.
fn form(ids: &[String], answers: &[(usize, &str)]) -> String {
    let all = ids.iter().enumerate().map(|(at, id)| {
        let own = answers
            .iter()
            .filter(|it| it.0 == at)
            .map(|it| (&**id, it.1));
        std::iter::once((&**id, ""))
            .filter(|_| at < 3)
            .chain(own)
            .collect::<Vec<_>>()
    });
    entity_formats::write_pairs(all.flatten())
}

both! {
    async fn y5_an_answer_that_is_no_number_keeps_no_other_from_being_saved(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY", "timeLimit": 60})).await;
        let attempt = begin(&student, &quiz).await;
        let ids = asked(&attempt);
        let browser = student.clone().with_header(ACCEPT, BROWSER);
        let path = format!("/direct/quiz-attempt/{}", text(&attempt, "id"));
        for action in ["save", "submit"] {
            let sent = form(&ids, &[(0, "Jupiter"), (1, "Saturn"), (1, "Uranus"), (2, "true"), (3, "about \"250\"")]);
            let page = browser.post_form(&format!("{path}/{action}"), &sent).await;
            page.expect(StatusCode::BAD_REQUEST);
            for part in [
                "The rest is saved.", "4. Years of a Pluto year? must be a number.", "value=\"about &#34;250&#34;\"", "href=\"#prompt-4\"",
                "aria-invalid=\"true\" aria-describedby=\"prompt-4-hint prompt-4-error\"", "value=\"Jupiter\" checked", "value=\"Uranus\" checked",
                &format!("formaction=\"{path}/submit\""),
            ] {
                assert!(page.text().contains(part), "{action} {part}: {}", page.text());
            }
            assert!(!page.text().contains("value=\"Earth\" checked") && !page.text().contains(&format!("{} must", ids[3])), "{}", page.text());
            assert_eq!(stored(&student, &attempt).await, [json!(["Jupiter"]), json!(["Saturn", "Uranus"]), json!(["true"]), json!([])]);
            assert_eq!(read(&student, &format!("{path}.json")).await["finished"], false, "{action}");
        }
        // Whoever has no more time has what was right.
        app.advance(TimeDelta::seconds(60));
        let over = browser.post_form(&format!("{path}/submit"), &form(&ids, &[(3, "248")])).await;
        over.expect(StatusCode::CONFLICT);
        assert!(over.text().contains("value=\"248\"") && over.text().contains("The time of the attempt is over."), "{}", over.text());
        assert_eq!(read(&student, &format!("{path}.json")).await["score"], 13.3333);
    }

    async fn y5_programs_are_told_what_was_not_taken_and_the_rest_is_committed(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY"})).await;
        let attempt = begin(&student, &quiz).await;
        let ids = asked(&attempt);
        let answers = json!({ids[0].as_str(): "Jupiter", ids[3].as_str(): "1,500", "nowhere": "x"});
        let (status, told) = act(&student, &attempt, "submit", answers).await;
        assert_eq!((status, &told["error"]["code"]), (StatusCode::BAD_REQUEST, &json!("partly_saved")), "{told}");
        let mut named: Vec<_> = told["error"]["fields"].as_array().expect("fields").iter().map(|it| text(it, "name")).collect();
        named.sort_unstable();
        let mut expected = vec![ids[3].clone(), "nowhere".to_owned()];
        expected.sort_unstable();
        assert_eq!(named, expected);
        assert!(told.to_string().contains("may be 1500 or 1.500"), "{told}");
        assert_eq!(stored(&student, &attempt).await[0], json!(["Jupiter"]));
        let path = format!("quiz-attempt/{}/save", text(&attempt, "id"));
        let (status, _) = send(&student, Method::POST, &path, json!({"answers": "42"})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        // What fails in an atomic batch is not done.
        let batch = json!({"atomic": true, "operations": [
            {"method": "POST", "path": path, "body": {"answers": {ids[0].as_str(): "Mars", ids[3].as_str(): "many"}}},
        ]});
        student.post("/direct/batch.json", &batch).await.expect(StatusCode::BAD_REQUEST);
        assert_eq!(stored(&student, &attempt).await[0], json!(["Jupiter"]));
    }

    async fn y5_numbers_are_taken_as_people_write_them_and_counted(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY", "submissionsAllowed": null})).await;
        for (typed, expected) in [
            ("247,9", "247.9"), ("2.479e2", "247.9"), ("2,48×10²", "248"), ("248", "248"), ("248.0", "248.0"), ("+247.94", "+247.94"), ("２４８", "248"),
        ] {
            let attempt = begin(&student, &quiz).await;
            let ids = asked(&attempt);
            let browser = student.clone().with_header(ACCEPT, BROWSER);
            let path = format!("/direct/quiz-attempt/{}/submit", text(&attempt, "id"));
            let answer = browser.post_form(&path, &form(&ids, &[(3, typed)])).await;
            answer.expect(StatusCode::SEE_OTHER);
            assert_eq!(stored(&student, &attempt).await[3], json!([expected]), "{typed}");
            let done = read(&student, path.trim_end_matches("/submit")).await;
            assert_eq!(done["score"], 5.0, "{typed}");
        }
    }

    async fn y4_a_quiz_that_was_sent_after_the_session_ended_comes_back(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY"})).await;
        let attempt = begin(&student, &quiz).await;
        let ids = asked(&attempt);
        let path = format!("/direct/quiz-attempt/{}", text(&attempt, "id"));
        let browser = student.clone().with_header(ACCEPT, BROWSER);
        let sheet = browser.get(&format!("{path}/take.html")).await;
        assert!(!sheet.text().contains("autocomplete=\"off\""), "{}", sheet.text());
        let stranger = app.anonymous().with_header(ACCEPT, BROWSER);
        let sent = form(&ids, &[(0, "Jupiter"), (1, "Saturn"), (1, "Neptune"), (3, "247,9")]);
        let page = stranger.post_form(&format!("{path}/save"), &sent).await;
        page.expect(StatusCode::UNAUTHORIZED);
        for part in ["You are not logged in any more", "href=\"/portal/xlogin\"", "value=\"247,9\""] {
            assert!(page.text().contains(part), "{part}: {}", page.text());
        }
        assert!(!page.text().contains("Gas giants"), "{}", page.text());
        // Logged in again, the same form goes on.
        let pairs = untouched(&page);
        let again = entity_formats::write_pairs(pairs.iter().map(|it| (&*it.0, &*it.1)));
        browser.post_form(&format!("{path}/save"), &again).await.expect(StatusCode::SEE_OTHER);
        assert_eq!(stored(&student, &attempt).await, [json!(["Jupiter"]), json!(["Saturn", "Neptune"]), json!([]), json!(["247.9"])]);
    }
}
