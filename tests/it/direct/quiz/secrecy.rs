//! Secrets from those who take a quiz, and others: right answers, scores before their time, drafts, other attempts.

use chrono::TimeDelta;

use super::*;

/// Everything that `client` may ask for about the quiz, its questions and its attempts.
async fn everything(client: &Client, quiz: &str, question: &str, attempt: &str) -> String {
    let mut all = String::new();
    let entities = [
        ("sam_pub", quiz),
        ("quiz-question", question),
        ("quiz-attempt", attempt),
    ];
    let mut paths = Vec::new();
    for format in ["json", "xml", "html", "csv", "atom", "rss", "ics"] {
        for (prefix, id) in entities {
            paths.push(format!("/direct/{prefix}/{id}.{format}"));
            paths.push(format!("/direct/{prefix}.{format}?siteId=biology-101"));
            paths.push(format!(
                "/direct/{prefix}.{format}?siteId=biology-101&_expand=quizId,userId"
            ));
        }
        paths.push(format!("/direct/sam_pub/context/biology-101.{format}"));
        paths.push(format!("/direct/quiz-attempt/sam_pub/{quiz}.{format}"));
        paths.push(format!("/direct/quiz-attempt/{attempt}/take.{format}"));
        paths.push(format!("/direct/gradebook/site/biology-101.{format}"));
        paths.push(format!("/direct/calendar/site/biology-101.{format}"));
    }
    for query in [
        "_search=Canary",
        "_order=title",
        "text=Canary",
        "_order=score",
        "score=5",
        "correct=Jupiter",
        "_count=exact",
    ] {
        for (prefix, _) in entities {
            paths.push(format!("/direct/{prefix}.json?siteId=biology-101&{query}"));
        }
    }
    paths.push(format!(
        "/direct/batch.json?_refs=/direct/quiz-question/{question},/direct/quiz-attempt/{attempt}"
    ));
    paths.push("/api/users/me/dashboard".to_owned());
    paths.push("/api/sites/biology-101/grades".to_owned());
    for path in paths {
        let answer = client.get(&path).await;
        assert!(
            !answer.status.is_server_error(),
            "{path}: {}",
            answer.status
        );
        all.push_str(answer.text());
        for (_, value) in &answer.headers {
            all.push_str(value.to_str().unwrap_or_default());
        }
    }
    all
}

async fn questions(teacher: &Client, quiz: &str) -> Vec<Value> {
    let path = format!("/direct/quiz-question.json?siteId=biology-101&quizId={quiz}");
    list(teacher, &path, "quiz-question").await
}

