//! `/direct/sam_pub`, `/direct/quiz-question`, `/direct/quiz-attempt` and `/direct/quiz-extension`

mod made;
mod secrecy;
mod taking;
mod typed;

use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

use super::{created, id_of, list, read, text};

const OF_BIOLOGY: &str = "/direct/sam_pub/context/biology-101.json";
const OPEN: &str = "Quiz: parts of the cell";
const OVER: &str = "Quiz: before the first lab";
const DRAFT: &str = "Quiz: inheritance";

/// The quiz of the demo university with this title, as `client` sees it in the list of its site.
async fn find(client: &Client, title: &str) -> Option<Value> {
    let all = list(client, OF_BIOLOGY, "sam_pub").await;
    all.into_iter().find(|it| it["title"] == title)
}

fn titles(quizzes: &[Value]) -> Vec<&str> {
    quizzes
        .iter()
        .map(|it| it["title"].as_str().expect("a title"))
        .collect()
}

/// The attempts at a quiz that `client` sees.
async fn attempts(client: &Client, quiz: &str) -> Vec<Value> {
    let path = format!("/direct/quiz-attempt/sam_pub/{quiz}.json");
    list(client, &path, "quiz-attempt").await
}

both! {
    async fn a_quiz_is_listed_by_each_name_of_its_site(app: TestApp) {
        for (eid, count) in [("student1", 2), ("instructor1", 3)] {
            let client = app.user(eid).await;
            for path in [
                OF_BIOLOGY,
                "/direct/sam_pub.json?context=biology-101",
                "/direct/sam_pub.json?siteId=biology-101",
                "/direct/sam_pub.json?ownerSiteId=biology-101",
            ] {
                let quizzes = list(&client, path, "sam_pub").await;
                assert_eq!(quizzes.len(), count, "{eid} {path}");
                for quiz in &quizzes {
                    let id = quiz["publishedAssessmentId"].as_i64().expect("a number");
                    assert!(i32::try_from(id).is_ok(), "{id} is no 32-bit number");
                    assert_eq!(quiz["entityId"], id.to_string());
                    assert_eq!(quiz["entityReference"], format!("/sam_pub/{id}"));
                    assert_eq!(quiz["releaseTo"], "Biology 101: Cells and Life");
                    assert_eq!(&read(&client, &format!("/direct/sam_pub/{id}.json")).await, quiz);
                    let by_number = format!("/direct/sam_pub.json?siteId=biology-101&publishedAssessmentId={id}");
                    assert_eq!(list(&client, &by_number, "sam_pub").await.len(), 1);
                }
            }
        }
    }

    async fn lists_are_empty_without_a_site_and_of_somebody_else(app: TestApp) {
        let student = app.user("student1").await;
        let id = id_of(&student).await;
        for path in [
            "/direct/sam_pub.json",
            "/direct/sam_pub/context/nowhere.json",
            "/direct/sam_pub.json?context=nowhere",
            "/direct/sam_pub.json?context=biology-101&userId=somebody",
        ] {
            assert_eq!(list(&student, path, "sam_pub").await, Vec::<Value>::new(), "{path}");
        }
        let own = format!("/direct/sam_pub.json?context=biology-101&userId={id}");
        assert_eq!(list(&student, &own, "sam_pub").await.len(), 2);
    }

    async fn the_demo_university_has_a_quiz_of_each_kind(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        assert_eq!(titles(&list(&teacher, OF_BIOLOGY, "sam_pub").await), [OVER, OPEN, DRAFT]);
        assert_eq!(titles(&list(&student, OF_BIOLOGY, "sam_pub").await), [OVER, OPEN]);
        let over = text(&find(&student, OVER).await.expect("the quiz"), "id");
        let own = attempts(&student, &over).await;
        assert_eq!(own.len(), 1);
        assert_eq!((&own[0]["released"], &own[0]["score"]), (&json!(true), &json!(10.0)));
        let id = text(&own[0], "id");
        let whole = read(&student, &format!("/direct/quiz-attempt/{id}.json")).await;
        for asked in whole["questions"].as_array().expect("a list") {
            assert_eq!(asked["correct"], asked["answer"]);
            assert_eq!(asked["score"], 5.0);
        }
        let all = attempts(&teacher, &over).await;
        let mut scores: Vec<_> = all.iter().map(|it| it["score"].as_f64()).collect();
        scores.sort_by(|one, other| one.partial_cmp(other).expect("numbers"));
        assert_eq!(scores, [Some(2.5), Some(5.0), Some(10.0)]);
    }
}

