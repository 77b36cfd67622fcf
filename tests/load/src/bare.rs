//! The yardstick of what is measured: the least that can serve the same rows, axum and rusqlite and nothing else.
//!
//! A connection for each worker thread, statements prepared once, the session looked up in a map, typed JSON.
//! It checks no permission, keeps no audit and knows one format.

mod portal;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row};
use serde::Serialize;

const COLUMNS: &str = "SELECT a.id, a.title, a.body, a.channel, a.site_id, s.title, a.created_by, \
    u.first_name, u.last_name, a.published, a.modified, a.highlight, a.is_draft, a.release_at, a.retract_at \
    FROM announcement a JOIN site s ON s.id = a.site_id LEFT JOIN user_account u ON u.id = a.created_by";

#[derive(Clone)]
struct Bare {
    file: Arc<PathBuf>,
    /// User ids by the session's cookie.
    sessions: Arc<RwLock<HashMap<String, String>>>,
    base_url: Arc<str>,
}

/// The same keys in the same order as the service writes them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "these are the names on the wire")]
struct Announcement {
    id: String,
    announcement_id: String,
    title: String,
    body: String,
    channel: String,
    site_id: String,
    site_title: String,
    created_by: String,
    created_by_display_name: String,
    created_on: i64,
    modified_on: i64,
    highlight: Option<bool>,
    selected_roles: Option<Vec<String>>,
    draft: bool,
    release_date: Option<i64>,
    retract_date: Option<i64>,
    groups: Vec<String>,
    attachments: Vec<String>,
    entity_reference: String,
    #[serde(rename = "entityURL")]
    entity_url: String,
    entity_id: String,
    entity_title: String,
}

#[derive(Serialize)]
struct Announcements {
    #[serde(rename = "entityPrefix")]
    entity_prefix: &'static str,
    announcement_collection: Vec<Announcement>,
}

/// Returns the router that answers the requests of `users`, whose ids are told by the cookies that they send, from the
/// SQLite file `file`; addresses in answers begin with `base_url`.
pub fn router(
    file: PathBuf,
    base_url: &str,
    users: impl IntoIterator<Item = (String, String)>,
) -> Router {
    let bare = Bare {
        file: Arc::new(file),
        sessions: Arc::new(RwLock::new(users.into_iter().collect())),
        base_url: base_url.into(),
    };
    Router::new()
        .route("/direct/announcement/{id}", get(one))
        .route("/direct/announcement/site/{site}", get(list))
        .route("/api/users/me/sites", get(portal::sites))
        .route("/api/users/me/dashboard", get(portal::dashboard))
        .with_state(bare)
}

async fn one(State(bare): State<Bare>, headers: HeaderMap, Path(id): Path<String>) -> Response {
    if bare.user(&headers).is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let id = id.strip_suffix(".json").unwrap_or(&id);
    let id = id.rsplit(':').next().unwrap_or(id);
    let found = bare.with_connection(|connection| {
        connection
            .prepare_cached(&format!("{COLUMNS} WHERE a.id = ?1"))?
            .query_row([id], |row| bare.announcement(row))
            .optional()
    });
    match found {
        Ok(Some(announcement)) => json(&announcement),
        Ok(None) => StatusCode::NOT_FOUND.into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn list(
    State(bare): State<Bare>,
    headers: HeaderMap,
    Path(site): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    if bare.user(&headers).is_none() {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let site = site.strip_suffix(".json").unwrap_or(&site);
    let limit = query.and_then(|it| it.strip_prefix("n=")?.parse::<u32>().ok());
    let found = bare.with_connection(|connection| {
        connection
            .prepare_cached(&format!(
                "{COLUMNS} WHERE a.site_id = ?1 ORDER BY a.published DESC, a.id LIMIT ?2"
            ))?
            .query_map((site, limit.unwrap_or(50)), |row| bare.announcement(row))?
            .collect()
    });
    match found {
        Ok(announcement_collection) => json(&Announcements {
            entity_prefix: "announcement",
            announcement_collection,
        }),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn json(body: &impl Serialize) -> Response {
    match serde_json::to_vec(body) {
        Ok(bytes) => ([(header::CONTENT_TYPE, "application/json")], bytes).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

impl Bare {
    /// The id of who sends these headers.
    fn user(&self, headers: &HeaderMap) -> Option<String> {
        let cookie = headers.get(header::COOKIE)?.to_str().ok()?;
        self.sessions.read().ok()?.get(cookie).cloned()
    }

    /// Runs `work` with the connection of this thread.
    fn with_connection<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        thread_local! {
            static CONNECTION: RefCell<Option<Connection>> = const { RefCell::new(None) };
        }
        CONNECTION.with_borrow_mut(|slot| match slot {
            Some(connection) => work(connection),
            None => work(slot.insert(self.open()?)),
        })
    }

    fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&*self.file, flags)?;
        connection.pragma_update(None, "mmap_size", 268_435_456)?;
        connection.pragma_update(None, "cache_size", -8192)?;
        connection.set_prepared_statement_cache_capacity(16);
        Ok(connection)
    }

    fn announcement(&self, row: &Row<'_>) -> rusqlite::Result<Announcement> {
        let announcement_id: String = row.get(0)?;
        let title: String = row.get(1)?;
        let channel: String = row.get(3)?;
        let site_id: String = row.get(4)?;
        let id = format!("{site_id}:{channel}:{announcement_id}");
        let entity_reference = format!("/announcement/{id}");
        let names: (Option<String>, Option<String>) = (row.get(7)?, row.get(8)?);
        Ok(Announcement {
            announcement_id,
            entity_url: format!("{}/direct{entity_reference}", self.base_url),
            entity_reference,
            entity_id: id.clone(),
            entity_title: title.clone(),
            title,
            body: row.get(2)?,
            channel,
            site_id,
            site_title: row.get(5)?,
            created_by: row.get(6)?,
            created_by_display_name: match names {
                (Some(first), Some(last)) => format!("{first} {last}"),
                _ => String::new(),
            },
            created_on: row.get(9)?,
            modified_on: row.get(10)?,
            highlight: row.get(11)?,
            selected_roles: None,
            draft: row.get(12)?,
            release_date: row.get(13)?,
            retract_date: row.get(14)?,
            groups: Vec::new(),
            attachments: Vec::new(),
            id,
        })
    }
}
