//! Asks for everything that the policy speaks of, as everybody.

use axum::body::Body;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use tests::{Answer, Backend, Client, TestApp, both, is_full, say};

use super::answers;
use super::digest::{Witness, difference};
use super::policy::{self, Expected, Line};
use super::rehearsed;
use super::requests::{self, Question};
use super::subject::Subject;
use super::world::{Caller, World};

/// The parts of the policy that are asked for together, each with the fewest questions that make sense of it.
const ANNOUNCEMENTS: Part = (&["announcement"], 6_000);
const EVENTS: Part = (&["calendar"], 2_000);
const SITES: Part = (&["site"], 1_500);
const ASSIGNMENTS: Part = (&["assignment", "assignment-submission"], 2_000);
const QUIZZES: Part = (
    &["sam_pub", "quiz-question", "quiz-attempt", "quiz-extension"],
    2_000,
);
const LESSONS: Part = (&["lessons", "lesson-item", "lesson-progress"], 2_000);
const FORUMS: Part = (
    &["forums", "forums-topic", "forums-message", "forums-read"],
    2_000,
);
const POLLS: Part = (&["poll", "poll-option", "poll-vote"], 1_000);
const CONVERSATIONS: Part = (
    &[
        "conversations",
        "conversations-post",
        "conversations-comment",
        "conversations-mark",
        "conversations-tag",
        "conversations-settings",
        "conversations-agreement",
    ],
    2_000,
);
const SYLLABI: Part = (&["syllabus", "syllabus-redirect"], 1_000);
const FILES: Part = (&["content"], 1_000);
const CHATS: Part = (&["chat-channel", "chat-message"], 1_000);
const ADDRESSES: Part = (&["webcontent", "news"], 1_000);
const WEBHOOKS: Part = (&["webhook", "webhook-delivery"], 500);
const ROSTERS: Part = (&["roster-membership", "presence", "activity"], 500);
const MEMBERS: Part = (&["membership", "invitation"], 2_000);
const ACCOUNTS: Part = (
    &[
        "user",
        "session",
        "session-event",
        "feed",
        "notification",
        "preference",
        "profile",
        "task",
        "term",
        "server-config",
        "setting",
        "audit",
        "api",
    ],
    1_500,
);
const GRADEBOOKS: Part = (
    &[
        "gradebook",
        "gradebook-item",
        "gradebook-category",
        "gradebook-score",
        "gradebook-change",
        "gradebook-override",
        "grades",
    ],
    3_000,
);

/// One in so many cells of the policy is asked about, unless `FULL=1`: who may do what is decided above the storage. Each
/// operation is asked about by some callers, and each caller asks about some states of each.
const fn stride(backend: Backend) -> usize {
    match backend {
        Backend::Sqlite => 4,
        Backend::Postgres => 16,
    }
}

type Part = (&'static [&'static str], usize);

