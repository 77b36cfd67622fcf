//! The usage that the database counts for accounts and sites is right, whatever happened: counted here once more, row
//! by row, with statements of our own.

mod people;

use std::collections::BTreeMap;

use entity_core::Entity;
use entity_core::engine::Route;
use entity_providers::storage::db::{connect, count_tables, mend_usage, miscounted};
use sea_orm::{ConnectionTrait, DatabaseConnection, Statement};
use serde::{Deserialize, Serialize};
use tests::rows::databases;
use tests::{Backend, OnBackend, TestApp, both};

use self::people::{ALL, Actor};
use crate::query::dice::Dice;

/// The number of entities and of bytes, by kind and id of an account or a site.
pub(crate) type Counts = BTreeMap<(String, String), (i64, i64)>;

/// Account, site and text of each row of a table, as the columns `owner`, `site` and `line`.
const ROWS: [&str; 51] = [
    "SELECT created_by AS owner, site_id AS site, title || body || attachments AS line FROM announcement",
    "SELECT owner_id AS owner, id AS site, title || coalesce(type, '') || coalesce(short_description, '')
        || coalesce(description, '') || coalesce(contact_name, '') || coalesce(contact_email, '')
        || coalesce(joiner_role, '') || coalesce(skin, '') || coalesce(term, '') || coalesce(term_eid, '') AS line
        FROM site",
    "SELECT NULL AS owner, site_id AS site, title || coalesce(description, '') AS line FROM site_group",
    "SELECT id AS owner, NULL AS site, eid || email || first_name || last_name || type || props AS line
        FROM user_account",
    "SELECT NULL AS owner, site_id AS site, role AS line FROM membership",
    "SELECT NULL AS owner, g.site_id AS site, '' AS line FROM group_member JOIN site_group g ON id = group_id",
    "SELECT NULL AS owner, a.site_id AS site, '' AS line FROM announcement_group JOIN announcement a ON id = announcement_id",
    "SELECT NULL AS owner, substr(realm, 7) AS site, role || function AS line FROM realm_grant WHERE realm LIKE '/site/%'",
    "SELECT invited_by AS owner, site_id AS site, role || invitee AS line FROM invitation",
    "SELECT creator AS owner, site_id AS site, title || description || type || time_zone || coalesce(recurrence_rule, '')
        || coalesce(location, '') || attachments AS line FROM calendar_event",
    "SELECT NULL AS owner, site_id AS site, '' AS line FROM calendar_event_group",
    "SELECT creator AS owner, site_id AS site, title || instructions || grade_scale || coalesce(grade_scale_max_points, '')
        || submission_type || coalesce(model_answer_text, '') || coalesce(private_note_text, '') || attachments AS line
        FROM assignment",
    "SELECT NULL AS owner, site_id AS site, '' AS line FROM assignment_group",
    "SELECT submitter AS owner, site_id AS site, assignment_id || coalesce(submitted_text, '') || submitted_attachments
        || coalesce(grade, '') || coalesce(feedback_text, '') || coalesce(feedback_comment, '') || feedback_attachments
        || coalesce(private_notes, '') AS line FROM assignment_submission",
    "SELECT created_by AS owner, site_id AS site, title || data || attachments AS line FROM syllabus",
    "SELECT author_id AS owner, site_id AS site, title || coalesce(description, '') || coalesce(web_link_url, '') || media_type
        || coalesce(folder_id, '') || coalesce(copyright_alert, '') AS line FROM content",
    "SELECT created_by AS owner, site_id AS site, lesson_title || coalesce(parent_id, '') || description AS line
        FROM lesson_page",
    "SELECT made_by AS owner, site_id AS site, lesson_id || name || kind || description || html || sakai_id || url || format
        || coalesce((SELECT string_agg(e.name || e.id || e.item_id || '----------------------------------------', '')
        FROM lesson_checklist_entry e WHERE e.item_id = this.item_id), '') AS line FROM lesson_item this",
    "SELECT user_id AS owner, site_id AS site, '' AS line FROM lesson_progress",
    "SELECT made_by AS owner, site_id AS site, name || coalesce(category_id, '') AS line FROM gradebook_item",
    "SELECT made_by AS owner, site_id AS site, name AS line FROM gradebook_category",
    "SELECT NULL AS owner, site_id AS site, item_id || user_id || comment AS line FROM gradebook_score",
    "SELECT NULL AS owner, site_id AS site, '' AS line FROM gradebook_change",
    "SELECT NULL AS owner, site_id AS site, user_id || grade || reason AS line FROM gradebook_override",
    "SELECT made_by AS owner, site_id AS site, title || coalesce(description, '') || feedback || counted AS line FROM quiz",
    "SELECT made_by AS owner, site_id AS site, quiz_id || text || kind || choices || correct || coalesce(feedback, '') AS line
        FROM quiz_question",
    "SELECT user_id AS owner, site_id AS site, '' AS line FROM quiz_attempt",
    "SELECT user_id AS owner, site_id AS site, quiz_id AS line FROM quiz_extension",
    "SELECT creator AS owner, site_id AS site, title || message || kind || visibility || tags AS line FROM conversation_topic",
    "SELECT NULL AS owner, site_id AS site, '' AS line FROM conversation_topic_group",
    "SELECT creator AS owner, site_id AS site, topic_id || coalesce(parent_post, '') || message AS line
        FROM conversation_post",
    "SELECT creator AS owner, site_id AS site, post_id || message AS line FROM conversation_comment",
    "SELECT user_id AS owner, site_id AS site, '' AS line FROM conversation_mark",
    "SELECT user_id AS owner, site_id AS site, '' AS line FROM conversation_agreement",
    "SELECT NULL AS owner, site_id AS site, guidelines AS line FROM conversation_settings",
    "SELECT made_by AS owner, site_id AS site, label || description AS line FROM conversation_tag",
    "SELECT creator AS owner, site_id AS site, title || short_description || extended_description || attachments AS line
        FROM forum",
    "SELECT creator AS owner, site_id AS site, forum_id || title || short_description || extended_description
        || attachments AS line FROM forum_topic",
    "SELECT author_id AS owner, site_id AS site, topic_id || title || body || attachments AS line FROM forum_message",
    "SELECT user_id AS owner, site_id AS site, '' AS line FROM forum_read",
    "SELECT owner, site_id AS site, description || notes AS line FROM task",
    "SELECT made_by AS owner, site_id AS site, title || description || filter_type AS line FROM chat_channel",
    "SELECT owner_id AS owner, site_id AS site, channel_id || body AS line FROM chat_message",
    "SELECT made_by AS owner, site_id AS site, title || url AS line FROM web_content",
    "SELECT made_by AS owner, site_id AS site, title || url AS line FROM news_feed",
    "SELECT owner, site_id AS site, text || description || display_result AS line FROM poll",
    "SELECT NULL AS owner, site_id AS site, answer AS line FROM poll_option",
    "SELECT user_id AS owner, site_id AS site, chosen AS line FROM poll_vote",
    "SELECT user_uuid AS owner, NULL AS site, coalesce(nickname, '') || coalesce(pronouns, '') || coalesce(pronunciation, '')
        || coalesce(student_number, '') AS line FROM profile",
    "SELECT user_id AS owner, NULL AS site, coalesce(time_zone, '') || coalesce(language, '') || muted_kinds AS line
        FROM preference",
    "SELECT owner, site_id AS site, coalesce(description, '') || url || kinds AS line FROM webhook",
];

