//! The command line as operators use it: what it refuses, what it tells, and what it leaves alone.

use std::fs;
use std::process::Output;

use sea_orm::{ConnectionTrait, Database as Connection};
use serde_json::json;
use tests::process::service;
use tests::process::{run, text};
use tests::{Backend, Database, OnBackend, TestApp, both};
use tokio::process::Command;

use crate::python::{self, Needs};

/// The last step of a database, taken back.
const STEP_BACK: [&str; 1] = ["ALTER TABLE announcement DROP COLUMN highlight"];

/// Types a password at a terminal: twice, as soon as it is asked for.
const TERMINAL: &str = "
import json, os, pty, sys
given = json.load(sys.stdin)
pid, terminal = pty.fork()
if pid == 0:
    os.environ['LECTERN_DATABASE'] = given['database']
    os.environ['LECTERN_FILES_FOLDER'] = given['files']
    os.execv(given['program'], ['lectern', 'user', 'add', 'typed'])
shown = b''
def until(what):
    global shown
    while what not in shown:
        shown += os.read(terminal, 1024)
until(b'Password: ')
os.write(terminal, b'correct horse\\n')
until(b'again: ')
os.write(terminal, b'correct horse\\n')
try:
    until(b'nothing says this')
except OSError:
    pass
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), shown.decode())
";

/// Runs these statements in the database, past the service.
pub(crate) async fn change(database: &Database, statements: &[&str]) {
    let connection = Connection::connect(database.url()).await;
    let connection = connection.expect("it connects");
    for sql in statements {
        let done = connection.execute_unprepared(sql).await;
        done.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    connection.close().await.expect("it was open");
}

/// `lectern user …` with a password that comes through a pipe.
pub(crate) async fn user(database: &Database, arguments: &[&str], input: &str) -> Output {
    let file = database.folder().join("input");
    fs::write(&file, input).expect("room for a file");
    Command::new(service(false))
        .arg("user")
        .args(arguments)
        .env("LECTERN_DATABASE", database.url())
        .env("LECTERN_LOG_LEVEL", "error")
        .env("LECTERN_FILES_FOLDER", database.folder().join("files"))
        .stdin(fs::File::open(file).expect("it was just made"))
        .output()
        .await
        .expect("it runs")
}

fn names(database: &Database) -> Vec<String> {
    let entries = fs::read_dir(database.folder()).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|it| it.expect("an entry").file_name().display().to_string())
        .collect();
    names.sort();
    names
}

