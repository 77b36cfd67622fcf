//! `/direct/assignment` and `/direct/assignment-submission`

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Answer, Client, TestApp, both};

use super::{created, id_of, list, read, text};

const OF_BIOLOGY: &str = "/direct/assignment/site/biology-101.json";
const REPORT: &str = "Lab report: onion cells";

async fn find(client: &Client, title: &str) -> Value {
    let all = list(client, OF_BIOLOGY, "assignment").await;
    all.into_iter()
        .find(|it| it["title"] == title)
        .expect("the assignment")
}

fn sketch() -> Value {
    json!({
        "context": "biology-101", "title": "Sketch", "openTime": "2026-11-20T10:00:00Z",
        "dueTime": 1_796_436_929_000_i64, "closeTime": {"time": 1_796_436_929_000_i64},
        "gradeScale": "SCORE_GRADE_TYPE", "gradeScaleMaxPoints": "100", "resubmissions": -1,
    })
}

both! {
    async fn x23_the_demo_course_is_connected(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let dated = list(&teacher, "/direct/calendar/site/biology-101.json?firstDate=2000-01-01&lastDate=2100-01-01", "calendar").await;
        let book = read(&teacher, "/direct/gradebook/site/biology-101.json").await;
        let rows = book["assignments"].as_array().expect("rows");
        for assignment in list(&teacher, OF_BIOLOGY, "assignment").await {
            let (id, title) = (text(&assignment, "id"), text(&assignment, "title"));
            let is_dated = dated.iter().any(|it| it["assignmentId"] == id && it["title"] == title);
            let is_graded = rows.iter().any(|it| it["itemName"] == title);
            let is_shown = assignment["draft"] == false;
            assert_eq!((is_dated, is_graded), (is_shown, is_shown && !assignment["maxGradePoint"].is_null()), "{title}");
        }
        let deadlines = dated.iter().filter(|it| it["type"] == "Deadline");
        let quizzes = list(&teacher, "/direct/sam_pub/context/biology-101.json", "sam_pub").await;
        let is_of_quiz = |it: &Value| quizzes.iter().any(|quiz| quiz["title"] == it["title"]);
        let of_nothing = deadlines.filter(|it| it["assignmentId"].is_null() && !is_of_quiz(it));
        assert_eq!(of_nothing.count(), 0, "each deadline is that of something");
        let returned = rows.iter().filter(|it| it["itemName"] == "Essay: what is alive?" && it["grade"].is_string());
        assert_eq!(returned.count(), 2, "what was returned stands in the gradebook");
        let assistant = app.user("ta1").await;
        let graded = list(&assistant, "/direct/gradebook-score.json?siteId=biology-101", "gradebook-score").await;
        assert!(!graded.is_empty(), "the assistant grades a group");
    }

    async fn times_and_points_have_the_forms_that_clients_read(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let answer = teacher.post("/direct/assignment.json", &sketch()).await;
        let id = created(&answer, "assignment");
        let made = answer.json();
        let due = json!({"epochSecond": 1_796_436_929, "nano": 0, "time": 1_796_436_929_000_i64, "display": "Dec 5, 2026, 2:15 AM"});
        assert_eq!((&made["dueTime"], &made["dropDeadTime"]), (&due, &due));
        assert_eq!(made["dueTimeString"], "2026-12-05T02:15:29Z");
        assert_eq!((&made["gradeScaleMaxPoints"], &made["maxGradePoint"]), (&json!("100"), &json!("100")));
        assert_eq!((&made["status"], &made["allowResubmission"]), (&json!("OPEN"), &json!(true)));
        let path = format!("/direct/assignment/{id}.json");
        teacher.put(&path, &made).await.expect(StatusCode::NO_CONTENT);
        assert_eq!(read(&teacher, &path).await, made);
    }

    async fn a_deep_link_tells_where_an_assignment_is(app: TestApp) {
        let student = app.user("student1").await;
        let id = text(&find(&student, REPORT).await, "id");
        student.get(&format!("/direct/assignment/deepLink/field-trip/{id}.json")).await.expect(StatusCode::NOT_FOUND);
        let link = read(&student, &format!("/direct/assignment/deepLink/biology-101/{id}.json")).await;
        assert_eq!((&link["assignmentId"], &link["assignmentContext"]), (&json!(id), &json!("biology-101")));
        for action in ["annc", "deepLinkWithPermissions"] {
            let path = format!("/direct/assignment/{action}/biology-101/{id}.json");
            assert_eq!(read(&student, &path).await, link, "{action}");
        }
        let path = format!("/direct/assignment/deepLinkWithPermissions/biology-101/{id}.json?allowAddAssignment=true");
        assert!(text(&read(&student, &path).await, "assignmentUrl").ends_with(&format!("/{id}/edit")));
    }

    async fn graders_ask_for_work_by_its_names(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let id = text(&find(&teacher, REPORT).await, "id");
        for action in ["gradable", "itemSubmission", "getGrade", "fullSubmissions"] {
            teacher.get(&format!("/direct/assignment/{action}.json")).await.expect(StatusCode::BAD_REQUEST);
        }
        let all = read(&teacher, &format!("/direct/assignment/gradable.json?gradableId={id}")).await;
        assert_eq!(all["submissions"].as_array().map(Vec::len), Some(3));
        let own = read(&student, &format!("/direct/assignment/itemSubmission.json?gradableId={id}")).await;
        let work = text(&own["submissions"][0], "id");
        let one = read(&teacher, &format!("/direct/assignment/gradable.json?gradableId={id}&submissionId={work}")).await;
        assert_eq!(one["submissions"].as_array().map(Vec::len), Some(1));
        let works: Vec<String> = all["submissions"].as_array().expect("a list").iter().map(|it| text(it, "id")).collect();
        let full = format!("/direct/assignment/fullSubmissions.json?gradableId={id}&submissionIds={},nothing", works.join(","));
        assert_eq!(read(&teacher, &full).await["submissions"].as_array().map(Vec::len), Some(3));
        let seen = read(&student, &full).await;
        assert_eq!((seen["submissions"].as_array().map(Vec::len), text(&seen["submissions"][0], "id")), (Some(1), work.clone()));
        let path = format!("/direct/assignment/getGrade.json?gradableId={id}&submissionId={work}");
        assert_eq!(read(&teacher, &path).await["grade"], "91");
        assert_eq!(read(&student, &path).await["grade"], Value::Null);
    }

    async fn x29_graders_who_name_no_work_are_told_what_to_name(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let id = text(&find(&teacher, REPORT).await, "id");
        for action in ["itemSubmission", "getGrade"] {
            let path = format!("/direct/assignment/{action}.json?gradableId={id}");
            let refused = teacher.get(&path).await;
            refused.expect(StatusCode::BAD_REQUEST);
            assert_eq!(refused.json()["error"]["fields"][0]["name"], "studentId", "{action}");
            student.get(&path).await.expect(StatusCode::OK);
        }
    }

    async fn x29_a_score_above_the_points_has_one_rule(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let id = created(&teacher.post("/direct/assignment.json", &sketch()).await, "assignment");
        let student = id_of(&app.user("student9").await).await;
        let items = list(&teacher, "/direct/gradebook-item.json?siteId=biology-101&name=Herbarium", "gradebook-item").await;
        for (points, status) in [("1000", true), ("-1", false), ("10000000001", false)] {
            let grade = json!({"gradableId": id, "studentId": student, "grade": points});
            let graded = teacher.post("/direct/assignment/setGrade.json", &grade).await;
            let points: f64 = points.parse().expect("a number");
            let score = json!({"siteId": "biology-101", "itemId": items[0]["itemId"], "userId": student, "score": points});
            let scored = teacher.post("/direct/gradebook-score.json", &score).await;
            let taken = (graded.status.is_success(), scored.status.is_success());
            assert_eq!(taken, (status, status), "{points}");
            if !status {
                let name = |answer: &Answer| answer.json()["error"]["fields"][0]["name"].take();
                assert_eq!((name(&graded), name(&scored)), (json!("grade"), json!("score")), "{points}");
            }
        }
    }

    async fn x30_a_doubled_title_is_refused_by_the_name_that_was_sent(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let mut fields = sketch();
        fields["title"] = json!("Herbarium");
        fields["inGradebook"] = json!(true);
        let refused = teacher.post("/direct/assignment.json", &fields).await;
        refused.expect(StatusCode::CONFLICT);
        assert_eq!(refused.json()["error"]["fields"][0]["name"], "title");
    }

    async fn work_is_handed_in_graded_and_returned(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let id = created(&teacher.post("/direct/assignment.json", &sketch()).await, "assignment");
        let path = format!("/direct/assignment/{id}");
        let submit = format!("{path}/submit.json");
        student.post(&submit, &json!({"submittedText": "<p>A cell</p><script>x()</script>"})).await.expect(StatusCode::OK);
        let work = read(&student, &format!("{path}.json")).await["submissions"][0].take();
        assert_eq!(work["submittedText"], "<p>A cell</p>");
        let work = text(&work, "id");
        let grade = json!({"gradableId": id, "submissionId": work, "grade": "77", "feedbackComment": "<p>Good</p><img src=x onerror=x()>"});
        teacher.post("/direct/assignment/setGrade.json", &json!({})).await.expect(StatusCode::BAD_REQUEST);
        let answer = teacher.post("/direct/assignment/setGrade.json", &grade).await;
        answer.expect(StatusCode::OK);
        assert_eq!(answer.json()["submissions"][0]["grade"], "77");
        let shown = read(&student, &format!("/direct/assignment-submission/{work}.json")).await;
        assert_eq!((&shown["grade"], &shown["feedbackComment"]), (&Value::Null, &Value::Null));
        let back = format!("/direct/assignment-submission/{work}/return.json");
        teacher.post(&back, &json!({})).await.expect(StatusCode::OK);
        let shown = read(&student, &format!("/direct/assignment-submission/{work}.json")).await;
        assert_eq!((&shown["grade"], &shown["status"]), (&json!("77"), &json!("Returned")));
        let form = "submittedText=Again";
        student.post_form(&format!("{path}/submit"), form).await.expect(StatusCode::OK);
        let shown = read(&student, &format!("/direct/assignment-submission/{work}.json")).await;
        assert_eq!((&shown["grade"], &shown["submittedText"]), (&Value::Null, &json!("Again")));
    }

    async fn graders_are_told_who_has_handed_in(app: TestApp) {
        let teacher = app.user("instructor1").await;
        let id = text(&find(&teacher, "Lab report: onion cells").await, "id");
        let path = format!("/direct/assignment/{id}/overview");
        let told = read(&teacher, &format!("{path}.json")).await;
        let members = list(&teacher, "/direct/membership/site/biology-101.json?_limit=1000", "membership").await;
        let students = members.iter().filter(|it| it["memberRole"] == "Student" && it["active"] != false).count();
        let numbers = ["students", "handedIn", "late", "toGrade", "returned"].map(|it| told[it].clone());
        assert_eq!(json!(numbers), json!([students, 2, 0, 1, 0]), "{told}");
        let missing = told["missing"].as_array().expect("a list");
        assert_eq!(missing.len(), students - 2);
        let begun: Vec<_> = missing.iter().filter(|it| it["hasBegun"] == true).collect();
        assert_eq!((begun.len(), &begun[0]["displayName"]), (1, &json!("Carla Jiménez")));
        let sorted = missing.iter().map(|it| text(it, "displayName").split(' ').next_back().map(str::to_owned));
        assert!(sorted.is_sorted(), "{missing:?}");
        // The work that a group has is asked of its members alone.
        let groups = read(&teacher, "/direct/site/biology-101.json?includeGroups=true").await["siteGroups"].clone();
        let group = groups.as_array().expect("groups").iter().find(|it| it["title"] == "Lab A").expect("Lab A").clone();
        let mut fields = sketch();
        fields["groups"] = json!([group["id"]]);
        let made = created(&teacher.post("/direct/assignment", &fields).await, "assignment");
        let told = read(&teacher, &format!("/direct/assignment/{made}/overview.json")).await;
        assert!(told["students"] != students && told["students"] != 0, "{told}");
    }

    async fn hostile_input_is_refused(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        for (name, value) in [
            ("dueTime", json!(i64::MAX)),
            ("dueTime", json!("0000-00-00T00:00:00Z")),
            ("resubmissions", json!(1e300)),
            ("gradeScaleMaxPoints", json!("9".repeat(300))),
            ("attachments", json!([{"name": "a", "url": "javascript:alert(1)"}])),
        ] {
            let mut fields = sketch();
            fields[name] = value;
            let answer = teacher.post("/direct/assignment.json", &fields).await;
            assert!(answer.status.is_client_error(), "{name}: {}", answer.status);
        }
        let id = text(&find(&student, REPORT).await, "id");
        for body in [json!({"submittedText": 5}), json!({"draft": "maybe"}), json!({"nothing": 1}), json!({"submittedAttachments": [[]]})] {
            let answer = student.post(&format!("/direct/assignment/{id}/submit.json"), &body).await;
            answer.expect(StatusCode::BAD_REQUEST);
        }
        for body in [json!({"gradableId": 5}), json!({"gradableId": id, "studentId": "x", "grade": "1"}), json!({"gradableId": id, "submissionId": ["x"]})] {
            teacher.post("/direct/assignment/setGrade.json", &body).await.expect(StatusCode::BAD_REQUEST);
        }
    }

    async fn authz_3_a_deadline_tells_of_no_assignment_that_is_not_open(app: TestApp) {
        let (teacher, student) = (app.user("instructor1").await, app.user("student1").await);
        let mut fields = sketch();
        fields["title"] = json!("Zq to come");
        fields["openTime"] = json!("2026-11-22T10:00:00Z");
        fields["inCalendar"] = json!(true);
        created(&teacher.post("/direct/assignment.json", &fields).await, "assignment");
        let calendar = "/direct/calendar/site/biology-101.json";
        for path in [calendar, "/direct/calendar.json?siteId=biology-101", "/direct/calendar.ics", "/api/users/me/calendar"] {
            assert!(!student.get(path).await.text().contains("Zq to come"), "{path}");
        }
        assert!(teacher.get(calendar).await.text().contains("Zq to come"));
        app.advance(chrono::TimeDelta::days(1));
        let student = app.user("student1").await;
        assert!(student.get(calendar).await.text().contains("Zq to come"));
    }
}