/// The same of [`Poll`].
pub(crate) const POLLS: &str = "SELECT asked_by AS owner, site_id AS site, question || coalesce(hint, '') AS line FROM usage_poll";

/// A type that says nothing of quotas.
#[derive(Clone, Debug, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "usage-poll", table = "usage_poll", access = Site("inquiry"), verbs(read, list, create, update, delete))]
struct Poll {
    #[entity(id)]
    id: String,
    #[entity(site)]
    site_id: String,
    #[entity(owner)]
    asked_by: String,
    #[entity(title, search, required)]
    question: String,
    hint: Option<String>,
    points: i64,
}

/// The route of that type.
pub(crate) fn polls() -> Route {
    Route::of::<Poll>(("tests", "1.0.0"))
        .read()
        .list()
        .create()
        .update()
        .delete()
        .table()
        .build()
}

async fn rows(connection: &DatabaseConnection, sql: &str) -> Vec<sea_orm::QueryResult> {
    let statement = Statement::from_string(connection.get_database_backend(), sql);
    connection.query_all_raw(statement).await.expect("rows")
}

/// Returns the counts of the database.
pub(crate) async fn counted(app: &TestApp) -> Counts {
    let connection = databases(app).await.swap_remove(0);
    let rows = rows(&connection, "SELECT kind, id, entities, bytes FROM usage").await;
    let get = |row: &sea_orm::QueryResult| {
        let text = |name| row.try_get::<String>("", name);
        let number = |name| row.try_get::<i64>("", name);
        let key = (text("kind")?, text("id")?);
        Ok::<_, sea_orm::DbErr>((key, (number("entities")?, number("bytes")?)))
    };
    rows.iter().map(|it| get(it).expect("a count")).collect()
}

/// Counts the entities and bytes row by row.
async fn present(connection: &DatabaseConnection, more: &[&str]) -> Counts {
    let mut counts = Counts::new();
    for sql in ROWS.iter().chain(more) {
        for row in rows(connection, sql).await {
            let text = |name| {
                row.try_get::<Option<String>>("", name)
                    .expect("text or nothing")
            };
            let line = text("line").expect("text");
            let bytes = i64::try_from(line.len()).expect("a small number");
            for (kind, id) in [("account", text("owner")), ("site", text("site"))] {
                if let Some(id) = id {
                    let count = counts.entry((kind.to_owned(), id)).or_default();
                    *count = (count.0 + 1, count.1 + bytes);
                }
            }
        }
    }
    counts
}

