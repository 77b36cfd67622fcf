//! Archives of sites: what goes out comes in again, once, and nothing else does.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use server::operate::archive::{export, import};
use tests::{Backend, Client, Database, OnBackend, TestApp, both};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::files::{drawn, route};

const SITE: &str = "biology-101";
const SITE_PATH: &str = "/direct/site/biology-101";

/// The service with a type of somebody else, which has a table, children and files.
struct Studio(TestApp);

impl OnBackend for Studio {
    async fn on_backend(backend: Backend) -> Option<Self> {
        TestApp::with_type(backend, route()).await.map(Self)
    }
}

type Parts = BTreeMap<String, Vec<u8>>;

fn path(app: &TestApp, name: &str) -> PathBuf {
    app.database().folder().join(name)
}

async fn exported(app: &TestApp, name: &str) -> PathBuf {
    let file = path(app, name);
    let done = export(app.service(), SITE, &file, |_| ()).await;
    done.expect("an archive");
    file
}

fn parts(file: &Path) -> Parts {
    let mut zip = ZipArchive::new(File::open(file).expect("a file")).expect("an archive");
    let mut parts = Parts::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).expect("an entry");
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).expect("its bytes");
        let name = entry.name().expect("a name").into_owned();
        parts.insert(name, bytes);
    }
    parts
}

fn pack(file: &Path, parts: &Parts) {
    let mut zip = ZipWriter::new(File::create(file).expect("a file"));
    for (name, bytes) in parts {
        zip.start_file(name, SimpleFileOptions::default())
            .expect("an entry");
        zip.write_all(bytes).expect("its bytes");
    }
    zip.finish().expect("an archive");
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let lines = bytes.split(|it| *it == b'\n').filter(|it| !it.is_empty());
    lines
        .map(|it| serde_json::from_slice(it).expect("JSON"))
        .collect()
}

/// All that is in an archive, with the people as other services know them, in an order that does not depend on ids.
fn content(parts: &Parts) -> BTreeMap<&str, Vec<String>> {
    let people = lines(&parts["accounts.jsonl"]);
    let text = |it: &Value, key: &str| it[key].as_str().expect("a text").to_owned();
    let eids: HashMap<String, String> = people
        .iter()
        .map(|it| (text(it, "id"), format!("<{}>", text(it, "eid"))))
        .collect();
    let mut content = BTreeMap::new();
    for (name, bytes) in parts {
        if name.starts_with("data/") {
            let mut rows: Vec<String> = String::from_utf8_lossy(bytes)
                .lines()
                .map(|line| {
                    eids.iter()
                        .fold(line.to_owned(), |line, (id, eid)| line.replace(id, eid))
                })
                .collect();
            rows.sort();
            content.insert(name.as_str(), rows);
        } else if name.starts_with("files/") {
            content.insert(name, vec![bytes.len().to_string()]);
        }
    }
    content
}

#[track_caller]
fn assert_same(before: &Path, after: &Path) {
    let (before, after) = (parts(before), parts(after));
    let (before, after) = (content(&before), content(&after));
    assert_eq!(
        before.keys().collect::<Vec<_>>(),
        after.keys().collect::<Vec<_>>()
    );
    for (name, rows) in &before {
        assert_eq!(rows, &after[name], "{name}");
    }
}

async fn delete(admin: &Client) {
    admin.delete(SITE_PATH).await.expect(StatusCode::NO_CONTENT);
}

