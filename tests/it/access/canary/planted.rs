//! Entities that are hidden for a time, or beside another: planted through the service, together with their effects.

use bytes::Bytes;
use chrono::TimeDelta;
use http::Method;
use serde_json::{Value, json};
use tests::{Answer, Client};

use super::Aviary;
use crate::access::world::World;

/// A teacher who plants, and the paths to read afterwards.
struct Planter<'a> {
    teacher: &'a Client,
    site: &'a str,
    paths: Vec<String>,
}

impl Planter<'_> {
    /// Makes an entity, and returns its id.
    async fn make(&mut self, kind: &str, fields: Value) -> String {
        let answer = self
            .teacher
            .post(&format!("/direct/{kind}.json"), &fields)
            .await;
        let id = done(&answer).header("entityid").expect("an id").to_owned();
        for format in super::FORMATS {
            self.paths.push(format!("/direct/{kind}/{id}.{format}"));
        }
        id
    }

    /// Sends bytes, and returns what is told of the file.
    async fn send(&mut self, action: &str, name: &str, bytes: &str) -> Value {
        let path = format!("/direct/content/{action}/{}?name={name}", self.site);
        let bytes = Bytes::copy_from_slice(bytes.as_bytes());
        let sent = self
            .teacher
            .send(Method::POST, &path, "text/plain", bytes)
            .await;
        match done(&sent).header("entityid") {
            Some(id) => {
                let path = format!("/direct/content/{id}.json");
                done(&self.teacher.get(&path).await).json()
            }
            None => sent.json(),
        }
    }

    /// Lets a file be asked for at its address.
    fn ask_for(&mut self, file: &Value) {
        let address = file["url"].as_str().expect("an address");
        let (_, path) = address.split_once("/access/").expect("our own");
        self.paths.push(format!("/access/{path}"));
    }
}

/// These fields and some more.
fn with(mut fields: Value, further: &Value) -> Value {
    let further = further.as_object().expect("an object").clone();
    fields.as_object_mut().expect("an object").extend(further);
    fields
}

fn done(answer: &Answer) -> &Answer {
    assert!(
        answer.status.is_success(),
        "{}: {}",
        answer.status,
        answer.text()
    );
    answer
}

/// Plants everything, and returns the addresses of it.
pub(super) async fn all(world: &World, aviary: &mut Aviary) -> Vec<String> {
    let teacher = world.callers.iter().find(|it| it.name == "instructor");
    let mut planter = Planter {
        teacher: &teacher.expect("an instructor").client,
        site: &world.sites["course"],
        paths: Vec::new(),
    };
    let student = &world.people["student"].id;
    deadlines(world, aviary, &mut planter).await;
    grades(aviary, &mut planter, student).await;
    files(aviary, &mut planter).await;
    lessons(aviary, &mut planter).await;
    forums(aviary, &mut planter).await;
    work(world, aviary, &mut planter).await;
    planter.paths
}

/// Plants assignments that are hidden in each way there is, and due the day after tomorrow, with their events in the
/// calendar and their items in the gradebook.
async fn deadlines(world: &World, aviary: &mut Aviary, planter: &mut Planter<'_>) {
    let now = world.app.service().now();
    let at = |days| (now + TimeDelta::days(days)).to_rfc3339();
    for (state, hiding) in [
        ("to come", json!({"openTime": at(1)})),
        ("draft", json!({"draft": true})),
        ("foreign", json!({"groups": ["foreign"]})),
    ] {
        let (title, text) = (
            aviary.word("assignment", state),
            aviary.word("assignment", state),
        );
        let fields = json!({
            "context": planter.site, "title": title, "instructions": text, "openTime": at(-1), "dueTime": at(2),
            "closeTime": at(3), "inCalendar": true, "inGradebook": true, "gradeScale": "SCORE_GRADE_TYPE",
            "gradeScaleMaxPoints": "10",
        });
        planter.make("assignment", with(fields, &hiding)).await;
        let title = aviary.word("conversations", state);
        let hiding = match state {
            "to come" => json!({"showDate": at(1)}),
            "foreign" => json!({"visibility": "GROUP", "groups": ["foreign"]}),
            _ => hiding,
        };
        let fields = json!({
            "siteId": planter.site, "title": title, "message": title, "type": "QUESTION", "dueDate": at(2),
        });
        planter.make("conversations", with(fields, &hiding)).await;
    }
    for (state, start, retract) in [("to come", Some(at(1)), None), ("over", None, Some(at(-1)))] {
        let title = aviary.word("sam_pub", state);
        let fields = json!({
            "ownerSiteId": planter.site, "title": title, "startDate": start.clone(), "dueDate": retract.clone().unwrap_or_else(|| at(2)), "retractDate": retract,
            "inCalendar": true, "inGradebook": start.is_some(),
        });
        let quiz = planter.make("sam_pub", fields).await;
        let (text, right) = (
            aviary.word("quiz-question", state),
            aviary.word("quiz-question", "right answer"),
        );
        let question = json!({
            "siteId": planter.site, "quizId": quiz, "text": text, "kind": "ONE", "choices": [right, "x"],
            "correct": [right], "points": 1,
        });
        planter.make("quiz-question", question).await;
        let path = format!("/direct/sam_pub/{quiz}/publish.json");
        done(&planter.teacher.post(&path, &json!({})).await);
    }
    let title = aviary.word("announcement", "deleted");
    let news = json!({"siteId": planter.site, "title": title, "body": title});
    let id = planter.make("announcement", news).await;
    done(
        &planter
            .teacher
            .delete(&format!("/direct/announcement/{id}"))
            .await,
    );
}

