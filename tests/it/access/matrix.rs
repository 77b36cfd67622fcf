//! Asks for everything that the policy speaks of, as everybody.

use axum::body::Body;
use http::Request;
use http::header::CONTENT_TYPE;
use tests::{Answer, Client, TestApp, both};

use super::answers;
use super::digest::{Witness, difference};
use super::policy::{self, Expected, Line};
use super::requests::{self, Question};
use super::subject::Subject;
use super::world::{Caller, World};

/// A matrix that has shrunk to this has lost its meaning.
const FEWEST_QUESTIONS: usize = 10_000;

both! {
    async fn everybody_is_answered_as_the_policy_says(app: TestApp) {
        let witness = Witness::of(app.database()).await;
        let world = World::new(app).await;
        let mut run = Run { world, witness, questions: 0, complaints: Vec::new() };
        for line in policy::lines() {
            run.line(&line).await;
        }
        let Run { questions, complaints, .. } = run;
        assert!(
            complaints.is_empty(),
            "{} of {questions}:\n{}\n",
            complaints.len(),
            complaints.join("\n")
        );
        assert!(questions >= FEWEST_QUESTIONS, "only {questions} questions were asked");
    }
}

struct Run {
    world: World,
    witness: Witness,
    questions: usize,
    complaints: Vec<String>,
}

/// What is asked, by whom, and what the policy says.
struct Case<'a> {
    line: &'a Line,
    state: &'a str,
    operation: &'a str,
    caller: &'a Caller,
    expected: Expected,
}

impl Run {
    async fn line(&mut self, line: &Line) {
        for state in &line.states {
            for operation in &line.operations {
                for caller in self.world.callers.clone() {
                    let case = Case {
                        line,
                        state,
                        operation,
                        expected: line.expected[caller.column],
                        caller: &caller,
                    };
                    self.case(&case).await;
                }
            }
        }
    }

    async fn case(&mut self, case: &Case<'_>) {
        let is_refused = matches!(case.expected, Expected::Refusal(_));
        let Case {
            line,
            state,
            operation,
            caller,
            ..
        } = case;
        if requests::is_write(operation) && !is_refused {
            // What may happen does, each time to something else.
            let fresh = self.world.fresh(line.kind, state, caller).await;
            let number = requests::of(line.kind, operation, &fresh, caller).len();
            for index in 0..number {
                let subject = match index {
                    0 => fresh.clone(),
                    _ => self.world.fresh(line.kind, state, caller).await,
                };
                let question =
                    requests::of(line.kind, operation, &subject, caller).swap_remove(index);
                self.ask(case, &subject, &question).await;
            }
            return;
        }
        let subject = self.world.lasting(line.kind, state, caller).await;
        let before = self.witness.digest().await;
        for question in requests::of(line.kind, operation, &subject, caller) {
            let is_page = case.expected == Expected::Refusal(409)
                && question.body.is_none()
                && question.paths[0].contains(".html");
            if !is_page {
                self.ask(case, &subject, &question).await;
            }
        }
        let after = self.witness.digest().await;
        for table in difference(&before, &after) {
            self.complaints
                .push(format!("{}: the table {table} changed", case.name()));
        }
    }

    async fn ask(&mut self, case: &Case<'_>, subject: &Subject, question: &Question) {
        self.questions += 1;
        let client = subject.client.as_ref().unwrap_or(&case.caller.client);
        let mut answers = Vec::new();
        for path in &question.paths {
            answers.push(send(client, question, path).await);
        }
        let is_lenient = case.line.is_of_reading();
        let complaint = answers::complaint(
            case.expected,
            is_lenient,
            question,
            &subject.marker,
            &answers,
        );
        self.complaints.extend(complaint.map(|it| {
            let body = question.body.as_ref().map_or("", |it| it.1.as_str());
            format!(
                "{}: {} {} {body}: {it}",
                case.name(),
                question.method,
                question.paths[0]
            )
        }));
    }
}

impl Case<'_> {
    fn name(&self) -> String {
        let Self {
            line,
            state,
            operation,
            caller,
            ..
        } = self;
        format!("{} {state} {operation} {}", line.kind, caller.name)
    }
}

async fn send(client: &Client, question: &Question, path: &str) -> Answer {
    let mut request = Request::builder().method(question.method.clone()).uri(path);
    let mut body = Body::empty();
    if let Some((media_type, text)) = &question.body {
        request = request.header(CONTENT_TYPE, *media_type);
        body = Body::from(text.clone());
    }
    let request = request.body(body).expect("a request that can be sent");
    client.try_send(request).await.expect("an answer")
}