both! {
    async fn y18_the_operator_is_refused_at_once_and_named(app: TestApp) {
        let database = app.database();
        let production = ["add", "ada", "--profile", "production"];
        for password in ["password", "Ada"] {
            let refused = user(database, &production, password).await;
            assert!(!refused.status.success(), "{refused:?}");
            assert!(text(&refused.stderr).contains("choose another one"), "{refused:?}");
        }
        let made = user(database, &production, "four random words").await;
        assert!(made.status.success(), "{made:?}");
        let refused = user(database, &["disable", "admin"], "").await;
        assert!(!refused.status.success(), "{refused:?}");
        assert!(text(&refused.stderr).contains("`admin` is the last administrator"), "{refused:?}");
        app.user("admin").await.get("/direct/user.json").await.expect(http::StatusCode::OK);
        let second = user(database, &["add", "grace", "--superuser"], "four other words").await;
        assert!(second.status.success(), "{second:?}");
        let shut = user(database, &["disable", "admin"], "").await;
        assert!(shut.status.success(), "{shut:?}");
        let log = run(database, &["audit", "--method", "CLI"]).await;
        for told in ["user add ada (by uid ", "user disable admin (by uid "] {
            assert!(text(&log.stdout).contains(told), "{log:?}");
        }
    }

    async fn a_password_that_everybody_knows_is_not_served_to_a_network(app: TestApp) {
        let database = app.database();
        let everywhere = ["--listen", "0.0.0.0:0"];
        let doctor = ["doctor", "--listen", "0.0.0.0:0"];
        let refused = run(database, &everywhere).await;
        assert!(!refused.status.success());
        for expected in ["whose password is known", "lectern user passwd", "listen on 127.0.0.1"] {
            assert!(text(&refused.stderr).contains(expected), "{refused:?}");
        }
        assert!(!run(database, &doctor).await.status.success());
        assert!(run(database, &["doctor"]).await.status.success());

        // One is enough.
        change(database, &["UPDATE user_account SET is_disabled = TRUE WHERE eid <> 'student1'"]).await;
        assert!(!run(database, &doctor).await.status.success());
        let changed = user(database, &["passwd", "student1"], "only mine\n").await;
        assert!(changed.status.success(), "{changed:?}");
        let fine = run(database, &doctor).await;
        assert!(fine.status.success(), "{fine:?}");
    }

    async fn the_doctor_names_what_a_database_lacks_and_adds_nothing(database: Database) {
        let fresh = run(&database, &["doctor"]).await;
        assert!(!fresh.status.success());
        let told = match database.backend() {
            Backend::Sqlite => "there is no database at",
            Backend::Postgres => "m20261128_000001_baseline",
        };
        assert!(text(&fresh.stderr).contains(told), "{fresh:?}");
        assert!(text(&fresh.stderr).contains("`lectern migrate`"), "{fresh:?}");
        assert_eq!(names(&database), [""; 0]);

        assert!(run(&database, &["migrate"]).await.status.success());
        assert!(run(&database, &["doctor"]).await.status.success());
        change(&database, &STEP_BACK).await;
        let files = names(&database);
        for _ in 0..2 {
            let outdated = run(&database, &["doctor"]).await;
            assert!(!outdated.status.success());
            let told = "not up to date: `lectern migrate` adds announcement.highlight\n";
            assert!(text(&outdated.stderr).ends_with(told), "{outdated:?}");
        }
        assert_eq!(names(&database), files);
        assert!(run(&database, &["migrate"]).await.status.success());
        assert!(run(&database, &["doctor"]).await.status.success());
    }

    async fn what_is_counted_wrong_is_told_by_the_doctor_and_mended_by_migrating(database: Database) {
        assert!(run(&database, &["migrate"]).await.status.success());
        change(&database, &["INSERT INTO usage (kind, id, entities, bytes) VALUES ('account', 'nobody', 1, 0)"]).await;
        for (arguments, told) in [
            ("doctor", "counted wrong for 1 of the accounts and sites: `lectern migrate` counts anew\n"),
            ("migrate", "counted anew: it was wrong for 1 of the accounts and sites\n"),
            ("doctor", "database: reached and up to date\n"),
        ] {
            let done = run(&database, &[arguments]).await;
            assert!(done.status.success(), "{done:?}");
            assert!(text(&done.stdout).contains(told), "{done:?}");
        }
    }

    async fn an_account_is_made_once_with_the_first_line_of_the_input(database: Database) {
        let made = user(&database, &["add", "bob"], "correct horse\r\nnot this\n").await;
        assert!(made.status.success(), "{made:?}");
        let again = user(&database, &["add", "bob"], "battery staple\n").await;
        assert!(!again.status.success());
        let told = "lectern: there is already a user with this eid: `lectern user passwd` gives it another password\n";
        assert_eq!(text(&again.stderr), told);
        let none = user(&database, &["add", "eve"], "").await;
        assert_eq!(text(&none.stderr), "lectern: no password was given\n");
        let app = TestApp::start(database, &[]).await;
        let _client = app.anonymous().log_in("bob", "correct horse").await;
    }
}

#[tokio::test]
async fn a_password_that_is_typed_is_not_shown() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let files = database.folder().join("files");
    let given = json!({"program": service(false), "database": database.url(), "files": files});
    let Some(shown) = python::run(TERMINAL, given.to_string().as_bytes(), Needs::Nothing) else {
        return;
    };
    let shown = text(&shown);
    assert!(shown.starts_with("0 "), "{shown}");
    assert!(shown.contains("done: the account `typed`"), "{shown}");
    assert!(!shown.contains("correct horse"), "{shown}");
    let app = TestApp::start(database, &[]).await;
    let _client = app.anonymous().log_in("typed", "correct horse").await;
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_named_with_the_reason_once() {
    let folder = Database::on_backend(Backend::Sqlite)
        .await
        .expect("a folder");
    for (url, server) in [
        ("postgres://u:secret@127.0.0.1:1/x", "127.0.0.1 (port 1)"),
        ("postgres://u:secret@[::1]:1/x", "::1 (port 1)"),
    ] {
        let refused = run(&folder, &["migrate", "--database", url]).await;
        assert!(!refused.status.success());
        let told = text(&refused.stderr);
        assert!(told.contains(server), "{told}");
        assert_eq!(told.matches("os error").count(), 1, "{told}");
        assert!(
            !told.contains("secret") && !told.contains("timed out"),
            "{told}"
        );
    }
}