/// An item that is not released, with a score and a comment.
async fn grades(aviary: &mut Aviary, planter: &mut Planter<'_>, student: &str) {
    let (name, comment) = (
        aviary.word("gradebook-item", "unreleased"),
        aviary.word("gradebook-score", "unreleased"),
    );
    let fields = json!({"siteId": planter.site, "name": name, "points": 10, "released": false});
    let item = planter.make("gradebook-item", fields).await;
    let score = json!({"siteId": planter.site, "itemId": item, "userId": student, "score": 5, "comment": comment});
    planter.make("gradebook-score", score).await;
    let site = planter.site;
    for format in super::FORMATS {
        planter
            .paths
            .push(format!("/direct/gradebook/site/{site}.{format}"));
        planter.paths.push(format!("/direct/gradebook/my.{format}"));
    }
    planter
        .paths
        .push(format!("/direct/gradebook/export/{site}"));
}

/// A file in a folder that is hidden, and one that is attached to a draft.
async fn files(aviary: &mut Aviary, planter: &mut Planter<'_>) {
    let (folder, name, bytes) = (
        aviary.word("content", "hidden"),
        aviary.word("content", "below"),
        aviary.word("content", "bytes"),
    );
    let fields = json!({"siteId": planter.site, "title": folder, "hidden": true});
    let id = planter.make("content", fields).await;
    let action = planter.send("upload", &format!("{name}.txt"), &bytes).await;
    let file = action["id"].as_str().expect("an id").to_owned();
    let moved = json!({"folderId": id});
    done(
        &planter
            .teacher
            .post(&format!("/direct/content/{file}/move"), &moved)
            .await,
    );
    let path = format!("/direct/content/{file}.json");
    let item = planter.teacher.get(&path).await.json();
    planter.ask_for(&item);
    planter.paths.push(path);
    let (name, bytes) = (
        aviary.word("content", "attached"),
        aviary.word("content", "attached"),
    );
    let file = planter
        .send("attachment", &format!("{name}.txt"), &bytes)
        .await;
    planter.ask_for(&file);
    let word = aviary.word("announcement", "draft");
    let news = json!({"siteId": planter.site, "title": word, "draft": true, "attachments": [file]});
    planter.make("announcement", news).await;
}

/// A page below one that is hidden, with a text and a checklist.
async fn lessons(aviary: &mut Aviary, planter: &mut Planter<'_>) {
    let (above, below) = (
        aviary.word("lessons", "hidden"),
        aviary.word("lessons", "below"),
    );
    let site = planter.site;
    let fields = json!({"siteId": site, "lessonTitle": above, "hidden": true, "description": above, "gradebookPoints": 5});
    let page = planter.make("lessons", fields).await;
    let fields =
        json!({"siteId": site, "lessonTitle": below, "parentId": page, "gradebookPoints": 5});
    let page = planter.make("lessons", fields).await;
    let (text, entry) = (
        aviary.word("lesson-item", "below"),
        aviary.word("lesson-item", "entry"),
    );
    for fields in [
        json!({"siteId": site, "lessonId": page, "kind": "text", "html": text}),
        json!({"siteId": site, "lessonId": page, "kind": "checklist", "name": text, "entries": [{"name": entry}]}),
    ] {
        planter.make("lesson-item", fields).await;
    }
    planter
        .paths
        .push(format!("/direct/lessons/lesson/{page}.json?fullTree=true"));
}

/// A draft of a forum and one of a topic, each with a message, and a message of somebody who has to be answered first.
async fn forums(aviary: &mut Aviary, planter: &mut Planter<'_>) {
    let site = planter.site;
    for (state, is_closed, is_draft, is_first) in [
        ("in a draft", true, false, false),
        ("in a draft of a topic", false, true, false),
        ("behind a first answer", false, false, true),
    ] {
        let title = match is_closed {
            true => aviary.word("forums", state),
            false => "A forum".to_owned(),
        };
        let fields = json!({
            "siteId": site, "title": title, "shortDescription": title, "isDraft": is_closed,
        });
        let forum = planter.make("forums", fields).await;
        let title = match is_first {
            true => "A topic".to_owned(),
            false => aviary.word("forums-topic", state),
        };
        let fields = json!({
            "siteId": site, "forum": forum, "title": title, "extendedDescription": title, "isDraft": is_draft,
            "isPostFirst": is_first,
        });
        let topic = planter.make("forums-topic", fields).await;
        let (title, body) = (
            aviary.word("forums-message", state),
            aviary.word("forums-message", state),
        );
        let fields = json!({"siteId": site, "topic": topic, "title": title, "body": body});
        let message = planter.make("forums-message", fields).await;
        for path in [
            format!("forum/{forum}"),
            format!("topic/{topic}"),
            format!("message/{message}"),
        ] {
            planter.paths.push(format!("/direct/forums/{path}.json"));
        }
    }
}

/// Feedback and a grade that are not returned, for work of the student.
async fn work(world: &World, aviary: &mut Aviary, planter: &mut Planter<'_>) {
    let student = world
        .callers
        .iter()
        .find(|it| it.name == "student")
        .expect("a student");
    let subject = world.lasting("assignment-submission", "own", student).await;
    let path = format!("/direct/assignment-submission/{}", subject.id);
    let kind = "assignment-submission";
    let feedback = json!({
        "feedbackText": aviary.word(kind, "not returned"), "feedbackComment": aviary.word(kind, "not returned"),
        "privateNotes": aviary.word(kind, "notes"), "returned": false,
    });
    done(&planter.teacher.put(&path, &feedback).await);
    for format in super::FORMATS {
        planter.paths.push(format!("{path}.{format}"));
    }
}
