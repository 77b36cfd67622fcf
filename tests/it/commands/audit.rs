//! `lectern audit`, while a service is at work on the same database.

use http::StatusCode;
use serde_json::{Value, json};
use tests::process::{run, text};
use tests::{Database, TestApp, both};

use crate::operator::change;

/// Rows of requests in two minutes of 2001, of which every hundredth is rare: more than one statement looks at.
const MANY: &str = "INSERT INTO audit (time, request_id, address, method, path, status)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 45000)
    SELECT 1000000000000 + n, 'many-' || n, '192.0.2.1', CASE WHEN n = 7 THEN '=1+1' ELSE 'GET' END,
        CASE WHEN n % 100 = 0 THEN '/rare_1' ELSE '/rarely' END, CASE WHEN n % 2 = 0 THEN 200 ELSE 418 END
    FROM numbers";

/// Returns the output of `lectern audit` with these arguments.
async fn printed(database: &Database, arguments: &[&str]) -> String {
    let done = run(database, &[&["audit"], arguments].concat()).await;
    assert!(done.status.success(), "{done:?}");
    text(&done.stdout).to_owned()
}

async fn rows(database: &Database, arguments: &[&str]) -> Vec<Value> {
    let lines = printed(database, arguments).await;
    let lines = lines.lines();
    lines
        .map(|it| serde_json::from_str(it).expect("a line is an object"))
        .collect()
}

async fn refused(database: &Database, arguments: &[&str]) -> String {
    let done = run(database, &[&["audit"], arguments].concat()).await;
    assert!(!done.status.success(), "{done:?}");
    text(&done.stderr).to_owned()
}

both! {
    async fn requests_are_told_newest_first_with_names_and_without_credentials(app: TestApp) {
        let database = app.database();
        let (student, teacher) = (app.user("student1").await, app.user("instructor1").await);
        let news = json!({"siteId": "biology-101", "title": "Told"});
        student.post("/direct/announcement", &news).await.expect(StatusCode::FORBIDDEN);
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        student.get("/direct/site.json").await.expect(StatusCode::OK);
        app.service().audit.flush().await;

        let all = rows(database, &[]).await;
        let times: Vec<_> = all.iter().map(|it| it["time"].as_str().expect("text")).collect();
        assert!(times.is_sorted_by(|one, other| one >= other), "{times:?}");
        // What is read and what is written, which SQLite keeps in two files.
        for (method, path, status, eid) in [
            ("POST", "/direct/announcement", 403, "student1"),
            ("POST", "/direct/announcement", 201, "instructor1"),
            ("GET", "/direct/site.json", 200, "student1"),
        ] {
            let mut found = all.iter().filter(|it| {
                it["method"] == method && it["path"] == path && it["status"] == status && it["userEid"] == eid
            });
            let row = found.next().unwrap_or_else(|| panic!("{method} {path} {status} {eid}: {all:?}"));
            assert!(row["session"].is_string() && row["times"] == 1 && found.next().is_none(), "{all:?}");
        }
        let whole = printed(database, &[]).await + &printed(database, &["--csv"]).await;
        for client in [&student, &teacher] {
            let cookie = client.cookie().expect("a session");
            let (_, credential) = cookie.split_once('=').expect("a name and a value");
            let id = credential.split(['.', ';']).next().expect("an id");
            assert!(id.len() > 20 && !whole.contains(id), "a credential is printed");
        }

        let of_student = rows(database, &["--user", "STUDENT1"]).await;
        assert!(of_student.len() >= 2 && of_student.iter().all(|it| it["userEid"] == "student1"), "{of_student:?}");
        let id = of_student[0]["userId"].as_str().expect("an id");
        assert_eq!(rows(database, &["--user", id]).await, of_student);
        let failed = rows(database, &["--status", "4xx", "--method", "post", "--path", "/direct/ann"]).await;
        assert_eq!(failed.len(), 1, "{failed:?}");
        assert_eq!(rows(database, &["--status", "403"]).await, failed);
        assert_eq!(rows(database, &["--limit", "1"]).await.len(), 1);
        let told = refused(database, &["--user", "nobody-of-this-name"]).await;
        assert!(told.contains("`nobody-of-this-name`") && told.contains("`lectern user list`"), "{told}");
    }

    async fn a_long_log_is_read_to_its_end(database: Database) {
        assert!(run(&database, &["migrate"]).await.status.success());
        assert_eq!(printed(&database, &[]).await, "");
        change(&database, &[MANY]).await;
        assert_eq!(rows(&database, &[]).await.len(), 1_000, "unless somebody says otherwise");
        let rare = rows(&database, &["--path", "/rare_"]).await;
        let ids: Vec<_> = rare.iter().map(|it| it["requestId"].as_str().expect("text").to_owned()).collect();
        let expected: Vec<_> = (1..=450).rev().map(|it| format!("many-{}", it * 100)).collect();
        assert_eq!(ids, expected);
        let odd = rows(&database, &["--status", "418", "--limit", "30000"]).await;
        assert_eq!(odd.len(), 22_500);

        let between = ["--since", "2001-09-09T01:46:40.011Z", "--until", "2001-09-09T01:46:40.014Z"];
        let between = rows(&database, &between).await;
        let ids: Vec<_> = between.iter().map(|it| &it["requestId"]).collect();
        assert_eq!(ids, ["many-13", "many-12", "many-11"]);
        assert_eq!(rows(&database, &["--since", "2d"]).await, [Value::Null; 0]);
        assert_eq!(rows(&database, &["--until", "2d"]).await.len(), 1_000);

        let table = printed(&database, &["--csv", "--limit", "50000", "--method", "=1+1"]).await;
        let head = "time,requestId,userId,userEid,session,address,method,path,status,times\r\n";
        let line = "2001-09-09T01:46:40.007Z,many-7,,,,192.0.2.1,'=1+1,/rarely,418,1\r\n";
        assert_eq!(table, [head, line].concat());
    }

    async fn what_can_not_be_read_is_refused_with_what_to_do(database: Database) {
        let told = refused(&database, &[]).await;
        assert!(told.contains("`lectern migrate`"), "{told}");
        assert!(run(&database, &["migrate"]).await.status.success());
        for (arguments, expected) in [
            (&["--since", "soon"][..], "2026-11-26T08:00:00Z"),
            (&["--status", "9xx"], "4xx"),
            (&["--limit", "0"], "1..="),
            (&["--since", "1h", "--until", "2h"], "`--since` must be before `--until`"),
        ] {
            let told = refused(&database, arguments).await;
            assert!(told.contains(expected), "{told}");
        }
    }
}
