//! Deletion is complete: no row names a deleted entity, no file of it is left, no address reaches it.

use std::collections::BTreeSet;

use http::StatusCode;
use sea_orm::{ConnectionTrait as _, Database as Connection, DatabaseConnection, Statement};
use serde_json::json;
use tests::app::PASSWORD;
use tests::{Backend, Client, Database, TestApp, both};

const SITE: &str = "biology-101";
/// The columns that tell what was done.
const LOGS: [&str; 2] = ["audit.path", "outbox.reference"];
/// The columns that tell who made what is for others, and whose quota it takes.
const AUTHORS: [&str; 29] = [
    "announcement.created_by",
    "assignment.author_last_modified",
    "assignment.creator",
    "calendar_event.creator",
    "chat_message.owner_id",
    "content.author_id",
    "forum.creator",
    "forum.modifier",
    "forum_message.author_id",
    "forum_message.modified_by",
    "forum_topic.creator",
    "forum_topic.modifier",
    "conversation_comment.creator",
    "conversation_comment.modifier",
    "conversation_post.answers_to",
    "conversation_post.creator",
    "conversation_post.modifier",
    "conversation_topic.creator",
    "conversation_topic.modifier",
    "gradebook_change.changed_by",
    "gradebook_override.entered_by",
    "gradebook_score.graded_by",
    "lesson_page.created_by",
    "notification.from_user",
    "poll.owner",
    "quiz.last_modified_by",
    "syllabus.created_by",
    "task.owner",
    "usage.id",
];

/// Looks for a word in all rows of a database.
struct Search {
    connection: DatabaseConnection,
    /// One statement for each column: the name of the table and of the column.
    columns: Vec<(String, String)>,
}

impl Search {
    async fn of(database: &Database) -> Self {
        let connection = Connection::connect(database.url()).await;
        let connection = connection.expect("it connects");
        let sql = match database.backend() {
            Backend::Sqlite => {
                "SELECT m.name AS place, c.name AS name FROM sqlite_master m, pragma_table_info(m.name) c \
                 WHERE m.type = 'table'"
            }
            Backend::Postgres => {
                "SELECT table_name::text AS place, column_name::text AS name FROM information_schema.columns \
                 WHERE table_schema = 'public'"
            }
        };
        let statement = Statement::from_string(connection.get_database_backend(), sql);
        let rows = connection.query_all_raw(statement).await;
        let rows = rows.expect("the columns").into_iter();
        let columns = rows.map(|it| {
            let text = |name| it.try_get("", name).expect("a name");
            (text("place"), text("name"))
        });
        let columns: Vec<_> = columns.collect();
        assert!(columns.len() > 100, "{columns:?}");
        Self {
            connection,
            columns,
        }
    }

    /// The columns that have `word` anywhere, as `table.column`.
    async fn places(&self, word: &str) -> BTreeSet<String> {
        let selects = self.columns.iter().map(|(table, column)| {
            format!(
                "SELECT '{table}.{column}' AS place WHERE EXISTS (SELECT 1 FROM \"{table}\" \
                 WHERE cast(\"{column}\" AS TEXT) LIKE '%{word}%')"
            )
        });
        let selects: Vec<String> = selects.collect();
        let mut places = BTreeSet::new();
        // SQLite takes no more in one statement.
        for selects in selects.chunks(100) {
            let sql = selects.join(" UNION ALL ");
            let backend = self.connection.get_database_backend();
            let statement = Statement::from_string(backend, sql);
            let rows = self.connection.query_all_raw(statement).await;
            let rows = rows.expect("an answer").into_iter();
            places.extend(rows.map(|it| it.try_get::<String>("", "place").expect("a name")));
        }
        places
    }
}

/// The addresses of all entities of the site that these clients see, of the types in `kinds`.
async fn links(clients: &[Client], kinds: &str) -> BTreeSet<String> {
    let mut links = BTreeSet::new();
    for client in clients {
        for kind in kinds.split(' ') {
            let path = match kind {
                "sam_pub" => format!("/direct/sam_pub/context/{SITE}.json"),
                _ => format!("/direct/{kind}/site/{SITE}.json"),
            };
            let list = client.get(&path).await.expect(StatusCode::OK).json();
            links.insert(path);
            for entity in list[format!("{kind}_collection")]
                .as_array()
                .into_iter()
                .flatten()
            {
                let reference = entity["entityReference"].as_str();
                links.extend(reference.map(|it| format!("/direct{it}.json")));
            }
        }
    }
    links
}

