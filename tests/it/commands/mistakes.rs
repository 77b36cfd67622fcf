//! Mistakes that operators make, each told with the remedy.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use tests::process::{Process, run, service, text};
use tests::{Backend, Database, OnBackend as _};

async fn file() -> Database {
    let database = Database::on_backend(Backend::Sqlite).await;
    database.expect("SQLite is always there")
}

/// Returns the last words of a program that must fail.
async fn refused(database: &Database, arguments: &[&str]) -> String {
    let done = run(database, arguments).await;
    assert!(!done.status.success(), "{done:?}");
    text(&done.stderr).to_owned()
}

#[tokio::test]
async fn a_port_that_is_taken_is_told_with_the_option() {
    let database = file().await;
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let told = refused(&database, &["serve", "--listen", &address]).await;
    for expected in [
        &*address,
        "`--listen ADDRESS:PORT`",
        "stop what listens there",
    ] {
        assert!(told.contains(expected), "{told}");
    }
    let config = database.folder().join("lectern.toml");
    fs::write(&config, format!("[health]\nlisten = \"{address}\"\n")).expect("room");
    let config = config.display().to_string();
    let told = refused(&database, &["serve", "--config", &config]).await;
    assert!(
        told.contains(&address) && told.contains("`health.listen`"),
        "{told}"
    );
}

#[tokio::test]
async fn a_damaged_file_is_told_by_its_name_with_the_remedies() {
    for name in ["lectern.db", "lectern.db.audit"] {
        let database = file().await;
        assert!(run(&database, &["demo"]).await.status.success());
        let path = database.folder().join(name);
        let file = fs::OpenOptions::new().write(true).open(&path).expect("it");
        for page in 1..file.metadata().expect("its size").len() / 4096 {
            file.write_all_at(&[0x5a; 4096], page * 4096).expect("room");
        }
        for command in ["serve", "audit"] {
            let told = refused(&database, &[command]).await;
            for expected in [
                &*format!("{name} is "),
                "damaged",
                "`lectern doctor`",
                "`lectern restore`",
            ] {
                assert!(told.contains(expected), "{command}: {told}");
            }
        }
        fs::write(&path, "no database ".repeat(1000)).expect("room");
        let told = refused(&database, &["serve"]).await;
        for expected in [name, "`lectern doctor`", "`lectern restore`"] {
            assert!(told.contains(expected), "{told}");
        }
    }
}

#[tokio::test]
async fn a_service_without_accounts_says_how_to_make_the_first_one() {
    let database = file().await;
    let output = database.folder().join("output");
    let log = fs::File::create(&output).expect("room");
    let process = Process::start(service(false), |command, port| {
        command
            .arg("serve")
            .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
            .env("LECTERN_DATABASE", database.url())
            .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
            .current_dir(database.folder());
        // What `start` sends nowhere.
        command.stderr(log);
    });
    let started = Instant::now();
    let told = loop {
        let told = fs::read_to_string(&output).expect("text");
        if told.contains("listening on") || started.elapsed() > Duration::from_mins(1) {
            break told;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    process.stop();
    assert!(
        told.contains("`lectern user add NAME --superuser`"),
        "{told}"
    );
    let is_json = |it: &str| serde_json::from_str::<serde_json::Value>(it).is_ok();
    assert!(told.lines().all(is_json), "a file is no terminal: {told}");
}

#[tokio::test]
async fn a_misspelt_setting_is_told_with_the_nearest_one() {
    let database = file().await;
    let config = database.folder().join("lectern.toml");
    fs::write(&config, "[session]\ntimeuot = 5\n").expect("room");
    let told = refused(
        &database,
        &["serve", "--config", &config.display().to_string()],
    )
    .await;
    assert!(told.contains("`session.timeuot`"), "{told}");
    assert!(
        told.contains("perhaps you mean `session.timeout`"),
        "{told}"
    );
}
