//! A large course: how long its lists and its gradebook take, how much memory and how many statements.
//!
//! 2,000 students have handed in each of 300 assignments, which makes 600,000 submissions and as many scores, beside 5,000
//! files. The service runs as a process of its own; statements are counted by a dispatcher in this one, on the same
//! database, without what is remembered from request to request.

use std::fs;
use std::time::{Duration, Instant};

use entity_core::Caller;
use entity_core::engine::Audit;
use entity_core::testing::origin;
use entity_providers::face::demo::scale::{self, Part};
use lectern_testing::counting::Counter;
use sea_orm::{ConnectionTrait as _, DbBackend};

use crate::app::PASSWORD;
use crate::client::Client;
use crate::process::{Process, service};
use crate::{Backend, OnBackend, TestApp};

/// The course.
const LARGE: Part = Part {
    first: 0,
    students: 2_000,
    instructors: 1,
    first_course: 0,
    courses: 1,
    courses_of_student: 1,
    announcements: 300,
    assignments: 300,
    files: 5_000,
};
/// The number of times that each address is asked for; the first answer does not count.
const ROUNDS: usize = 3;

/// The callers and the addresses in the course that are measured. `{}` is the course.
const CASES: [(Who, &str); 27] = [
    (Who::Student, "announcement/site/{}.json?n=50"),
    (Who::Student, "assignment/site/{}.json?_limit=50"),
    (Who::Student, "assignment/my.json?_limit=50"),
    (
        Who::Student,
        "assignment-submission.json?context={}&_limit=50",
    ),
    (Who::Student, "content/site/{}.json?_limit=50"),
    (Who::Student, "content/resources/group/{}.json"),
    (Who::Student, "calendar/site/{}.json?_limit=50"),
    (Who::Student, "membership/site/{}.json?_limit=50"),
    (Who::Student, "gradebook-score.json?siteId={}&_limit=50"),
    (Who::Student, "gradebook/site/{}.json"),
    (Who::Student, "gradebook/my.json"),
    (Who::Student, "gradebook/course/{}.json"),
    (Who::Instructor, "membership/site/{}.json?_limit=50"),
    (Who::Instructor, "assignment/site/{}.json?_limit=50"),
    (
        Who::Instructor,
        "assignment-submission.json?context={}&_limit=50",
    ),
    (Who::Instructor, "content/site/{}.json?_limit=50"),
    (Who::Instructor, "gradebook-item.json?siteId={}&_limit=50"),
    (Who::Instructor, "gradebook-score.json?siteId={}&_limit=50"),
    (Who::Instructor, "content/resources/group/{}.json?depth=all"),
    (Who::Instructor, "gradebook/site/{}.json?_limit=50"),
    (Who::Instructor, "gradebook/site/{}.json"),
    (Who::Instructor, "gradebook/my.json"),
    (Who::Instructor, "gradebook/course/{}.json?_limit=50"),
    (Who::Instructor, "gradebook/course/{}.json"),
    (Who::Instructor, "gradebook/export/{}"),
    (Who::Instructor, "grades/gradebook/{}.json?_limit=25"),
    (Who::Instructor, "grades/gradebook/{}.json"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    /// The last one: whoever looks for their rows among those of all others finds them at the end.
    Student,
    Instructor,
}

impl Who {
    fn number(self) -> u64 {
        match self {
            Self::Student => LARGE.students - 1,
            Self::Instructor => LARGE.students,
        }
    }
}

/// Measures on each database, or on that with the name `only`, and prints.
pub fn run(only: Option<&str>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for backend in [Backend::Sqlite, Backend::Postgres] {
        if only.is_none_or(|it| it.eq_ignore_ascii_case(&format!("{backend:?}"))) {
            runtime.block_on(measure(backend));
        }
    }
}

async fn measure(backend: Backend) {
    let Some(app) = TestApp::on_backend(backend).await else {
        return;
    };
    let start = Instant::now();
    fill(&app).await;
    println!("\n{backend:?}: filled in {} s", start.elapsed().as_secs());
    let mut statements = Vec::new();
    for (who, path) in CASES {
        statements.push(count(&app, who, &asked(path)).await);
    }
    let (url, folder) = (app.database().url().to_owned(), app.database().folder());
    let bytes = fs::metadata(folder.join("lectern.db")).map_or(0, |it| it.len());
    if bytes > 0 {
        println!("the file has {} MiB", bytes >> 20);
    }
    let settings = [("LECTERN_LIMITS_ANSWERBYTES", "8MiB")];
    let process = Process::start_service_with(&service(true), &url, &folder, false, &settings);
    let student = Client::on_port(process.port());
    let student = student
        .log_in(&Part::eid(Who::Student.number()), PASSWORD)
        .await;
    let instructor = Client::on_port(process.port());
    let instructor = instructor
        .log_in(&Part::eid(Who::Instructor.number()), PASSWORD)
        .await;
    println!(
        "{:10} {:50} {:>6} {:>9} {:>9} {:>9} {:>10} {:>5}",
        "who", "address", "status", "median ms", "worst ms", "KiB", "memory KiB", "stmts"
    );
    for ((who, path), statements) in CASES.into_iter().zip(statements) {
        let client = match who {
            Who::Student => &student,
            Who::Instructor => &instructor,
        };
        let path = format!("/direct/{}", asked(path));
        let mut times = Vec::new();
        let (mut status, mut bytes, mut memory) = (0, 0, 0);
        for round in 0..=ROUNDS {
            let before = process.memory().anonymous;
            process.forget_peak();
            let resident = process.memory().resident;
            let start = Instant::now();
            let answer = client.get(&path).await;
            if round > 0 {
                times.push(start.elapsed());
            }
            (status, bytes) = (answer.status.as_u16(), answer.body.len());
            let peak = process.memory().peak.saturating_sub(resident);
            memory = memory.max(peak.max(process.memory().anonymous.saturating_sub(before)));
        }
        times.sort_unstable();
        println!(
            "{:10} {path:50} {status:>6} {:>9} {:>9} {:>9} {memory:>10} {statements:>5}",
            format!("{who:?}"),
            millis(times.get(ROUNDS / 2)),
            millis(times.last()),
            bytes / 1024,
        );
    }
}

fn millis(time: Option<&Duration>) -> String {
    format!(
        "{:.1}",
        time.copied().unwrap_or_default().as_secs_f64() * 1e3
    )
}

fn asked(path: &str) -> String {
    path.replace("{}", &Part::course(LARGE.first_course))
}

/// Adds the course to the demo university.
async fn fill(app: &TestApp) {
    let dispatcher = app.service().dispatcher.clone().with_write_limit(None);
    let origin = origin(Caller::anonymous());
    let work = dispatcher.write(&origin, |cx| {
        Box::pin(async move {
            let db = cx.db()?;
            if db.get_database_backend() == DbBackend::Postgres {
                // No request writes half a million rows.
                let patience = "SET LOCAL statement_timeout = 0";
                db.execute_unprepared(patience).await?;
            }
            Ok((scale::add(cx, &LARGE).await?, Audit::Later))
        })
    });
    let added = work.await.expect("the database takes it");
    println!("{added:?}");
    let connection = super::data::connect(app.database().url()).await;
    super::data::finish(connection).await;
}

/// Returns the number of statements it takes to read the list at `path`, to its end.
async fn count(app: &TestApp, who: Who, path: &str) -> usize {
    let number = who.number();
    let id = format!("01900000-0000-7000-8000-{number:012}");
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = format!("/{}", path.trim_end_matches(".json"));
    let query = query.split('&').filter_map(|it| it.split_once('='));
    let query: Vec<_> = query
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let caller = Caller::user(&id, Part::eid(number));
    let counter = Counter::of(app.service());
    let mut told = 0;
    // What is remembered from request to request is not counted.
    for _ in 0..2 {
        match counter.read(&caller, &path, &query).await {
            Ok(cost) => told = cost.statements,
            Err(error) => println!("{path}: {error}"),
        }
    }
    told
}
