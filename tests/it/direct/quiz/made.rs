//! Writing quizzes and questions, and the pages on which a quiz is taken.

use super::*;
use crate::direct::browser;

both! {
    async fn a_quiz_that_contradicts_itself_is_refused(app: TestApp) {
        let teacher = app.user("instructor1").await;
        for (fields, field) in [
            (json!({"startDate": at(2), "dueDate": at(1)}), "dueDate"),
            (json!({"dueDate": at(2), "retractDate": at(1)}), "retractDate"),
            (json!({"timeLimit": 0}), "timeLimit"),
            (json!({"submissionsAllowed": 0}), "submissionsAllowed"),
            (json!({"lateHandling": 3}), "lateHandling"),
            (json!({"lateHandling": 1, "dueDate": at(1)}), "lateHandling"),
            (json!({"feedback": "SOMETIMES"}), "feedback"),
            (json!({"nonsense": 1}), "nonsense"),
        ] {
            let mut quiz = json!({"ownerSiteId": "biology-101", "title": "Wrong"});
            quiz.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
            let answer = teacher.post("/direct/sam_pub.json", &quiz).await;
            answer.expect(StatusCode::BAD_REQUEST);
            assert_eq!(answer.json()["error"]["fields"][0]["name"], field);
        }
        let answer = teacher.post("/direct/sam_pub.json", &json!({"ownerSiteId": "biology-101", "title": "Empty"})).await;
        let id = created(&answer, "sam_pub");
        assert_eq!((&answer.json()["status"], &answer.json()["totalScore"]), (&json!(0), &Value::Null));
        for question in [
            json!({"kind": "ONE", "correct": ["Mars"]}),
            json!({"kind": "ONE", "choices": ["Mars", "Mars"], "correct": ["Mars"]}),
            json!({"kind": "ONE", "choices": ["Mars", "Venus"], "correct": ["Pluto"]}),
            json!({"kind": "ONE", "choices": ["Mars", "Venus"], "correct": ["Mars", "Venus"]}),
            json!({"kind": "SEVERAL", "choices": ["Mars", "Venus"], "correct": []}),
            json!({"kind": "TRUE_FALSE", "correct": ["perhaps"]}),
            json!({"kind": "NUMERIC", "correct": ["many"]}),
            json!({"kind": "NUMERIC", "correct": ["1"], "tolerance": -1}),
            json!({"kind": "NUMERIC", "correct": ["1"], "choices": ["1", "2"]}),
            json!({"kind": "TRUE_FALSE", "correct": ["true"], "points": -1}),
            json!({"kind": "ESSAY", "correct": ["true"]}),
        ] {
            let mut fields = json!({"quizId": id, "siteId": "biology-101", "text": "?", "points": 1});
            fields.as_object_mut().expect("an object").extend(question.as_object().expect("an object").clone());
            teacher.post("/direct/quiz-question.json", &fields).await.expect(StatusCode::BAD_REQUEST);
        }
        let (status, _) = send(&teacher, Method::POST, &format!("sam_pub/{id}/publish"), json!({})).await;
        assert_eq!(status, StatusCode::CONFLICT, "it has no questions");
        let elsewhere = json!({"quizId": id, "siteId": "history-210", "text": "?", "points": 1, "kind": "TRUE_FALSE", "correct": ["true"]});
        teacher.post("/direct/quiz-question.json", &elsewhere).await.expect(StatusCode::FORBIDDEN);
    }

    async fn questions_stay_as_they_are_once_somebody_has_begun(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"shuffled": true, "dueDate": at(60)})).await;
        let path = format!("/direct/quiz-question.json?siteId=biology-101&quizId={quiz}");
        let questions = list(&teacher, &path, "quiz-question").await;
        let places: Vec<_> = questions.iter().map(|it| it["position"].as_i64()).collect();
        assert_eq!(places, [Some(1), Some(2), Some(3), Some(4)]);
        let first = format!("quiz-question/{}", text(&questions[0], "id"));
        let item = |it: &Value| it["itemName"] == "Made" && it["points"] == 21.0;
        let (status, _) = send(&teacher, Method::PUT, &first, json!({"points": 6})).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        let grades = read(&teacher, "/direct/gradebook/site/biology-101.json").await;
        assert!(grades["assignments"].as_array().expect("a list").iter().any(item), "the item has the new points");

        let attempt = begin(&student, &quiz).await;
        let again = begin(&student, &quiz).await;
        assert_eq!(attempt["questions"], again["questions"], "the order of an attempt stays");
        let mut choices: Vec<_> = attempt["questions"][1]["choices"].as_array().expect("a list").clone();
        choices.sort_by_key(ToString::to_string);
        assert_eq!(json!(choices), json!(["Earth", "Mercury", "Neptune", "Saturn", "Uranus"]));
        let refused = [
            (Method::PUT, first.clone(), json!({"points": 7})),
            (Method::DELETE, first, json!({})),
            (Method::PUT, format!("sam_pub/{quiz}"), json!({"shuffled": false})),
            (Method::POST, "quiz-question".to_owned(), json!({
                "quizId": quiz, "siteId": "biology-101", "text": "?", "points": 1, "kind": "TRUE_FALSE", "correct": ["true"],
            })),
        ];
        for (method, path, body) in refused {
            let (status, answer) = send(&teacher, method, &path, body).await;
            assert_eq!(status, StatusCode::CONFLICT, "{path}: {answer}");
        }
        let (status, _) = send(&teacher, Method::PUT, &format!("sam_pub/{quiz}"), json!({"title": "Renamed", "dueDate": at(90)})).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        assert_eq!(begin(&student, &quiz).await["endsOn"], at(90), "the end follows the quiz");
        let events = student.get("/direct/calendar/site/biology-101.json").await;
        assert!(events.text().contains("Renamed") && !events.text().contains("\"Made\""));
        teacher.delete(&format!("/direct/sam_pub/{quiz}")).await.expect(StatusCode::NO_CONTENT);
        let events = student.get("/direct/calendar/site/biology-101.json").await;
        assert!(!events.text().contains("Renamed"));
        assert!(attempts_left(&student).await);
    }

    async fn a_quiz_is_made_and_taken_with_forms(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = draft(&teacher, json!({"feedback": "IMMEDIATELY"})).await;
        let form = format!("quizId={quiz}&siteId=biology-101&text=Red+planet%3F&kind=ONE&points=2.5\
            &choices=Mars%0D%0AVenus&correct=Mars&feedback=&tolerance=");
        let page = browser(&app, "instructor1").await;
        page.post_form("/direct/quiz-question", &form).await.expect(StatusCode::SEE_OTHER);
        page.post_form(&format!("/direct/sam_pub/{quiz}/publish"), "_method=POST").await.expect(StatusCode::SEE_OTHER);

        let page = browser(&app, "student1").await;
        let begun = page.post_form(&format!("/direct/sam_pub/{quiz}/begin"), "_method=POST").await;
        begun.expect(StatusCode::SEE_OTHER);
        let attempt = begin(&student, &quiz).await;
        let path = format!("/direct/quiz-attempt/{}", text(&attempt, "id"));
        assert!(begun.header("Location").is_some_and(|it| it.ends_with(&format!("{path}.html"))), "{begun:?}");
        let shown = student.get(&format!("{path}.html")).await;
        assert!(shown.text().contains(&format!("{path}/take.html")));
        let ids = asked(&attempt);
        let sheet = student.get(&format!("{path}/take.html")).await;
        for part in [
            format!("name=\"{}\" type=\"radio\" value=\"Jupiter\"", ids[0]),
            format!("name=\"{}\" type=\"checkbox\" value=\"Uranus\"", ids[1]),
            format!("name=\"{}\" type=\"text\"", ids[3]),
            format!("formaction=\"{path}/submit\""),
        ] {
            assert!(sheet.expect(StatusCode::OK).text().contains(&part), "{part} in {}", sheet.text());
        }
        let form = format!("{0}=&{0}=Jupiter&{1}=&{1}=Saturn&{1}=Uranus&{2}=&{3}=", ids[0], ids[1], ids[2], ids[3]);
        page.post_form(&format!("{path}/save"), &form).await.expect(StatusCode::SEE_OTHER);
        let sheet = student.get(&format!("{path}/take.html")).await;
        assert!(sheet.text().contains("value=\"Jupiter\" checked") && !sheet.text().contains("value=\"Mars\" checked"));
        let form = format!("{0}=&{0}=Mars&{1}=&{2}=&{4}=Mars&{3}=250", ids[0], ids[1], ids[2], ids[3], ids[4]);
        page.post_form(&format!("{path}/submit"), &form).await.expect(StatusCode::SEE_OTHER);
        let done = read(&student, &format!("{path}.json")).await;
        assert_eq!((&done["finished"], &done["score"]), (&json!(true), &json!(2.5)));
        assert_eq!(done["questions"][1]["answer"], json!([]), "unticked");
    }
}

/// Returns whether the student has attempts at quizzes of the demo university only.
async fn attempts_left(student: &Client) -> bool {
    let all = list(
        student,
        "/direct/quiz-attempt.json?siteId=biology-101",
        "quiz-attempt",
    )
    .await;
    all.iter().all(|it| it["quizTitle"] == OVER)
}
