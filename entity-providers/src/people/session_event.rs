//! `/direct/session-event`: the logins of accounts, for each account itself and for those who run the service.
//!
//! A login over a session is noted each time. A way in that proves itself with each request, such as HTTP Basic, is noted
//! once for each account, address and way as long as a session would last.

use chrono::TimeDelta;
use entity_core::db::{self, ExpiringTable, Migration, RowPolicy};
use entity_core::wire::Millis;
use entity_core::{Access, Context, DateTimeUtc, Entity, Need, Result, standard};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use serde::Serialize;

/// Nobody writes these events but the service.
const ACCESS: Access = Access::new(Need::Session, Need::Session);

/// The function of those who see the logins of all accounts. No role has it.
const READ_ANY: &str = "session.event.read.any";

const SIGHT: RowPolicy = RowPolicy::Any(&[
    RowPolicy::Sql("this.user_id = {caller}"),
    RowPolicy::Holds(READ_ANY),
]);

/// A password that was sent to log in was right, and a session began.
pub const LOGIN: &str = "login";
/// A request proved its user by HTTP Basic.
pub const LOGIN_BASIC: &str = "login.basic";
/// A proxy in front of the service named the user of a request.
pub const LOGIN_HEADER: &str = "login.header";
/// Somebody tried to log in to the account in vain.
pub const LOGIN_FAILED: &str = "login.failed";
/// A session was ended by its user.
pub const LOGOUT: &str = "logout";

/// The time for which events are kept.
const KEPT: TimeDelta = TimeDelta::days(180);
const EVENTS: ExpiringTable = ExpiringTable {
    table: "session_event",
    key: "event_id",
    column: "time",
};

/// A login, a failed one, or a logout.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(plural = "Logins", singular = "Login", own = "")]
#[entity(prefix = "session-event", table = "session_event", access = ACCESS, sight = SIGHT, unarchived)]
#[entity(left_join = "user_account u ON u.id = this.user_id")]
#[entity(
    verbs(read, list),
    order = "time_desc,eventId",
    listed("kind", "userEid", "address", "time")
)]
pub struct SessionEvent {
    /// The id.
    #[entity(id)]
    pub event_id: String,
    /// `login`, `login.basic`, `login.header`, `login.failed` or `logout`.
    #[entity(title)]
    #[entity(label = "What", words("login" = "Login", "login.basic" = "Login by a program", "login.header" = "Login by the institution", "login.failed" = "Wrong password", "logout" = "Logout"))]
    pub kind: String,
    /// The internal id of the user whose account it was.
    #[entity(person, references = "user", label = "Account")]
    pub user_id: String,
    /// The external id of that user.
    #[entity(sql = "coalesce(u.eid, '')", search, label = "User name")]
    pub user_eid: String,
    /// When it was.
    #[entity(created, label = "When")]
    pub time: Millis,
    /// The network address from which the request came.
    #[entity(label = "From the network address")]
    pub address: String,
    /// The path of the request.
    #[entity(for_programs)]
    pub path: String,
}

entity_core::register!(
    SessionEvent,
    grants("session.event.read.any" = ""),
    migrations(OF_USER, BY_TIME)
);

/// The events of a user are listed by their time.
const OF_USER: Migration = Migration::of_tables(
    "session_event_of_user",
    &["CREATE INDEX session_event_of_user ON session_event (user_id, time)"],
);

/// Operators list the events of all accounts by their time, and old ones are removed.
const BY_TIME: Migration = Migration::of_tables(
    "session_event_by_time",
    &["CREATE INDEX session_event_by_time ON session_event (time, event_id)"],
);

/// Notes what happened to the account of `user_id`, with the address and the path of the request.
pub async fn note(cx: &Context, kind: &str, user_id: &str) -> Result<()> {
    let origin = cx.origin();
    let event = SessionEvent {
        event_id: cx.new_id(),
        kind: kind.to_owned(),
        user_id: user_id.to_owned(),
        time: Millis(cx.now()),
        address: origin.address.to_string(),
        path: origin.path.to_string(),
        ..SessionEvent::default()
    };
    db::insert(cx, &event).await
}

/// Returns whether this was noted of the account and the address of the request within the time `within`.
pub async fn was_noted(cx: &Context, kind: &str, user_id: &str, within: TimeDelta) -> Result<bool> {
    use session_event::Column::{Address, Kind, Time, UserId};
    let noted = session_event::Entity::find()
        .select_only()
        .expr(Expr::val(1_i64))
        .filter(UserId.eq(user_id))
        .filter(Kind.eq(kind))
        .filter(Address.eq(cx.origin().address.to_string()))
        .filter(Time.gt(cx.now() - within))
        .limit(1);
    let noted: Vec<i64> = cx.db()?.select(&noted).await?;
    Ok(!noted.is_empty())
}

/// Removes events that are over half a year old, at most `most` at once, and returns how many those are.
pub async fn sweep(cx: &Context, now: DateTimeUtc, most: u64) -> Result<u64> {
    let end = (now - KEPT).timestamp_millis();
    EVENTS.sweep(cx, end, most).await
}
