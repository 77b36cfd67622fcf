//! Beginning, answering, handing in, and the clock.

use chrono::TimeDelta;
use futures::future::join_all;
use sea_orm::{
    ConnectionTrait as _, Database as Connection, DbBackend, QueryResult, Statement,
    TransactionTrait as _,
};

use super::*;

const BIOLOGY_GRADES: &str = "/direct/gradebook/site/biology-101.json";

/// The score in the gradebook that `student` sees for the quiz with the title `title`.
async fn grade(student: &Client, title: &str) -> Option<Value> {
    let grades = read(student, BIOLOGY_GRADES).await;
    let rows = grades["assignments"].as_array().expect("a list");
    let row = rows.iter().find(|it| it["itemName"] == title);
    row.map(|it| it["grade"].clone())
}

async fn gradebook_score(teacher: &Client, title: &str, student: &str) -> Value {
    let scores = list(
        teacher,
        "/direct/gradebook-score.json?siteId=biology-101&_limit=0",
        "gradebook-score",
    )
    .await;
    let found = scores
        .into_iter()
        .find(|it| it["itemName"] == title && it["userId"] == student);
    found.map_or(Value::Null, |it| it["score"].clone())
}

both! {
    async fn y19_an_attempt_that_has_ended_never_runs_again(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY", "timeLimit": 60, "dueDate": at(600)})).await;
        let id = id_of(&student).await;
        let attempt = begin(&student, &quiz).await;
        let more = json!({"siteId": "biology-101", "quizId": quiz, "userId": id, "extraTime": 60});
        let extension = created(&teacher.post("/direct/quiz-extension", &more).await, "quiz-extension");
        let path = format!("/direct/quiz-extension/{extension}");
        app.advance(TimeDelta::seconds(119));
        assert_eq!(act(&student, &attempt, "save", nearly_right(&attempt)).await.0, StatusCode::OK, "it runs");
        app.advance(TimeDelta::seconds(1));
        let own = format!("/direct/quiz-attempt/{}.json", text(&attempt, "id"));
        let shown = read(&student, &own).await;
        assert!(shown["finished"] == true && shown["questions"][0]["correct"].is_array(), "{shown}");
        let refused = teacher.put(&path, &json!({"extraTime": 600})).await;
        refused.expect(StatusCode::CONFLICT);
        assert!(refused.text().contains("extraAttempts"), "{}", refused.text());
        // Neither does it when the quiz itself gets more time, nor with another attempt.
        let later = json!({"timeLimit": 500});
        teacher.put(&format!("/direct/sam_pub/{quiz}"), &later).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &own).await["finished"], true);
        let other = json!({asked(&attempt)[0].as_str(): "Mars"});
        assert_eq!(act(&student, &attempt, "submit", other).await.0, StatusCode::CONFLICT);
        let another = json!({"extraTime": 600, "extraAttempts": 1});
        teacher.put(&path, &another).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&student, &own).await["score"], shown["score"]);
        assert_eq!(begin(&student, &quiz).await["number"], 2);
    }

    async fn a_quiz_is_made_taken_and_scored(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY", "submissionsAllowed": 2})).await;
        let attempt = begin(&student, &quiz).await;
        assert_eq!((&attempt["number"], &attempt["finished"], &attempt["score"]), (&json!(1), &json!(false), &Value::Null));
        assert_eq!(begin(&student, &quiz).await["id"], attempt["id"], "it goes on");
        let ids = asked(&attempt);
        assert_eq!(ids.len(), 4);

        let (_, saved) = act(&student, &attempt, "save", json!({ids[3].as_str(): "247.9"})).await;
        assert_eq!(saved["questions"][3]["answer"], json!(["247.9"]));
        assert_eq!((&saved["score"], &saved["questions"][3]["score"]), (&Value::Null, &Value::Null));
        let (status, _) = act(&student, &attempt, "save", nearly_right(&attempt)).await;
        assert_eq!(status, StatusCode::OK);
        let wrong = [
            (json!({ids[0].as_str(): "Pluto"}), "one of the choices"),
            (json!({ids[0].as_str(): ["Mars", "Venus"]}), "one answer"),
            (json!({ids[3].as_str(): "many"}), "a number"),
            (json!({ids[3].as_str(): {"a": 1}}), "a text"),
            (json!({"nowhere": "Mars"}), "no question"),
        ];
        for (answers, complaint) in wrong {
            let (status, answer) = act(&student, &attempt, "save", answers).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
            assert!(answer.to_string().contains(complaint), "{answer}");
        }

        let (status, done) = act(&student, &attempt, "submit", json!({})).await;
        assert_eq!(status, StatusCode::OK, "{done}");
        assert_eq!((&done["finished"], &done["released"], &done["score"]), (&json!(true), &json!(true), &json!(18.3333)));
        assert_eq!(done["questions"][1]["score"], 3.3333);
        assert_eq!(done["questions"][1]["correct"], json!(["Saturn", "Uranus", "Neptune"]));
        assert_eq!(grade(&student, "Made").await, Some(json!("18.3333")));
        for action in ["save", "submit"] {
            let (status, _) = act(&student, &attempt, action, json!({ids[0].as_str(): "Mars"})).await;
            assert_eq!(status, StatusCode::CONFLICT, "{action}");
        }
        let (status, again) = act(&student, &attempt, "submit", json!({})).await;
        assert_eq!((status, &again["finishedOn"]), (StatusCode::OK, &done["finishedOn"]));

        let second = begin(&student, &quiz).await;
        assert_eq!(second["number"], 2);
        act(&student, &second, "submit", json!({ids[1].as_str(): ["Saturn", "Earth", "Mercury"]})).await;
        assert_eq!(attempts(&student, &quiz).await.len(), 2);
        assert_eq!(grade(&student, "Made").await, Some(json!("18.3333")), "the better one counts");
        let (status, refused) = send(&student, Method::POST, &format!("sam_pub/{quiz}/begin"), json!({})).await;
        assert_eq!(status, StatusCode::CONFLICT, "{refused}");
    }

    async fn the_last_attempt_counts_where_the_quiz_says_so(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY", "counted": "LAST", "startDate": at(10)})).await;
        app.advance(TimeDelta::seconds(10));
        for (answers, expected) in [(true, "18.3333"), (false, "0.0")] {
            let attempt = begin(&student, &quiz).await;
            let answers = if answers { nearly_right(&attempt) } else { json!({}) };
            act(&student, &attempt, "submit", answers).await;
            assert_eq!(grade(&student, "Made").await, Some(json!(expected)));
        }
    }

    async fn an_attempt_ends_with_its_time_and_counts_with_what_was_saved(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let me = id_of(&student).await;
        let fields = json!({"timeLimit": 60, "dueDate": at(90), "feedback": "AFTER_DUE", "submissionsAllowed": 2});
        let quiz = publish(&teacher, fields).await;
        let attempt = begin(&student, &quiz).await;
        assert_eq!(attempt["endsOn"], at(60));
        app.advance(TimeDelta::milliseconds(59_999));
        let (status, _) = act(&student, &attempt, "save", nearly_right(&attempt)).await;
        assert_eq!(status, StatusCode::OK, "a millisecond before the end");
        app.advance(TimeDelta::milliseconds(1));
        for action in ["save", "submit"] {
            let (status, refused) = act(&student, &attempt, action, json!({})).await;
            assert_eq!(status, StatusCode::CONFLICT, "{refused}");
        }
        let id = text(&attempt, "id");
        let path = format!("/direct/quiz-attempt/{id}.json");
        let over = read(&student, &path).await;
        assert_eq!((&over["finished"], &over["finishedOn"]), (&json!(true), &json!(at(60))));
        assert_eq!((&over["score"], &over["late"]), (&Value::Null, &json!(false)));
        let marked = read(&teacher, &path).await;
        assert_eq!(marked["score"], 18.3333);
        let sheet = student.get(&format!("/direct/quiz-attempt/{id}/take.html")).await;
        assert!(!sheet.expect(StatusCode::OK).text().contains("formaction"));

        let second = begin(&student, &quiz).await;
        assert_eq!((&second["number"], &second["endsOn"]), (&json!(2), &json!(at(90))), "the due date is sooner");
        app.advance(TimeDelta::seconds(30));
        let other = app.user("student2").await;
        let (status, _) = send(&other, Method::POST, &format!("sam_pub/{quiz}/begin"), json!({})).await;
        assert_eq!(status, StatusCode::CONFLICT, "it is due");
        assert_eq!(read(&student, &path).await["score"], 18.3333, "over for everybody");
        assert_eq!(gradebook_score(&teacher, "Made", &me).await, Value::Null, "nobody has told the gradebook");
        for _ in 0..2 {
            let (status, answer) = send(&teacher, Method::POST, &format!("sam_pub/{quiz}/collect"), json!({})).await;
            assert_eq!(status, StatusCode::OK, "{answer}");
            assert_eq!(gradebook_score(&teacher, "Made", &me).await, 18.3333);
            assert_eq!(grade(&student, "Made").await, Some(json!("18.3333")));
        }
        assert_eq!(read(&student, &path).await["finishedOn"], at(60));
    }

    async fn the_service_tells_the_gradebook_of_attempts_that_ended_by_themselves(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let me = id_of(&student).await;
        let quiz = publish(&teacher, json!({"timeLimit": 60, "feedback": "IMMEDIATELY"})).await;
        let attempt = begin(&student, &quiz).await;
        act(&student, &attempt, "save", nearly_right(&attempt)).await;
        app.advance(TimeDelta::milliseconds(59_999));
        app.service().sweep().await.expect("a sweep");
        assert_eq!(gradebook_score(&teacher, "Made", &me).await, Value::Null, "it lasts");
        let path = format!("/direct/quiz-attempt/{}.json", text(&attempt, "id"));
        assert_eq!(read(&student, &path).await["finished"], false);
        app.advance(TimeDelta::seconds(1));
        app.service().sweep().await.expect("a sweep");
        assert_eq!(gradebook_score(&teacher, "Made", &me).await, 18.3333);
        assert_eq!(grade(&student, "Made").await, Some(json!("18.3333")));
        let over = read(&student, &path).await;
        assert_eq!((&over["finished"], &over["finishedOn"]), (&json!(true), &json!(at(60))));
    }

    async fn a_quiz_that_cannot_be_collected_stops_neither_the_others_nor_the_sweep(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let me = id_of(&student).await;
        let fields = |title: &str| json!({"title": title, "timeLimit": 60, "feedback": "IMMEDIATELY"});
        let mut quizzes = Vec::new();
        for title in ["First", "Second", "Third"] {
            let quiz = publish(&teacher, fields(title)).await;
            let attempt = begin(&student, &quiz).await;
            act(&student, &attempt, "save", nearly_right(&attempt)).await;
            quizzes.push(quiz);
        }
        // No client gets that far: two items of the gradebook can't have the same title.
        let storage = &app.service().storage.content;
        for quiz in [&quizzes[0], &quizzes[2]] {
            let renamed = format!("UPDATE quiz SET title = 'Second' WHERE id = '{quiz}'");
            storage.writer.execute_unprepared(&renamed).await.expect("a row");
        }
        app.advance(TimeDelta::seconds(60));
        for _ in 0..2 {
            app.service().sweep().await.expect("a sweep");
            assert_eq!(gradebook_score(&teacher, "Second", &me).await, 18.3333);
            assert_eq!(gradebook_score(&teacher, "First", &me).await, Value::Null);
        }
        let first = format!("UPDATE quiz SET title = 'First' WHERE id = '{}'", quizzes[0]);
        storage.writer.execute_unprepared(&first).await.expect("a row");
        app.service().sweep().await.expect("a sweep");
        assert_eq!(gradebook_score(&teacher, "First", &me).await, 18.3333, "it was not given up");
    }

    async fn attempts_that_last_are_found_by_an_index(app: TestApp) {
        let connection = Connection::connect(app.database().url()).await.expect("it connects");
        let question = "SELECT quiz_id FROM quiz_attempt this \
            WHERE this.handed_in_on IS NULL AND this.quiz_id > '1' ORDER BY this.quiz_id";
        let (set_up, explain) = match connection.get_database_backend() {
            // With few rows PostgreSQL would rather read the table.
            DbBackend::Postgres => ("SET enable_seqscan = off", "EXPLAIN"),
            _ => ("SELECT 1", "EXPLAIN QUERY PLAN"),
        };
        let transaction = connection.begin().await.expect("a transaction");
        transaction.execute_unprepared(set_up).await.expect("a setting");
        let sql = format!("{explain} {question}");
        let statement = Statement::from_string(connection.get_database_backend(), sql);
        let lines = transaction.query_all_raw(statement).await.expect("a plan");
        let is_used = |it: &QueryResult| {
            let line = it.try_get::<String>("", "detail").or_else(|_| it.try_get_by_index(0));
            line.is_ok_and(|it| it.contains("quiz_attempt_unfinished"))
        };
        assert!(lines.iter().any(is_used), "{lines:?}");
    }

    async fn late_work_is_taken_as_the_quiz_says(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let dates = json!({"startDate": at(10), "dueDate": at(60), "retractDate": at(120), "lateHandling": 1});
        let quiz = publish(&teacher, dates).await;
        let path = format!("/direct/sam_pub/{quiz}.json");
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(read(&teacher, &path).await["status"], 2);
        app.advance(TimeDelta::seconds(10));
        assert_eq!(read(&student, &path).await["status"], 1);
        let attempt = begin(&student, &quiz).await;
        assert_eq!(attempt["endsOn"], at(120));
        app.advance(TimeDelta::seconds(51));
        let (_, done) = act(&student, &attempt, "submit", nearly_right(&attempt)).await;
        assert_eq!((&done["late"], &done["score"]), (&json!(true), &Value::Null));
        assert_eq!(begin(&app.user("student2").await, &quiz).await["late"], json!(false));
        app.advance(TimeDelta::seconds(59));
        student.get(&path).await.expect(StatusCode::NOT_FOUND);
        assert_eq!(read(&teacher, &path).await["status"], 3);
        let own = read(&student, &format!("/direct/quiz-attempt/{}.json", text(&attempt, "id"))).await;
        assert_eq!(own["score"], 18.3333, "results stay when the quiz is gone");
    }

    async fn an_extension_is_for_one_student(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let other = app.user("student2").await;
        let fields = json!({"timeLimit": 60, "dueDate": at(30), "retractDate": at(30), "submissionsAllowed": 1});
        let quiz = publish(&teacher, fields).await;
        let extension = json!({
            "quizId": quiz, "siteId": "biology-101", "userId": id_of(&student).await, "dueDate": at(500),
            "extraTime": 60, "extraAttempts": 1,
        });
        let answer = teacher.post("/direct/quiz-extension.json", &extension).await;
        let id = created(&answer, "quiz-extension");
        teacher.post("/direct/quiz-extension.json", &extension).await.expect(StatusCode::CONFLICT);
        let extension_path = format!("/direct/quiz-extension/{id}.json");
        assert_eq!(read(&student, &extension_path).await["extraTime"], 60);
        other.get(&extension_path).await.expect(StatusCode::NOT_FOUND);
        for (eid, status) in [("student1", StatusCode::FORBIDDEN), ("ta1", StatusCode::NOT_FOUND)] {
            let client = app.user(eid).await;
            let more = json!({"extraTime": 600});
            client.put(&extension_path, &more).await.expect(status);
        }

        assert_eq!(begin(&other, &quiz).await["endsOn"], at(30));
        assert_eq!(begin(&student, &quiz).await["endsOn"], at(120));
        app.advance(TimeDelta::seconds(30));
        let path = format!("/direct/sam_pub/{quiz}.json");
        other.get(&path).await.expect(StatusCode::NOT_FOUND);
        let attempt = begin(&student, &quiz).await;
        act(&student, &attempt, "submit", nearly_right(&attempt)).await;
        let before = attempts_of(&other).await;
        assert_eq!((&before["finished"], &before["released"]), (&json!(true), &json!(false)), "somebody still works on it");
        assert_eq!(begin(&student, &quiz).await["number"], 2);
        // An id that there is not, an external id, and somebody of another site.
        let admin = id_of(&app.user("admin").await).await;
        for stranger in ["nobody", "student1", &admin] {
            let stranger = json!({"quizId": quiz, "siteId": "biology-101", "userId": stranger});
            let refused = teacher.post("/direct/quiz-extension.json", &stranger).await;
            refused.expect(StatusCode::BAD_REQUEST);
            assert!(refused.text().contains("`userId` must be a member of the site"), "{}", refused.text());
        }
        app.advance(TimeDelta::seconds(470));
        assert_eq!(attempts_of(&other).await["released"], json!(true));
    }

    async fn two_at_once_count_once(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let quiz = publish(&teacher, json!({"feedback": "IMMEDIATELY", "submissionsAllowed": 1})).await;
        let begun = join_all((0..6).map(|_| begin(&student, &quiz))).await;
        assert!(begun.iter().all(|it| it["id"] == begun[0]["id"]));
        let answers = nearly_right(&begun[0]);
        let done = join_all((0..6).map(|_| act(&student, &begun[0], "submit", answers.clone()))).await;
        assert!(done.iter().all(|it| it.0 == StatusCode::OK && it.1 == done[0].1), "{done:?}");
        assert_eq!(attempts(&student, &quiz).await.len(), 1);
        let changes = list(&teacher, "/direct/gradebook-change.json?siteId=biology-101&_limit=0", "gradebook-change").await;
        let me = id_of(&student).await;
        let of_quiz = changes.iter().filter(|it| it["userId"] == me.as_str() && it.to_string().contains("18.3333"));
        assert_eq!(of_quiz.count(), 1);
    }
}

/// The only attempt of the student at a quiz with the title `Made`.
async fn attempts_of(student: &Client) -> Value {
    let all = list(
        student,
        "/direct/quiz-attempt.json?siteId=biology-101",
        "quiz-attempt",
    )
    .await;
    let found = all.into_iter().find(|it| it["quizTitle"] == "Made");
    found.expect("an attempt")
}