/// Checks that the counts are right, for the service's own types and by the statements in `more`.
pub(crate) async fn assert_exact(app: &TestApp, more: &[&str]) {
    let connection = databases(app).await.swap_remove(0);
    assert_eq!(counted(app).await, present(&connection, more).await);
}

/// A service with polls beside its own types.
struct WithPolls(TestApp);

impl OnBackend for WithPolls {
    async fn on_backend(backend: Backend) -> Option<Self> {
        TestApp::with_type(backend, polls()).await.map(Self)
    }
}

both! {
    async fn whatever_happens_what_is_counted_is_what_is_there(app: WithPolls) {
        let app = app.0;
        assert_exact(&app, &[POLLS]).await;
        let mut dice = Dice::new(20_261_122);
        let mut actors = Vec::new();
        for eid in ["admin", "instructor1", "instructor2", "student1", "student2"] {
            actors.push(Actor::new(app.user(eid).await, eid));
        }
        let mut outcomes = BTreeMap::<(&str, bool), u32>::new();
        for round in 0..400 {
            let actor = dice.below(actors.len());
            let (what, status) = actors[actor].act(&mut dice).await;
            assert!(status.as_u16() < 500, "{what}: {status}");
            *outcomes.entry((what, status.is_success())).or_default() += 1;
            if round % 20 == 0 {
                assert_exact(&app, &[POLLS]).await;
            }
        }
        assert_exact(&app, &[POLLS]).await;
        for what in ALL {
            let done = outcomes.get(&(what, true)).copied().unwrap_or_default();
            assert!(done > 0, "nobody managed to {what}: {outcomes:?}");
        }
        let db = connect(app.database().url()).await.expect("a database");
        assert_eq!(miscounted(&db).await.expect("a number"), 0);
    }

    async fn other_programs_are_counted_too(app: TestApp) {
        let connection = databases(&app).await.swap_remove(0);
        for sql in [
            "UPDATE announcement SET title = title || title || 'ü' WHERE site_id = 'biology-101'",
            "UPDATE announcement SET created_by = 'nobody' WHERE site_id = 'biology-101'",
            "INSERT INTO invitation (id, site_id, role, invitee, invitee_lower, invited_by, created, expires)
                SELECT id, 'biology-101', 'Student', email, id, id, 0, 0 FROM user_account",
            "UPDATE site SET owner_id = NULL",
            "DELETE FROM announcement WHERE created_by <> 'nobody'",
            "DELETE FROM user_account WHERE eid LIKE 'student%'",
            "DELETE FROM site WHERE id = 'biology-101'",
            "DELETE FROM announcement",
        ] {
            connection.execute_unprepared(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_exact(&app, &[]).await;
        }
    }

    async fn a_database_of_before_is_counted_at_the_start(app: TestApp) {
        let connection = databases(&app).await.swap_remove(0);
        let db = connect(app.database().url()).await.expect("a database");
        let registry = app.service().dispatcher.registry();
        let expected = counted(&app).await;
        assert!(expected.len() > 20, "{expected:?}");
        for forgotten in ["DELETE FROM usage_source", "DELETE FROM usage_source WHERE name = 'site'"] {
            for sql in ["DELETE FROM usage", forgotten] {
                connection.execute_unprepared(sql).await.expect("it is forgotten");
            }
            count_tables(&db, registry).await.expect("it is counted");
            assert_eq!(counted(&app).await, expected);
        }
        // A table that was made anew has lost its triggers.
        let lost = match app.database().backend() {
            Backend::Sqlite => "DROP TRIGGER usage_of_announcement_update",
            Backend::Postgres => "DROP TRIGGER usage_of_announcement_update ON announcement",
        };
        connection.execute_unprepared(lost).await.expect("it is gone");
        let unseen = "UPDATE announcement SET title = 'x'";
        connection.execute_unprepared(unseen).await.expect("it is changed");
        assert_eq!(counted(&app).await, expected);
        count_tables(&db, registry).await.expect("it is counted");
        assert_exact(&app, &[]).await;
    }

    async fn what_is_counted_wrong_is_found_and_mended(app: TestApp) {
        let connection = databases(&app).await.swap_remove(0);
        let db = connect(app.database().url()).await.expect("a database");
        assert_eq!(mend_usage(&db).await.expect("nothing to do"), 0);
        for sql in [
            "UPDATE usage SET bytes = bytes - 1 WHERE kind = 'site' AND id = 'biology-101'",
            "INSERT INTO usage (kind, id, entities, bytes) VALUES ('account', 'nobody', 1, 0)",
            "DELETE FROM usage WHERE kind = 'site' AND id = '!site'",
        ] {
            connection.execute_unprepared(sql).await.expect("it is falsified");
        }
        assert_eq!(miscounted(&db).await.expect("a number"), 3);
        assert_eq!(mend_usage(&db).await.expect("it is counted"), 3);
        assert_eq!(miscounted(&db).await.expect("a number"), 0);
        assert_exact(&app, &[]).await;
    }
}