both! {
    async fn a_site_comes_back_from_its_archive_as_it_was(app: Studio) {
        let app = app.0;
        let admin = app.user("admin").await;
        let teacher = app.user("instructor1").await;
        let drawing = drawn(&teacher, "a.png", b"a picture").await;
        let sheets = json!({"sheets": [{"note": "the first"}, {"note": "the second"}]});
        teacher.put(&drawing, &sheets).await.expect(StatusCode::NO_CONTENT);
        let first = exported(&app, "first.zip").await;
        let all = parts(&first);
        assert_eq!(lines(&all["data/drawing/drawing_sheet.jsonl"]).len(), 2);
        let refused = import(app.service(), &first, |_| ()).await.expect_err("it is there");
        assert!(refused.message().contains("not from this archive"), "{refused}");
        export(app.service(), SITE, &first, |_| ()).await.expect_err("the file is there");
        for _ in 0..2 {
            delete(&admin).await;
            let done = import(app.service(), &first, |_| ()).await.expect("it comes in");
            assert!(done.rows > 100 && done.accounts == 0 && !done.was_complete, "{done:?}");
            let again = import(app.service(), &first, |_| ()).await.expect("nothing is to be done");
            assert!(again.rows == 0 && again.was_complete);
        }
        assert_same(&first, &exported(&app, "second.zip").await);
        let picture = teacher.get(&format!("{drawing}/picture")).await;
        assert_eq!(picture.expect(StatusCode::OK).body, b"a picture".as_slice());
        app.user("student1").await.get(SITE_PATH).await.expect(StatusCode::OK);
        let found = admin.get("/direct/announcement/site/biology-101.json?_search=exam").await;
        found.expect(StatusCode::OK);
        assert_eq!(entity_providers::storage::db::miscounted(&app.service().storage.content).await.expect("counts"), 0);
    }

    async fn y64_what_is_attached_in_a_site_opens_after_its_import(app: TestApp) {
        let (admin, teacher) = (app.user("admin").await, app.user("instructor1").await);
        let attach = "/direct/content/attachment/biology-101?name=a.txt";
        let bytes = bytes::Bytes::from_static(b"attached");
        let sent = teacher.send(http::Method::POST, attach, "application/octet-stream", bytes).await;
        let file = sent.expect(StatusCode::OK).json();
        let news = json!({"siteId": SITE, "title": "t", "attachments": [file]});
        teacher.post("/direct/announcement", &news).await.expect(StatusCode::CREATED);
        let address = file["url"].as_str().expect("an address");
        let first = exported(&app, "first.zip").await;
        delete(&admin).await;
        import(app.service(), &first, |_| ()).await.expect("it comes in");
        let student = app.user("student1").await;
        assert_eq!(student.get(address).await.expect(StatusCode::OK).body, b"attached".as_slice());
    }

    async fn y68_an_archive_makes_nobody_a_teacher(app: TestApp) {
        let admin = app.user("admin").await;
        let first = exported(&app, "first.zip").await;
        delete(&admin).await;
        let mut all = parts(&first);
        let person = |eid: &str| format!(
            "{}\n",
            json!({"id": eid, "eid": eid, "firstName": "N", "lastName": "T", "type": "maintain"})
        );
        let people = all.get_mut("accounts.jsonl").expect("people");
        people.extend(person("newcomer").into_bytes());
        let file = path(&app, "hostile.zip");
        pack(&file, &all);
        let done = import(app.service(), &file, |_| ()).await.expect("it comes in");
        assert_eq!(done.accounts, 1);
        assert_eq!(admin.get("/direct/user/newcomer.json").await.json()["type"], "registered");
        delete(&admin).await;
        all.get_mut("accounts.jsonl").expect("people").extend(person("new/comer").into_bytes());
        let file = path(&app, "worse.zip");
        pack(&file, &all);
        let refused = import(app.service(), &file, |_| ()).await.expect_err("no such name");
        assert_eq!(refused.kind(), entity_core::ErrorKind::BadRequest, "{refused:?}");
    }

    async fn an_archive_goes_from_one_database_to_the_other(app: TestApp) {
        let other = match app.database().backend() {
            Backend::Sqlite => Backend::Postgres,
            Backend::Postgres => Backend::Sqlite,
        };
        let Some(database) = Database::on_backend(other).await else { return };
        let empty = TestApp::start(database, &[]).await;
        let first = exported(&app, "first.zip").await;
        let done = import(empty.service(), &first, |_| ()).await.expect("it comes in");
        assert_eq!(done.accounts, lines(&parts(&first)["accounts.jsonl"]).len());
        assert_same(&first, &exported(&empty, "second.zip").await);
    }

    async fn an_import_that_was_cut_off_goes_on_where_it_stopped(app: TestApp) {
        let admin = app.user("admin").await;
        let first = exported(&app, "first.zip").await;
        delete(&admin).await;
        let mut broken = parts(&first);
        let rows = broken.get_mut("data/lessons/lesson_page.jsonl").expect("lessons");
        rows.truncate(rows.len() - 5);
        let cut = path(&app, "cut.zip");
        pack(&cut, &broken);
        let refused = import(app.service(), &cut, |_| ()).await.expect_err("it is damaged");
        assert!(refused.message().contains("lesson_page.jsonl"), "{refused}");
        let site = admin.get(&format!("{SITE_PATH}.json")).await.expect(StatusCode::OK).json();
        assert_eq!(site["published"], false);
        let rest = import(app.service(), &first, |_| ()).await.expect("it goes on");
        let count = |it: &Parts| content(it).iter().filter(|it| it.0.starts_with("data/")).map(|it| it.1.len()).sum::<usize>();
        assert!(rest.rows > 0 && rest.rows < u64::try_from(count(&parts(&first))).expect("a number"));
        assert_same(&first, &exported(&app, "second.zip").await);
    }

    async fn sec_a_hostile_archive_is_refused(app: TestApp) {
        let admin = app.user("admin").await;
        let first = exported(&app, "first.zip").await;
        delete(&admin).await;
        let all = parts(&first);
        let digest = all.keys().find(|it| it.starts_with("files/")).expect("a file").clone();
        let site = "data/site/site.jsonl";
        let in_site = |from: &str, to: &str| String::from_utf8_lossy(&all[site]).replace(from, to).into_bytes();
        let manifest = |from: &str, to: &str| {
            let text = String::from_utf8_lossy(&all["manifest.json"]).replace(from, to);
            ("manifest.json".to_owned(), text.into_bytes())
        };
        let cases: Vec<(&str, (String, Vec<u8>))> = vec![
            ("it has `../escape`", ("../escape".to_owned(), b"x".to_vec())),
            ("it has `data/site/../x.jsonl`", ("data/site/../x.jsonl".to_owned(), b"x".to_vec())),
            ("too large", ("data/site/x.jsonl".to_owned(), vec![b' '; 3 << 20])),
            ("is damaged", (digest.clone(), b"other bytes".to_vec())),
            ("has the form 2", manifest("\"format\":1", "\"format\":2")),
            ("does not have", manifest("\"site_page\":", "\"no_table\":")),
            ("must begin with a letter or digit", manifest("\"site\":\"biology-101\"", "\"site\":\"../x\"")),
            ("no site that can be imported", manifest("\"site\":\"biology-101\"", "\"site\":\"!admin\"")),
            ("belongs to another site", (site.to_owned(), in_site("\"id\":\"biology-101\"", "\"id\":\"chemistry-201\""))),
            ("which the type does not have", (site.to_owned(), in_site("{\"id\"", "{\"password\":\"x\",\"id\""))),
            ("has no integer", (site.to_owned(), in_site("\"version\":", "\"version\":0."))),
        ];
        for (message, (name, bytes)) in cases {
            let mut hostile = all.clone();
            hostile.insert(name.clone(), bytes);
            let file = path(&app, "hostile.zip");
            pack(&file, &hostile);
            let refused = import(app.service(), &file, |_| ()).await.expect_err(message);
            assert!(refused.message().contains(message), "{name}: {refused}");
            assert!(refused.kind() != entity_core::ErrorKind::Internal, "{refused:?}");
            admin.get(SITE_PATH).await.expect(StatusCode::NOT_FOUND);
        }
        let whole = fs::read(&first).expect("a file");
        for bytes in [&whole[..whole.len() / 2], b"no archive at all".as_slice(), b""] {
            let file = path(&app, "cut.zip");
            fs::write(&file, bytes).expect("room");
            import(app.service(), &file, |_| ()).await.expect_err("it is damaged");
        }
        admin.get(SITE_PATH).await.expect(StatusCode::NOT_FOUND);
    }

    async fn sec_rows_of_an_archive_name_nothing_outside_of_it(app: TestApp) {
        let admin = app.user("admin").await;
        let chemistry = admin.get("/direct/site/chemistry-201.json").await.json();
        let foreign = chemistry["sitePages"][0]["id"].as_str().map(ToOwned::to_owned);
        let first = exported(&app, "first.zip").await;
        delete(&admin).await;
        let all = parts(&first);
        let rows = |name: &str| lines(&all[name]);
        let write = |rows: &[Value]| rows.iter().flat_map(|it| format!("{it}\n").into_bytes()).collect::<Vec<_>>();
        let mut cases = Vec::new();
        let mut files = rows("data/content/content.jsonl");
        let file = files.iter_mut().find(|it| it["blob"].is_string()).expect("a file");
        file["blob"] = json!(format!("{}:5", "a".repeat(64)));
        cases.push(("which is not in it", "data/content/content.jsonl", write(&files)));
        for (column, value, message) in [
            ("size", json!(-5), "has another size than its file"),
            ("resource_id", json!("/group/chemistry-201/a.pdf"), "has a path that is none of the site"),
            ("resource_id", json!("/group/biology-101/../chemistry-201/a.pdf"), "has a path that is none of the site"),
        ] {
            let mut files = rows("data/content/content.jsonl");
            let file = files.iter_mut().find(|it| it["blob"].is_string()).expect("a file");
            file[column] = value;
            cases.push((message, "data/content/content.jsonl", write(&files)));
        }
        let mut tools = rows("data/site/site_tool.jsonl");
        if let Some(page) = foreign {
            tools[0]["page_id"] = json!(page);
            cases.push(("none of this site", "data/site/site_tool.jsonl", write(&tools)));
        }
        let mut sites = rows("data/site/site.jsonl");
        sites[0]["description"] = json!("<p>Hello<script>alert(1)</script></p>");
        for (message, name, bytes) in cases {
            let mut hostile = all.clone();
            hostile.insert(name.to_owned(), bytes);
            let file = path(&app, "hostile.zip");
            pack(&file, &hostile);
            let refused = import(app.service(), &file, |_| ()).await.expect_err(message);
            assert!(refused.message().contains(message), "{name}: {refused}");
            delete(&admin).await;
        }
        let mut hostile = all.clone();
        hostile.insert("data/site/site.jsonl".to_owned(), write(&sites));
        let file = path(&app, "script.zip");
        pack(&file, &hostile);
        import(app.service(), &file, |_| ()).await.expect("it comes in");
        let site = admin.get(&format!("{SITE_PATH}.json")).await;
        let site = site.text();
        assert!(site.contains("Hello") && !site.contains("alert"), "{site}");
    }

    async fn an_administrator_gets_the_archive_by_http(app: TestApp) {
        let admin = app.user("admin").await;
        let answer = admin.post(&format!("{SITE_PATH}/archive"), &json!({})).await;
        assert_eq!(answer.expect(StatusCode::OK).header(CONTENT_TYPE), Some("application/zip"));
        let file = path(&app, "sent.zip");
        fs::write(&file, &answer.body).expect("room");
        assert_same(&file, &exported(&app, "first.zip").await);
        let keyed = admin.clone().with_header(http::HeaderName::from_static("idempotency-key"), "one");
        keyed.post(&format!("{SITE_PATH}/archive"), &json!({})).await.expect(StatusCode::BAD_REQUEST);
        admin.post("/direct/site/!admin/archive", &json!({})).await.expect(StatusCode::CONFLICT);
        app.user("instructor1").await.post(&format!("{SITE_PATH}/archive"), &json!({})).await.expect(StatusCode::FORBIDDEN);
    }
}
