//! The first page of a portal: the sites of a user and a dashboard, by statements written by hand.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use chrono::{DateTime, SecondsFormat, Utc};
use rusqlite::{Connection, OptionalExtension as _, Result, Row};
use serde::Serialize;

use super::{Bare, json};

/// The tables and the condition of the rows that are shown: those of the pinned sites of `?1`.
const PINNED: &str = "membership m JOIN site s ON s.id = m.site_id \
    WHERE m.user_id = ?1 AND m.is_active AND m.is_pinned AND s.is_published";
/// The number of entries each list of a dashboard has.
const ENTRIES: &str = "LIMIT 10";
const LISTS: [&str; 4] = ["announcements", "assignments", "calendar", "grades"];

#[derive(Serialize)]
struct Portal {
    terms: Vec<Term>,
    sites: Vec<Site>,
}

#[derive(Serialize)]
struct Term {
    id: String,
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Site {
    #[serde(rename = "siteId")]
    id: String,
    title: String,
    short_description: Option<String>,
    url: String,
    pinned: bool,
    image: Option<String>,
    tools: Vec<Tool>,
    course: bool,
    term: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tool {
    id: String,
    title: String,
    url: String,
    icon_class: String,
    has_alerts: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dashboard {
    given_name: String,
    motd: String,
    widgets: [&'static str; 4],
    layout: [&'static str; 4],
    widget_layout: [&'static str; 4],
    template: i64,
    announcements: Vec<Announcement>,
    assignments: Vec<Assignment>,
    events: Vec<Event>,
    grades: Vec<Grade>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Announcement {
    id: String,
    title: String,
    subject: String,
    body: String,
    site_id: String,
    site_title: String,
    created_by: String,
    author: String,
    created_date: String,
    date: i64,
    order: i64,
    highlighted: bool,
    url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Assignment {
    id: String,
    title: String,
    site_id: String,
    site_title: String,
    status: &'static str,
    open_date: String,
    due_date: String,
    due: i64,
    url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    id: String,
    title: String,
    description: String,
    view_text: String,
    start_time: String,
    end_time: String,
    start: i64,
    duration: i64,
    site_id: String,
    site_title: String,
    r#type: String,
    creator: String,
    url: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Grade {
    id: String,
    name: String,
    score: String,
    not_graded_yet: bool,
    ungraded: i64,
    url: String,
    site_title: String,
    site_role: String,
    site_id: String,
}

pub(super) async fn sites(State(bare): State<Bare>, headers: HeaderMap) -> Response {
    answer(&bare, &headers, |connection, user| {
        let mut tools = tools(connection, user)?;
        let terms = terms(connection)?;
        let names: HashMap<&str, &str> = terms.iter().map(|it| (&*it.id, &*it.name)).collect();
        let sql = format!(
            "SELECT s.id, s.title, s.short_description, m.is_pinned, s.icon_url, s.type, s.term_eid FROM {PINNED} \
             ORDER BY s.title, s.id"
        );
        let read = |row: &Row<'_>| {
            let site_id: String = row.get(0)?;
            let term: Option<String> = row.get(6)?;
            Ok(Site {
                title: row.get(1)?,
                short_description: row.get(2)?,
                url: format!("/portal/site/{site_id}"),
                pinned: row.get(3)?,
                image: row.get(4)?,
                tools: tools.remove(&site_id).unwrap_or_default(),
                course: row.get::<_, String>(5)? == "course",
                term: term.map(|it| names.get(&*it).map_or(it.clone(), |it| (*it).to_owned())),
                id: site_id,
            })
        };
        let mut statement = connection.prepare_cached(&sql)?;
        let sites = statement.query_map([user], read)?.collect::<Result<_>>()?;
        Ok(Portal { terms, sites })
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "nobody sets the clock of a yardstick"
)]
pub(super) async fn dashboard(State(bare): State<Bare>, headers: HeaderMap) -> Response {
    answer(&bare, &headers, |connection, user| {
        let now = Utc::now().timestamp_millis();
        let name = "SELECT first_name FROM user_account WHERE id = ?1";
        let motd = "SELECT body FROM announcement WHERE site_id = '!site' AND NOT is_draft";
        let given_name = connection.prepare_cached(name)?;
        let given_name = { given_name }.query_row([user], |row| row.get(0))?;
        let mut motd = connection.prepare_cached(motd)?;
        let motd = motd.query_row([], |row| row.get(0)).optional()?;
        Ok(Dashboard {
            given_name,
            motd: motd.unwrap_or_default(),
            widgets: LISTS,
            layout: LISTS,
            widget_layout: LISTS,
            template: 1,
            announcements: announcements(connection, user, now)?,
            assignments: assignments(connection, user, now)?,
            events: events(connection, user, now)?,
            grades: grades(connection, user)?,
        })
    })
}

/// Answers what `read` reads for who asks.
fn answer<T: Serialize>(
    bare: &Bare,
    headers: &HeaderMap,
    read: impl FnOnce(&Connection, &str) -> Result<T>,
) -> Response {
    let Some(user) = bare.user(headers) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    match bare.with_connection(|connection| read(connection, &user)) {
        Ok(body) => json(&body),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn terms(connection: &Connection) -> Result<Vec<Term>> {
    let mut statement = connection.prepare_cached("SELECT id, title FROM term ORDER BY id")?;
    let read = |row: &Row<'_>| {
        let (id, name) = (row.get(0)?, row.get(1)?);
        Ok(Term { id, name })
    };
    statement.query_map([], read)?.collect()
}

/// The tools of the pinned sites, by site.
fn tools(connection: &Connection, user: &str) -> Result<HashMap<String, Vec<Tool>>> {
    let sql = format!(
        "SELECT t.site_id, t.id, t.tool_id, t.title FROM site_tool t JOIN site_page p ON p.id = t.page_id \
         WHERE t.site_id IN (SELECT s.id FROM {PINNED}) ORDER BY p.position, t.position, t.id"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([user])?;
    let mut tools: HashMap<String, Vec<Tool>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let (site, place, id): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let tool = Tool {
            title: row.get(3)?,
            url: format!("/portal/site/{site}/tool/{place}"),
            icon_class: format!("si-{}", id.replace('.', "-")),
            id,
            has_alerts: false,
        };
        tools.entry(site).or_default().push(tool);
    }
    Ok(tools)
}

fn announcements(connection: &Connection, user: &str, now: i64) -> Result<Vec<Announcement>> {
    let sql = format!(
        "SELECT s.id, s.title, {}, a.id, a.title, a.body, a.created_by, u.first_name, u.last_name, a.published, \
         a.position, a.highlight FROM announcement a LEFT JOIN user_account u ON u.id = a.created_by \
         JOIN site s ON s.id = a.site_id WHERE a.site_id IN (SELECT s.id FROM {PINNED}) AND NOT a.is_draft \
         AND NOT a.is_restricted AND coalesce(a.release_at, 0) <= ?2 AND (a.retract_at IS NULL OR a.retract_at > ?2) \
         ORDER BY a.published DESC, a.id {ENTRIES}",
        tool("sakai.announcements")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let (site_id, site_title, url) = place(row)?;
        let title: String = row.get(4)?;
        let date: i64 = row.get(9)?;
        let (first, last): (String, String) = (row.get(7)?, row.get(8)?);
        Ok(Announcement {
            id: row.get(3)?,
            subject: title.clone(),
            title,
            body: row.get(5)?,
            site_id,
            site_title,
            created_by: row.get(6)?,
            author: format!("{first} {last}"),
            created_date: iso(date),
            date,
            order: row.get(10)?,
            highlighted: row.get::<_, Option<bool>>(11)?.unwrap_or_default(),
            url,
        })
    };
    statement.query_map((user, now), read)?.collect()
}

fn assignments(connection: &Connection, user: &str, now: i64) -> Result<Vec<Assignment>> {
    let sql = format!(
        "SELECT s.id, s.title, {}, a.id, a.title, a.open_time, a.due_time FROM assignment a \
         JOIN site s ON s.id = a.site_id WHERE a.site_id IN (SELECT s.id FROM {PINNED}) AND NOT a.is_draft \
         AND NOT a.is_restricted AND a.open_time <= ?2 AND a.due_time >= ?2 ORDER BY a.due_time, a.id {ENTRIES}",
        tool("sakai.assignment.grades")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let (site_id, site_title, url) = place(row)?;
        let due: i64 = row.get(6)?;
        Ok(Assignment {
            id: row.get(3)?,
            title: row.get(4)?,
            site_id,
            site_title,
            status: "OPEN",
            open_date: iso(row.get(5)?),
            due_date: iso(due),
            due,
            url,
        })
    };
    statement.query_map((user, now), read)?.collect()
}

fn events(connection: &Connection, user: &str, now: i64) -> Result<Vec<Event>> {
    let sql = format!(
        "SELECT s.id, s.title, {}, e.event_id, e.title, e.description, e.first_time, e.duration, e.type, e.creator \
         FROM calendar_event e JOIN site s ON s.id = e.site_id WHERE e.site_id IN (SELECT s.id FROM {PINNED}) \
         AND NOT e.is_restricted AND e.over_at >= ?2 ORDER BY e.first_time, e.event_id {ENTRIES}",
        tool("sakai.schedule")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let (site_id, site_title, url) = place(row)?;
        let description: String = row.get(5)?;
        let (start, duration): (i64, i64) = (row.get(6)?, row.get(7)?);
        Ok(Event {
            id: row.get(3)?,
            title: row.get(4)?,
            view_text: description.clone(),
            description,
            start_time: iso(start),
            end_time: iso(start + duration),
            start,
            duration,
            site_id,
            site_title,
            r#type: row.get(8)?,
            creator: row.get(9)?,
            url,
        })
    };
    statement.query_map((user, now), read)?.collect()
}

fn grades(connection: &Connection, user: &str) -> Result<Vec<Grade>> {
    let sql = format!(
        "SELECT s.id, s.title, {}, i.item_id, i.name, c.score, m.role FROM gradebook_score c \
         JOIN gradebook_item i ON i.item_id = c.item_id JOIN site s ON s.id = i.site_id \
         JOIN membership m ON m.site_id = s.id AND m.user_id = ?1 AND m.is_active AND m.is_pinned \
         WHERE c.site_id = m.site_id AND c.user_id = ?1 AND i.released AND c.score IS NOT NULL \
         ORDER BY c.graded_on DESC, i.item_id {ENTRIES}",
        tool("sakai.gradebookng")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let read = |row: &Row<'_>| {
        let (site_id, site_title, url) = place(row)?;
        let units: i32 = row.get(5)?;
        Ok(Grade {
            id: row.get(3)?,
            name: row.get(4)?,
            score: format!("{:?}", f64::from(units) / 1e4),
            not_graded_yet: false,
            ungraded: 0,
            url,
            site_title,
            site_role: row.get(6)?,
            site_id,
        })
    };
    statement.query_map([user], read)?.collect()
}

/// The place of a tool in the site `s`.
fn tool(id: &str) -> String {
    format!(
        "(SELECT t.id FROM site_tool t WHERE t.site_id = s.id AND t.tool_id = '{id}' \
         ORDER BY t.position, t.id LIMIT 1)"
    )
}

/// The first three columns: a site, its title, and the path of a tool in it.
fn place(row: &Row<'_>) -> Result<(String, String, String)> {
    let (site, tool): (String, String) = (row.get(0)?, row.get(2)?);
    let url = format!("/portal/site/{site}/tool/{tool}");
    Ok((site, row.get(1)?, url))
}

fn iso(millis: i64) -> String {
    let time = DateTime::<Utc>::from_timestamp_millis(millis).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Secs, true)
}
