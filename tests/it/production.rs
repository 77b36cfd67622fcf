//! The profile `production`, held against the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use entity_core::Registry;
use sea_orm::ConnectionTrait;
use server::operate::production;
use server::operate::storage::Storage;
use tests::process::{Process, run, service, text};
use tests::{Backend, Database, OnBackend, TestApp, both, database};

const UNSAFE: &str =
    "cookie.secure = \"never\"\ncookie.httponly = false\nproxy.trusted = \"0.0.0.0/0\"\n";

/// A file of settings that everybody on the machine may read, or nobody but its owner.
fn write(file: &Path, text: &str, mode: u32) {
    fs::write(file, text).expect("room for a file");
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("a file of our own");
}

/// Returns the keys that these lines are about.
fn findings(lines: &str) -> Vec<&str> {
    lines
        .lines()
        .filter_map(|it| it.strip_prefix("  `")?.split_once("`: "))
        .map(|(key, message)| match key {
            "database" => message.split(':').next().unwrap_or_default(),
            key => key,
        })
        .collect()
}

both! {
    async fn conf_1_an_unsafe_service_does_not_start_and_says_all_that_is_wrong(app: TestApp) {
        let database = app.database();
        let file = database.folder().join("lectern.toml");
        write(&file, UNSAFE, 0o644);
        let config = file.display().to_string();
        let mut expected = vec!["svc.serverUrl", "cookie.secure", "cookie.httponly", "proxy.trusted", "--config"];
        let database_file = database.folder().join("lectern.db");
        let readable = ["", "-wal", "-shm"].map(|it| {
            format!("everybody on this machine may use the file {}{it}", database_file.display())
        });
        match database.backend() {
            Backend::Sqlite => {
                for ending in ["", "-wal", "-shm"] {
                    let file = format!("{}{ending}", database_file.display());
                    let open = fs::set_permissions(file, fs::Permissions::from_mode(0o644));
                    open.expect("a file of the service's making");
                }
                expected.extend(readable.iter().map(String::as_str));
            }
            // The tests' own server is as unsafe as that makes it fast.
            Backend::Postgres => expected.extend([
                "runs with fsync = off",
                "runs with synchronous_commit = off",
                "runs with full_page_writes = off",
            ]),
        }
        expected.push("holds accounts whose password is known");

        let refused = run(database, &["--profile", "production", "--config", &config]).await;
        assert!(!refused.status.success());
        assert_eq!(findings(text(&refused.stderr)), expected);

        let doctor = run(database, &["doctor", "--profile", "production", "--config", &config]).await;
        assert!(!doctor.status.success());
        assert_eq!(findings(text(&doctor.stderr)), expected);

        // Without the profile the same is told, and allowed.
        let doctor = run(database, &["doctor", "--config", &config]).await;
        assert!(doctor.status.success());
        assert_eq!(findings(text(&doctor.stdout)), expected);
    }

    async fn conf_1_demo_data_do_not_go_into_production(database: Database) {
        for command in [&["--demo"][..], &["demo"]] {
            let refused = run(&database, &[command, &["--profile", "production"]].concat()).await;
            assert!(!refused.status.success(), "{command:?}");
            assert!(text(&refused.stderr).contains("demo data have a known password"), "{refused:?}");
        }
    }
}

#[tokio::test]
async fn conf_1_a_safe_service_starts_and_nobody_else_can_read_its_files() {
    let database = Database::on_backend(Backend::Sqlite).await.expect("a file");
    let config = database.folder().join("lectern.toml");
    let safe = "profile = \"production\"\nsvc.serverUrl = \"https://lectern.example\"\n";
    write(&config, safe, 0o600);
    let process = Process::start(service(false), |command, port| {
        command
            .arg("--config")
            .arg(&config)
            .env("LECTERN_LISTEN", format!("127.0.0.1:{port}"))
            .env("LECTERN_DATABASE", database.url())
            .env("LECTERN_LOG_LEVEL", "warn")
            .env("LECTERN_SHUTDOWN_DRAINDELAY", "0")
            .current_dir(database.folder());
    });
    for name in [
        "lectern.db",
        "lectern.db-wal",
        "lectern.db-shm",
        "lectern.db.audit",
    ] {
        let file =
            fs::metadata(database.folder().join(name)).expect("a file of the service's making");
        assert_eq!(file.permissions().mode() & 0o077, 0, "{name}");
    }
    process.stop();
}

/// The statements that let a role read and write rows, and nothing else.
const GRANTS: [&str; 4] = [
    "CREATE ROLE ROLE_NAME LOGIN",
    "GRANT USAGE ON SCHEMA public TO ROLE_NAME",
    "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ROLE_NAME",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ROLE_NAME",
];

#[tokio::test]
async fn conf_2_a_role_that_can_not_change_tables_is_enough_to_serve() {
    database::on(Backend::Postgres, |app: TestApp| async move {
        let registry = Registry::from_inventory().expect("types that go together");
        let owner = &app.service().storage;
        let findings = production::inspect(&app.service().config, None, &owner.content).await;
        assert_eq!(findings.expect("an answer").warned.len(), 1);
        for sql in GRANTS {
            let sql = sql.replace("ROLE_NAME", "rows_only");
            owner
                .content
                .writer
                .execute_unprepared(&sql)
                .await
                .expect("a superuser may");
        }
        let url = app
            .database()
            .url()
            .replace("postgres://postgres@", "postgres://rows_only@");
        let storage = Storage::open(&url, &registry).await.expect("enough rights");
        let findings = production::inspect(&app.service().config, None, &storage.content).await;
        assert_eq!(findings.expect("an answer").warned, []);
        let writer = &storage.content.writer;
        assert!(
            writer
                .execute_unprepared("CREATE TABLE mine (id TEXT)")
                .await
                .is_err()
        );
        let changed = writer
            .execute_unprepared("UPDATE site SET version = version + 1")
            .await;
        assert!(changed.expect("rows may be written").rows_affected() > 0);
    })
    .await;
}
