//! `/api/users/me/notifications`: the notifications of the caller, with the union of the keys that clients read.

use std::time::Duration;

use entity_core::endpoint::{Call, Endpoint, Paged};
use entity_core::search::Filter;
use entity_core::view::millis;
use entity_core::{Context, ErrorKind, Input, Preconditions, Result, Search, View, Window, gate};
use schemars::JsonSchema;
use sea_orm::ConnectionTrait as _;
use serde::Serialize;

use super::{MOST_LISTED, Notification};

const MINE: Endpoint = Endpoint::get("/api/users/me/notifications", "listMyNotifications")
    .doc("The notifications of the caller, newest first, of what the caller may read now.")
    .tag("notification")
    .answers::<Paged<Vec<NotificationView>>>(&mine);

const READ: Endpoint = Endpoint::put(
    "/api/users/me/notifications/{notificationId}",
    "markNotificationAsRead",
)
.doc("Marks a notification of the caller as read. A body has no effect.")
.tag("notification")
.variable("notificationId", "The id of the notification.")
.refuses(&[ErrorKind::NotFound])
.answers::<NotificationView>(&mark_as_read);

const VIEWED: Endpoint = Endpoint::post(
    "/api/users/me/notifications/markViewed",
    "markNotificationsAsViewed",
)
.doc(
    "Marks notifications of the caller as viewed: of the newest 1,000 that the caller sees, all, or those of a site or a \
     tool.",
)
.tag("notification")
.text("siteId", "The site, if only its notifications are meant.")
.text("toolId", "The tool, if only its notifications are meant.")
.answers::<Changed>(&mark_viewed);

const CLEAR: Endpoint = Endpoint::post("/api/users/me/notifications/clear", "clearMyNotifications")
    .doc("Removes notifications of the caller: of the newest 1,000, all that the caller sees.")
    .tag("notification")
    .answers::<Changed>(&clear);

const CLEAR_ONE: Endpoint = Endpoint::post(
    "/api/users/me/notifications/{notificationId}/clear",
    "clearMyNotification",
)
.doc("Removes a notification of the caller. It does no harm if there is none.")
.tag("notification")
.variable("notificationId", "The id of the notification.")
.answers::<Changed>(&clear_one);
entity_core::register_endpoint!(MINE, READ, VIEWED, CLEAR, CLEAR_ONE);

/// A notification.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Notification, with(
    since = u64::try_from(millis(it.event_date)).unwrap_or_default(),
    event_date = Duration::from_millis(since).as_secs_f64(),
    formatted_event_date = it.event_date.0.format("%b %-d, %Y, %-I:%M %p").to_string(),
    deferred = false,
    broadcast = false,
))]
struct NotificationView {
    /// The id.
    id: i64,
    /// The kind, such as `annc.new`.
    event: String,
    /// The reference of the entity, such as `/announcement/7`.
    #[serde(rename = "ref")]
    #[view(of = reference)]
    reference: String,
    /// The title of the entity.
    title: String,
    /// The address of the entity.
    url: String,
    /// The internal id of whoever caused the event; empty if that is not told.
    from_user: String,
    /// The same, as newer clients read it.
    #[view(of = from_user)]
    from: String,
    /// The name of whoever caused the event.
    from_display_name: String,
    /// The internal id of the caller.
    to_user: String,
    /// The same, as newer clients read it.
    #[view(of = to_user)]
    to: String,
    /// The site.
    site_id: String,
    /// The title of the site.
    site_title: String,
    /// The id of the tool in which people find the entity.
    tool: String,
    /// The time of the event, in seconds since 1970.
    event_date: f64,
    /// The same for people, in UTC.
    formatted_event_date: String,
    /// True if the caller has seen the notification.
    viewed: bool,
    /// The same, as other clients read it.
    #[view(of = viewed)]
    read: bool,
    /// Always false: a notification of something that is not out yet is not listed.
    deferred: bool,
    /// Always false: nobody broadcasts.
    broadcast: bool,
}

/// The number of notifications that were changed.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangedNotifications")]
struct Changed {
    /// The number.
    count: u64,
}

async fn mine(cx: &Context, call: Call) -> Result<Paged<Vec<NotificationView>>> {
    let window = call.window()?;
    let window = Window {
        limit: window.limit.min(MOST_LISTED),
        ..window
    };
    let page = gate::list::<Notification>(cx, Search::part(window)).await?;
    Paged::of(cx, page.map(NotificationView::of), window, |it| it)
}

async fn mark_as_read(cx: &Context, call: Call) -> Result<NotificationView> {
    let id = call.variable("notificationId")?;
    let input = Input::from_iter([("viewed", true)]);
    let marked = gate::update::<Notification>(cx, id, &input, &Preconditions::default()).await?;
    Ok(NotificationView::of(marked))
}

async fn mark_viewed(cx: &Context, call: Call) -> Result<Changed> {
    let site = call.parameter("siteId");
    let tool = call.parameter("toolId");
    let mut filters = vec![Notification::FIELD.viewed.eq(false)];
    filters.extend(site.map(|it| Notification::FIELD.site_id.eq(it)));
    filters.extend(tool.map(|it| Notification::FIELD.tool.eq(it)));
    let ids = seen(cx, &filters).await?;
    change(cx, "UPDATE notification SET viewed = TRUE", &ids).await
}

async fn clear(cx: &Context, _: Call) -> Result<Changed> {
    let ids = seen(cx, &[]).await?;
    change(cx, "DELETE FROM notification", &ids).await
}

/// The maximum number of notifications that one request looks at: for each, an entity is read.
const MOST_SEEN: u64 = 1_000;

/// Returns the ids of the newest notifications that pass the filters and that the caller sees: nobody changes others, and
/// the number of changes tells of no others.
async fn seen(cx: &Context, filters: &[Filter]) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    walk(cx, filters, MOST_LISTED, |page| {
        ids.extend(page.into_iter().map(|it| it.notification_id));
        true
    })
    .await?;
    Ok(ids)
}

/// Gives the newest notifications that pass these tests and that the caller sees to `take`, `step` of them at once, until
/// it returns false.
pub(super) async fn walk(
    cx: &Context,
    filters: &[Filter],
    step: u64,
    mut take: impl FnMut(Vec<Notification>) -> bool,
) -> Result<()> {
    let mut start = Some(0);
    while let Some(place) = start.filter(|it| *it < MOST_SEEN) {
        let window = Window {
            start: place,
            limit: step,
        };
        let mut search = Search::part(window);
        for filter in filters {
            search.narrow(filter.clone());
        }
        let page = gate::list::<Notification>(cx, search).await?;
        let next = page.next_start(window);
        let goes_on = take(page.items);
        start = next.filter(|_| goes_on);
    }
    Ok(())
}

/// Runs `statement` on the notifications with these ids.
async fn change(cx: &Context, statement: &str, ids: &[String]) -> Result<Changed> {
    let db = cx.db()?;
    let mut sql = db.sql(statement);
    sql.push(" WHERE notification_id").bind_list(ids)?;
    let done = db.execute_raw(sql.into_statement()).await?;
    Ok(Changed {
        count: done.rows_affected(),
    })
}

async fn clear_one(cx: &Context, call: Call) -> Result<Changed> {
    let id = call.variable("notificationId")?;
    match gate::delete::<Notification>(cx, id, &Preconditions::default()).await {
        Ok(_reference) => Ok(Changed { count: 1 }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Changed { count: 0 }),
        Err(error) => Err(error),
    }
}