both! {
    async fn everybody_is_answered_as_the_policy_of_announcements_says(app: TestApp) {
        check(app, ANNOUNCEMENTS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_events_says(app: TestApp) {
        check(app, EVENTS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_sites_says(app: TestApp) {
        check(app, SITES).await;
    }

    async fn everybody_is_answered_as_the_policy_of_assignments_says(app: TestApp) {
        check(app, ASSIGNMENTS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_quizzes_says(app: TestApp) {
        check(app, QUIZZES).await;
    }

    async fn everybody_is_answered_as_the_policy_of_files_says(app: TestApp) {
        check(app, FILES).await;
    }

    async fn everybody_is_answered_as_the_policy_of_lessons_says(app: TestApp) {
        check(app, LESSONS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_forums_says(app: TestApp) {
        check(app, FORUMS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_polls_says(app: TestApp) {
        check(app, POLLS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_conversations_says(app: TestApp) {
        check(app, CONVERSATIONS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_syllabi_says(app: TestApp) {
        check(app, SYLLABI).await;
    }

    async fn everybody_is_answered_as_the_policy_of_chats_says(app: TestApp) {
        check(app, CHATS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_addresses_says(app: TestApp) {
        check(app, ADDRESSES).await;
    }

    async fn everybody_is_answered_as_the_policy_of_webhooks_says(app: TestApp) {
        check(app, WEBHOOKS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_rosters_says(app: TestApp) {
        check(app, ROSTERS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_members_says(app: TestApp) {
        check(app, MEMBERS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_accounts_says(app: TestApp) {
        check(app, ACCOUNTS).await;
    }

    async fn everybody_is_answered_as_the_policy_of_gradebooks_says(app: TestApp) {
        check(app, GRADEBOOKS).await;
    }
}

#[test]
fn no_line_is_in_no_part() {
    let parts = [
        ANNOUNCEMENTS,
        ASSIGNMENTS,
        EVENTS,
        SITES,
        CHATS,
        ADDRESSES,
        ROSTERS,
        WEBHOOKS,
        MEMBERS,
        ACCOUNTS,
        LESSONS,
        FORUMS,
        POLLS,
        CONVERSATIONS,
        SYLLABI,
        QUIZZES,
        FILES,
        GRADEBOOKS,
    ];
    for Line { kind, .. } in policy::lines() {
        assert!(parts.iter().any(|it| it.0.contains(&kind)), "{kind}");
    }
}

async fn check(app: TestApp, (kinds, fewest): Part) {
    let backend = app.database().backend();
    let stride = if is_full() { 1 } else { stride(backend) };
    let witness = Witness::of(app.database()).await;
    let mut run = Run {
        world: World::new(app).await,
        witness,
        stride,
        operations: 0,
        questions: 0,
        complaints: Vec::new(),
    };
    for line in policy::lines() {
        if kinds.contains(&line.kind) {
            run.line(&line).await;
        }
    }
    let (questions, complaints) = (run.questions, run.complaints);
    let fewest = fewest / run.stride;
    if stride > 1 {
        say(&format!(
            "policy of {kinds:?} on {backend:?}: one in {stride} cells, {questions} questions; FULL=1 asks all"
        ));
    }
    let number = complaints.len();
    assert!(
        number == 0,
        "{number} of {questions}:\n{}\n",
        complaints.join("\n")
    );
    assert!(questions >= fewest, "only {questions} questions were asked");
}

struct Run {
    world: World,
    witness: Witness,
    /// One in so many cells is asked about.
    stride: usize,
    operations: usize,
    questions: usize,
    complaints: Vec<String>,
}

/// A cell of the policy: the operation, the caller, and the expected answer.
struct Case<'a> {
    line: &'a Line,
    state: &'a str,
    operation: &'a str,
    caller: &'a Caller,
    expected: Expected,
}

impl Run {
    /// First everything that changes nothing, then what may happen, each time to something else.
    async fn line(&mut self, line: &Line) {
        let callers = self.world.callers.clone();
        let mut cases = Vec::new();
        for state in &line.states {
            for operation in &line.operations {
                // Each operation begins with another caller.
                let first = self.operations % self.stride;
                self.operations += 1;
                let asking = callers.iter().skip(first).step_by(self.stride);
                cases.extend(asking.map(|caller| Case {
                    line,
                    state,
                    operation,
                    expected: line.expected[caller.column],
                    caller,
                }));
            }
        }
        let (harmless, writes): (Vec<_>, Vec<_>) = cases.iter().partition(|it| it.is_harmless());
        self.harmless(line, harmless).await;
        for case in writes {
            self.write(case).await;
        }
    }

    async fn harmless(&mut self, line: &Line, cases: Vec<&Case<'_>>) {
        let mut subjects = Vec::new();
        for case in &cases {
            subjects.push(self.world.lasting(line.kind, case.state, case.caller).await);
        }
        // What follows from earlier requests is there.
        let caught_up = self.world.app.service().catch_up().await;
        caught_up.expect("the events are followed");
        let before = self.witness.digest().await;
        for (case, subject) in cases.iter().zip(&subjects) {
            for question in case.questions(subject) {
                self.ask(case, subject, &question).await;
            }
        }
        let after = self.witness.digest().await;
        for table in difference(&before, &after) {
            let Line {
                kind,
                states,
                operations,
                ..
            } = line;
            self.complaints.push(format!(
                "{kind} {states:?} {operations:?}: the table {table} changed"
            ));
        }
    }

    async fn write(&mut self, case: &Case<'_>) {
        let Case {
            line,
            state,
            caller,
            ..
        } = case;
        let mut subject = self.world.fresh(line.kind, state, caller).await;
        for index in 0..case.questions(&subject).len() {
            if index > 0 {
                subject = self.world.fresh(line.kind, state, caller).await;
            }
            let question = case.questions(&subject).swap_remove(index);
            self.ask(case, &subject, &question).await;
        }
    }

    async fn ask(&mut self, case: &Case<'_>, subject: &Subject, question: &Question) {
        self.questions += 1;
        let client = subject.client.as_ref().unwrap_or(&case.caller.client);
        let news = rehearsed::news(client, question).await;
        self.complaints.extend(news.into_iter().map(|it| {
            let (method, path) = (&question.method, &question.paths[0]);
            format!("{}: a dry run of {method} {path} tells {it}", case.name())
        }));
        let mut answers = Vec::new();
        for path in &question.paths {
            answers.push(send(client, question, path).await);
        }
        let is_lenient = case.line.is_of_reading();
        let expected = match case.caller.is_stranger() && question.needs_session() {
            true => Expected::Refusal(401),
            false => case.expected,
        };
        let complaint = answers::complaint(expected, is_lenient, question, subject, &answers);
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
    /// Returns whether nothing may change.
    fn is_harmless(&self) -> bool {
        matches!(self.expected, Expected::Refusal(_)) || !requests::is_write(self.operation)
    }

    fn questions(&self, subject: &Subject) -> Vec<Question> {
        let mut questions = requests::of(self.line.kind, self.operation, subject, self.caller);
        if self.expected == Expected::Refusal(409) {
            // A page asks whether to go on before anything can stand against it.
            questions.retain(|it| it.method != Method::GET);
        }
        questions
    }

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

pub(super) async fn send(client: &Client, question: &Question, path: &str) -> Answer {
    let mut request = Request::builder().method(question.method.clone()).uri(path);
    let mut body = Body::empty();
    if let Some((media_type, text)) = &question.body {
        request = request.header(CONTENT_TYPE, *media_type);
        body = Body::from(text.clone());
    }
    let request = request.body(body).expect("a request that can be sent");
    client.try_send(request).await.expect("an answer")
}
