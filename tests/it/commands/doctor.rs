//! `lectern doctor`: what is set, and the verdict.

use tests::process::{run, text};
use tests::{Backend, Database, OnBackend as _};

#[tokio::test]
async fn the_doctor_tells_what_is_set_and_the_rest_when_asked() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    assert!(run(&database, &["migrate"]).await.status.success());
    let brief = run(&database, &["doctor"]).await;
    assert!(brief.status.success(), "{brief:?}");
    let brief = text(&brief.stdout);
    let names = |told: &str| {
        let lines = told.lines().filter(|it| it.ends_with(')'));
        let names = lines.filter_map(|it| Some(it.split_once(' ')?.0.to_owned()));
        names.collect::<Vec<_>>()
    };
    assert_eq!(
        names(brief),
        ["listen", "database", "files.folder", "log.level"],
        "{brief}"
    );
    assert!(
        brief.contains("settings: 4 of ") && brief.contains("`--all` shows them"),
        "{brief}"
    );
    assert!(
        brief.contains("fine for development; before production:\n  `"),
        "{brief}"
    );
    assert!(!brief.contains("entity types of"), "{brief}");

    let all = run(&database, &["doctor", "--all"]).await;
    assert!(all.status.success(), "{all:?}");
    let all = text(&all.stdout);
    assert!(names(all).len() > 80, "{all}");
    assert!(
        all.contains("(default)") && all.contains("entity types of"),
        "{all}"
    );
    assert!(
        all.contains("fine for development; before production:\n  `"),
        "{all}"
    );
}

#[tokio::test]
async fn a_service_without_a_database_is_not_called_fine() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let told = run(&database, &["doctor"]).await;
    assert!(!told.status.success(), "{told:?}");
    assert!(
        !text(&told.stdout).contains("fine for development"),
        "{told:?}"
    );
    assert!(text(&told.stderr).contains("`lectern migrate`"), "{told:?}");
}