both! {
    async fn y60_a_dry_run_of_handing_in_tells_no_right_answer(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY"})).await;
        let attempt = begin(&student, &quiz).await;
        let own = format!("/direct/quiz-attempt/{}", text(&attempt, "id"));
        let before = read(&student, &format!("{own}.json")).await;
        let dry = student.clone().with_header(http::HeaderName::from_static("prefer"), "tx=rollback");
        let submit = format!("{own}/submit.json");
        let told = dry.post(&submit, &nearly_right(&attempt)).await.expect(StatusCode::OK).json();
        assert_eq!(told, before);
        let operations = json!({"atomic": true, "operations": [
            {"method": "POST", "path": submit, "body": nearly_right(&attempt)},
            {"method": "GET", "path": format!("{own}.json")},
        ]});
        let told = dry.post("/direct/batch.json", &operations).await.expect(StatusCode::OK).json();
        for result in told["results"].as_array().expect("results") {
            assert_eq!(result["data"], before, "{told}");
        }
        // What is handed in for good tells them.
        let told = student.post(&submit, &nearly_right(&attempt)).await.expect(StatusCode::OK).json();
        assert!(told["questions"][0]["correct"].is_array(), "{told}");
    }

    async fn right_answers_and_scores_stay_in_the_service_until_they_are_released(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for (feedback, seconds) in [("NEVER", 60), ("AFTER_DUE", 120)] {
            let quiz = publish(&teacher, json!({"title": feedback, "dueDate": at(seconds), "feedback": feedback})).await;
            let asked_of = questions(&teacher, &quiz).await;
            let question = text(&asked_of[0], "id");
            let attempt = begin(&student, &quiz).await;
            let id = text(&attempt, "id");
            for step in ["begun", "saved", "handed in"] {
                let answer = match step {
                    "begun" => Value::Null,
                    "saved" => act(&student, &attempt, "save", nearly_right(&attempt)).await.1,
                    _ => act(&student, &attempt, "submit", json!({})).await.1,
                };
                let seen = everything(&student, &quiz, &question, &id).await + &answer.to_string();
                // The numeric answer and the tolerance are said nowhere else.
                for canary in ["247.94", "Canary of feedback", "18.3333", "3.3333"] {
                    assert!(!seen.contains(canary), "{feedback} {step}: {canary}");
                }
            }
            let own = read(&student, &format!("/direct/quiz-attempt/{id}.json")).await;
            assert!(own["questions"].as_array().expect("a list").iter().all(|it| it["correct"].is_null()));
            app.advance(TimeDelta::seconds(60));
            let seen = everything(&student, &quiz, &question, &id).await;
            let is_told = feedback == "AFTER_DUE";
            for canary in ["247.94", "Canary of feedback", "18.3333"] {
                assert_eq!(seen.contains(canary), is_told, "{feedback}: {canary}");
            }
            student.get(&format!("/direct/quiz-question/{question}.json")).await.expect(StatusCode::FORBIDDEN);
        }
    }

    async fn students_have_their_own_attempts_and_graders_those_of_their_students(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "NEVER"})).await;
        let mut ids = Vec::new();
        for eid in ["student1", "student2", "student11"] {
            let taker = app.user(eid).await;
            let attempt = begin(&taker, &quiz).await;
            act(&taker, &attempt, "save", nearly_right(&attempt)).await;
            ids.push(text(&attempt, "id"));
        }
        let other = format!("/direct/quiz-attempt/{}", ids[1]);
        student.get(&format!("{other}.json")).await.expect(StatusCode::NOT_FOUND);
        for action in ["save", "submit"] {
            for (client, status) in [(&student, StatusCode::NOT_FOUND), (&teacher, StatusCode::FORBIDDEN)] {
                let (refused, _) = send(client, Method::POST, &format!("quiz-attempt/{}/{action}", ids[1]), json!({})).await;
                assert_eq!(refused, status, "{action}");
            }
        }
        assert_eq!(attempts(&student, &quiz).await.len(), 1);
        let running = read(&teacher, &format!("{other}.json")).await;
        assert_eq!((&running["score"], &running["questions"]), (&Value::Null, &json!([])), "not handed in yet");
        assert_eq!(attempts(&teacher, &quiz).await.len(), 3);
        let sections = attempts(&app.user("ta1").await, &quiz).await;
        let scores = list(&app.user("ta1").await, "/direct/gradebook-score.json?siteId=biology-101&_limit=0", "gradebook-score").await;
        for it in &sections {
            assert!(scores.iter().any(|score| score["userId"] == it["userId"]), "{it}");
        }
        assert!(sections.len() < 3, "{}", sections.len());
        app.user("instructor2").await.get(&format!("{other}.json")).await.expect(StatusCode::NOT_FOUND);
    }

    async fn nobody_writes_an_attempt_but_by_its_actions(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({})).await;
        let attempt = begin(&student, &quiz).await;
        let path = format!("quiz-attempt/{}", text(&attempt, "id"));
        for method in [Method::PUT, Method::PATCH, Method::DELETE] {
            for client in [&student, &teacher, &app.user("admin").await] {
                let (status, _) = send(client, method.clone(), &path, json!({"score": 20})).await;
                assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED, "{method}");
            }
        }
        let fields = json!({"quizId": quiz, "siteId": "biology-101", "userId": id_of(&student).await});
        let (status, _) = send(&student, Method::POST, "quiz-attempt", fields).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
        let (status, _) = act(&student, &attempt, "save", json!({"score": 20, "finished": false})).await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
    }
}
