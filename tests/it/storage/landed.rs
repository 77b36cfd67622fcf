//! Migrations that landed: what each does to a database, and to rows of which each has something to do, is held by its
//! digest. So none of them may call what still changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use entity_providers::storage::db::connect;
use sea_orm::{ConnectionTrait, DatabaseConnection, DbBackend, Statement};
use sea_orm_migration::{MigrationTrait, SchemaManager};
use serde_json::{Map, Value};
use server::operate::storage;
use sha2::{Digest as _, Sha256};
use tests::rows::texts;
use tests::{Database, both};

/// The digests, a line each: the name of a migration, and what it does on SQLite and on PostgreSQL.
const LANDED: &str = "it/storage/landed.txt";

/// Rows, and the migration behind which there are some.
#[rustfmt::skip]
const ROWS: &[(&str, &str)] = &[
    ("m20261121_000002_sites", "INSERT INTO user_account
        (id, eid, email, first_name, last_name, type, password_hash, is_disabled, props, created, modified, version) VALUES
        ('u1', 'Ada', 'Ada@example.edu', 'ADA', 'Straße', 'registered', 'same', FALSE, '{}', 1, 1, 1),
        ('u2', 'ben', 'ben@example.edu', 'É', 'İ', 'maintain', 'same', FALSE, '{}', 1, 1, 2),
        ('u3', 'cy', '', '', '', 'guest', 'other', TRUE, '{}', 1, 1, 1)"),
    ("m20261121_000002_sites", "INSERT INTO site
        (id, title, type, short_description, is_published, is_pub_view, is_joinable, created, modified, version) VALUES
        ('Biology-101', 'BIOLOGY & Life', 'course', 'Ünï', TRUE, FALSE, FALSE, 1, 1, 1),
        ('biology-101', 'two', 'course', NULL, TRUE, FALSE, FALSE, 1, 1, 1),
        ('bıology-1о1', 'three', NULL, NULL, TRUE, TRUE, FALSE, 1, 1, 1),
        ('bücher', 'four', NULL, NULL, TRUE, FALSE, TRUE, 1, 1, 1),
        ('bu\u{308}cher', 'five', NULL, NULL, TRUE, FALSE, TRUE, 1, 1, 1),
        ('a-b', 'six', NULL, NULL, TRUE, FALSE, TRUE, 1, 1, 1),
        ('rn', 'seven', NULL, NULL, TRUE, FALSE, TRUE, 1, 1, 1),
        ('m', 'eight', NULL, NULL, TRUE, FALSE, TRUE, 1, 1, 1)"),
    ("m20261121_000002_sites", "INSERT INTO site_group (id, site_id, title) VALUES ('g1', 'm', 'Group')"),
    ("m20261121_000002_sites", "INSERT INTO group_member (group_id, user_id) VALUES ('g1', 'u1')"),
    ("m20261121_000002_sites", "INSERT INTO membership
        (user_id, site_id, role, is_active, is_provided, is_pinned, created) VALUES
        ('u1', 'm', 'access', TRUE, TRUE, FALSE, 1), ('u2', 'm', 'maintain', TRUE, FALSE, FALSE, 1)"),
    ("m20261121_000004_announcements", "INSERT INTO announcement
        (id, site_id, channel, title, body, created_by, created, published, modified, is_draft, is_restricted, position,
         attachments, version) VALUES
        ('a1', 'm', 'main', 'News', '<p>R&amp;D</p>', 'u1', 1, 1, 1, FALSE, TRUE, 1, '[]', 1)"),
    ("m20261121_000004_announcements", "INSERT INTO announcement_group VALUES ('a1', 'g1')"),
    ("m20261121_000904_idempotency_keys", "INSERT INTO feed
        (id, token_hash, user_id, title, path, query, formats, created, version) VALUES
        ('f1', 'hash', 'u1', 'ÄRGER', '/announcement', '', 'rss', 1, 1)"),
    ("m20261121_000903_journal", "INSERT INTO outbox (kind, reference, time) VALUES ('site.add', '/site/m', 1)"),
];

/// What there is in the database, a line each: columns, indexes, triggers, and the values of rows.
async fn contents(db: &DatabaseConnection) -> BTreeSet<String> {
    let backend = db.get_database_backend();
    let (schema, tables) = match backend {
        DbBackend::Postgres => (POSTGRES_SCHEMA, POSTGRES_TABLES),
        _ => (SQLITE_SCHEMA, SQLITE_TABLES),
    };
    let mut lines: BTreeSet<String> = texts(db, schema).await.into_iter().collect();
    let columns = texts(db, tables).await;
    let mut of_table: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
    for column in &columns {
        let mut parts = column.split(' ');
        let (table, name, key) = (parts.next(), parts.next(), parts.next());
        let entry = of_table.entry(table.expect("a table")).or_default();
        entry.push((name.expect("a column"), key == Some("1")));
    }
    for (table, columns) in of_table {
        let sql = if backend == DbBackend::Postgres {
            format!("SELECT row_to_json(t)::text AS line FROM \"{table}\" t")
        } else {
            let pairs: Vec<_> = columns
                .iter()
                .map(|it| format!("'{0}', \"{0}\"", it.0))
                .collect();
            format!(
                "SELECT json_object({}) AS line FROM \"{table}\"",
                pairs.join(", ")
            )
        };
        for row in texts(db, &sql).await {
            let row: Map<String, Value> = serde_json::from_str(&row).expect("JSON");
            let keys = columns
                .iter()
                .filter(|it| it.1)
                .map(|it| row[it.0].to_string());
            let key = keys.collect::<Vec<_>>().join(" ");
            lines.extend(
                row.iter()
                    .map(|it| format!("row {table} [{key}] {} = {}", it.0, it.1)),
            );
        }
    }
    lines
}

const SQLITE_TABLES: &str = "SELECT m.name || ' ' || c.name || ' ' || (c.pk > 0) AS line
    FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'";
const SQLITE_SCHEMA: &str = "SELECT 'column ' || m.name || ' ' || c.name || ' ' || c.type || ' ' || c.\"notnull\" || ' '
            || coalesce(c.dflt_value, '-') || ' ' || c.pk AS line
        FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
    UNION ALL SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master WHERE type <> 'table'
    UNION ALL SELECT 'foreign ' || m.name || ' ' || f.\"from\" || ' ' || f.\"table\" || ' ' || f.\"to\" || ' ' || f.on_delete
        FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'";
const POSTGRES_TABLES: &str = "SELECT c.relname || ' ' || a.attname || ' ' ||
        CASE WHEN a.attnum = ANY (k.conkey) THEN '1' ELSE '0' END AS line
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
    LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attnum";
const POSTGRES_SCHEMA: &str = "SELECT 'column ' || table_name || ' ' || column_name || ' ' || data_type || ' ' ||
            coalesce(collation_name, '-') || ' ' || is_nullable || ' ' || coalesce(column_default, '-') || is_identity AS line
        FROM information_schema.columns WHERE table_schema = current_schema()
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
    UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = current_schema()::regnamespace AND contype IN ('p', 'f', 'u', 'c')
    UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
    UNION ALL SELECT prosrc FROM pg_proc WHERE pronamespace = current_schema()::regnamespace";

/// What each of `steps` changes: its name, and the digest of the lines that go and that come.
async fn changes(
    db: &DatabaseConnection,
    steps: Vec<Box<dyn MigrationTrait>>,
) -> Vec<(String, String)> {
    let manager = SchemaManager::new(db);
    let mut changes = Vec::new();
    for step in steps {
        let before = contents(db).await;
        let name = step.name().to_owned();
        step.up(&manager)
            .await
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let after = contents(db).await;
        let mut digest = Sha256::new();
        for (sign, lines) in [
            ("-", before.difference(&after)),
            ("+", after.difference(&before)),
        ] {
            for line in lines {
                digest.update(format!("{sign}{line}\n"));
            }
        }
        let mut text = String::new();
        for byte in &digest.finalize()[..8] {
            write!(text, "{byte:02x}").expect("memory");
        }
        for (_, sql) in ROWS.iter().filter(|it| it.0 == name) {
            let sql = Statement::from_string(db.get_database_backend(), *sql);
            db.execute_raw(sql)
                .await
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        changes.push((name, text));
    }
    changes
}

both! {
    async fn x5_a_migration_that_landed_does_what_it_did(database: Database) {
        let db = connect(database.url()).await.expect("a database").writer;
        let place = match db.get_database_backend() {
            DbBackend::Sqlite => 1,
            _ => 2,
        };
        // The file of its own that SQLite has for the audit log.
        let mut done = changes(&db, storage::audit_migrations()).await;
        db.execute_unprepared("DROP TABLE audit").await.expect("it goes");
        done.extend(changes(&db, storage::migrations()).await);
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(LANDED);
        let landed = fs::read_to_string(file).expect("the digests");
        let landed: Vec<Vec<&str>> = landed.lines().map(|it| it.split(' ').collect()).collect();
        let mut complaints = Vec::new();
        for (index, (name, digest)) in done.iter().enumerate() {
            match landed.iter().find(|it| it[0] == name) {
                // The tables of the audit log have one name in both places.
                _ if done[..index].iter().any(|it| it.0 == *name) => {}
                None => complaints.push(format!("{name} is new: add it to {LANDED} with its digest, which is {digest} here")),
                Some(known) if known[place] == digest => {}
                Some(_) => complaints.push(format!(
                    "{name} landed and does something else now ({digest}): undo that, and add a new migration instead"
                )),
            }
        }
        let gone = landed.iter().filter(|it| !done.iter().any(|(name, _)| name == it[0]));
        complaints.extend(gone.map(|it| format!("{} landed and is gone: databases have it", it[0])));
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

#[test]
fn x5_no_migration_calls_what_still_changes() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../entity-providers/src/storage/migration");
    let mut files = 0;
    for entry in fs::read_dir(folder).expect("the folder of the migrations") {
        let path = entry.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let is_step = path
            .file_name()
            .is_some_and(|it| it.to_string_lossy().starts_with("m20"));
        // The kinds of steps leave work on rows for later, which is done as the release that does it folds text.
        let calls = text
            .lines()
            .filter(|it| !it.trim_start().starts_with("//"))
            .find(|it| {
                let foreign = ["crate::", "entity_core::", "server::"]
                    .iter()
                    .any(|path| it.contains(path));
                foreign && (is_step || !it.contains("crate::storage::db::backlog"))
            });
        files += 1;
        assert_eq!(
            calls,
            None,
            "{}: a migration contains all that it does",
            path.display()
        );
    }
    assert!(files > 20, "{files}");
}