/// Sends `body` and returns the status with the answer.
async fn send(client: &Client, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
    let path = format!("/direct/{path}");
    let answer = client
        .send(method, &path, "application/json", body.to_string().into())
        .await;
    let status = answer.status;
    let json = serde_json::from_str(answer.text()).unwrap_or(Value::Null);
    (status, json)
}

/// Makes a quiz in the biology course with these fields and one question of each kind, and publishes it.
async fn publish(teacher: &Client, fields: Value) -> String {
    let id = draft(teacher, fields).await;
    let (status, answer) = send(
        teacher,
        Method::POST,
        &format!("sam_pub/{id}/publish"),
        json!({}),
    )
    .await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(
        (&answer["draft"], &answer["totalScore"]),
        (&json!(false), &json!(20.0))
    );
    id
}

async fn draft(teacher: &Client, fields: Value) -> String {
    let mut quiz = json!({"ownerSiteId": "biology-101", "title": "Made"});
    let fields = fields.as_object().expect("an object").clone();
    quiz.as_object_mut().expect("an object").extend(fields);
    let answer = teacher.post("/direct/sam_pub.json", &quiz).await;
    let id = created(&answer, "sam_pub");
    for question in [
        json!({"kind": "ONE", "text": "Largest planet?", "choices": ["Mars", "Jupiter", "Venus"],
            "correct": ["Jupiter"], "feedback": "<p>Canary of feedback</p>"}),
        json!({"kind": "SEVERAL", "text": "Gas giants?", "choices": ["Saturn", "Earth", "Uranus", "Mercury", "Neptune"],
            "correct": ["Saturn", "Uranus", "Neptune"]}),
        json!({"kind": "TRUE_FALSE", "text": "The sun is a star.", "correct": ["true"]}),
        json!({"kind": "NUMERIC", "text": "Years of a Pluto year?", "correct": ["247.94"], "tolerance": 0.5}),
    ] {
        let mut question = question;
        question["quizId"] = json!(id);
        question["siteId"] = json!("biology-101");
        question["points"] = json!(5);
        let answer = teacher.post("/direct/quiz-question.json", &question).await;
        created(&answer, "quiz-question");
    }
    id
}

/// The ids of the questions of the attempt, in order.
fn asked(attempt: &Value) -> Vec<String> {
    let questions = attempt["questions"].as_array().expect("a list").iter();
    questions.map(|it| text(it, "questionId")).collect()
}

/// Begins an attempt, or goes on with the one that is running.
async fn begin(student: &Client, quiz: &str) -> Value {
    let path = format!("sam_pub/{quiz}/begin");
    let (status, begun) = send(student, Method::POST, &path, json!({})).await;
    assert_eq!(status, StatusCode::OK, "{begun}");
    let id = text(&begun, "attemptId");
    let attempt = read(student, &format!("/direct/quiz-attempt/{id}.json")).await;
    assert_eq!(
        (&begun["attemptUrl"], &begun["number"]),
        (&attempt["entityURL"], &attempt["number"])
    );
    assert_eq!(begun["endsOn"], attempt["endsOn"]);
    attempt
}

async fn act(
    student: &Client,
    attempt: &Value,
    action: &str,
    answers: Value,
) -> (StatusCode, Value) {
    let path = format!("quiz-attempt/{}/{action}", text(attempt, "id"));
    send(student, Method::POST, &path, json!({"answers": answers})).await
}

/// Everything right but two of the three gas giants: 5 + 3.3333 + 5 + 5 points.
fn nearly_right(attempt: &Value) -> Value {
    let ids = asked(attempt);
    json!({ids[0].as_str(): "Jupiter", ids[1].as_str(): ["Saturn", "Uranus"], ids[2].as_str(): true, ids[3].as_str(): "248.44"})
}

/// An instant so many seconds from the one at which the service of the tests starts.
fn at(seconds: i64) -> i64 {
    1_795_255_200_000 + seconds * 1000
}