/// Deletes the account with this name, and returns its id.
async fn deleted(admin: &Client, eid: &str) -> String {
    let user = admin.get(&format!("/direct/user/{eid}.json")).await.json();
    let id = user["id"].as_str().expect("an id").to_owned();
    let gone = admin.delete(&format!("/direct/user/{id}")).await;
    gone.expect(StatusCode::NO_CONTENT);
    id
}

both! {
async fn a_site_that_is_deleted_leaves_nothing(app: TestApp) {
    let search = Search::of(app.database()).await;
    let before = search.places(SITE).await;
    for table in ["announcement", "assignment", "calendar_event", "chat_channel", "chat_message", "content", "conversation_topic", "forum", "forum_message", "forum_read", "gradebook_item", "lesson_page", "news_feed", "poll", "poll_option", "poll_vote", "quiz", "web_content", "webhook"] {
        assert!(before.iter().any(|it| it.starts_with(&format!("{table}."))), "{table}: {before:?}");
    }
    let admin = app.anonymous().log_in("admin", PASSWORD).await;
    let mut clients = Vec::new();
    for eid in ["admin", "instructor1", "student1"] {
        let client = app.anonymous().log_in(eid, PASSWORD).await;
        clients.push(client);
    }
    let links = links(&clients, "announcement assignment calendar content lessons news poll sam_pub webcontent").await;
    assert!(links.len() > 30, "{links:?}");
    admin.delete(&format!("/direct/site/{SITE}")).await.expect(StatusCode::NO_CONTENT);
    // The logs say what was done, and no more.
    let logs = ["audit.path", "outbox.reference", "outbox.site"].map(str::to_owned);
    assert_eq!(search.places(SITE).await, BTreeSet::from(logs));
    for client in &clients {
        for link in &links {
            let answer = client.get(link).await;
            let is_gone = answer.status == StatusCode::NOT_FOUND || answer.text().contains("_collection\":[]");
            assert!(is_gone, "{link}: {}", answer.text());
        }
    }
}

async fn an_account_that_is_deleted_leaves_what_it_made_for_others(app: TestApp) {
    let search = Search::of(app.database()).await;
    let admin = app.anonymous().log_in("admin", PASSWORD).await;
    let student = deleted(&admin, "student1").await;
    // What students have said to others stays: others have answered it.
    let mut left = search.places(&student).await;
    left.retain(|it| !it.starts_with("conversation_") && !it.starts_with("forum_message.") && !it.starts_with("chat_message.") && it != "usage.id");
    assert_eq!(left, BTreeSet::from(LOGS.map(str::to_owned)));
    // What is for others stays, and says by the id alone whose it was.
    let teacher = deleted(&admin, "instructor1").await;
    let left = search.places(&teacher).await;
    let is_known = |it: &&String| !it.ends_with(".made_by") && !AUTHORS.iter().chain(&LOGS).any(|known| known == it);
    assert_eq!(left.iter().filter(is_known).collect::<Vec<_>>(), Vec::<&String>::new());
    for kind in ["announcement", "assignment", "calendar", "content", "lessons", "poll"] {
        let list = admin.get(&format!("/direct/{kind}/site/{SITE}.json")).await;
        list.expect(StatusCode::OK);
    }
}

async fn a_role_that_is_deleted_lets_nobody_in(app: TestApp) {
    let admin = app.anonymous().log_in("admin", PASSWORD).await;
    let search = Search::of(app.database()).await;
    let path = format!("/direct/site/{SITE}/role/Visitor-Of-Labs");
    admin.post(&path, &json!({})).await.expect(StatusCode::OK);
    let form = "Visitor-Of-Labs:annc.read=true";
    let set = admin.post_form(&format!("/direct/site/{SITE}/setPerms"), form).await;
    assert!(set.status.is_success(), "{}", set.text());
    assert!(!search.places("Visitor-Of-Labs").await.is_empty());
    admin.delete(&path).await.expect(StatusCode::OK);
    // One that comes back has nothing of what it held.
    admin.post(&path, &json!({})).await.expect(StatusCode::OK);
    let perms = admin.get(&format!("/direct/site/{SITE}/perms.json")).await.json();
    assert_eq!(perms["data"]["Visitor-Of-Labs"], json!([]), "{perms}");
}
}
