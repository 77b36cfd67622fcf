//! The lists and look-ups that existing clients ask for by addresses of their own.

use chrono::TimeDelta;
use entity_core::{
    Action, Actions, Answers, Arguments, Context, Error, Need, Outcome, Result, Scope, Search, Verb,
};

use super::query::{self, Place, Within};
use super::{Announcement, Announcements, MOTD_SITE, READ};

/// What cuts a list of announcements.
const CUT: &[(&str, &str)] = &[
    ("n", "how many at most; 0 or none for all"),
    ("d", "how many days back; 0 or none for all"),
    (
        "a",
        "1 for the oldest first, unless `_order` says otherwise",
    ),
];

impl Actions for Announcements {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::on_collection(Verb::Get, "site", READ, |cx, arguments| {
                Box::pin(of_site(cx, arguments))
            })
            .doc("The announcements of a site, newest first; without a session, what it shows to the public.")
            .argument("siteId", "The site.")
            .parameters(CUT)
            .searched()
            .answers(Answers::Collection),
            Action::on_collection(Verb::Get, "user", Need::Public, |cx, arguments| {
                Box::pin(of_user(cx, arguments))
            })
            .doc("The announcements of all sites of the caller, newest first; without a session, the messages of the day.")
            .parameters(CUT)
            .searched()
            .answers(Answers::Collection),
            Action::on_collection(Verb::Get, "motd", Need::Public, |cx, arguments| {
                Box::pin(of_the_day(cx, arguments))
            })
            .doc("The messages of the day, newest first.")
            .parameters(CUT)
            .searched()
            .answers(Answers::Collection),
            Action::on_collection(Verb::Get, "message", READ, |cx, arguments| {
                Box::pin(message(cx, arguments))
            })
            .doc("One announcement, by its site and its id within the channel.")
            .argument("siteId", "The site.")
            .argument("announcementId", "Its id within the channel.")
            .answers(Answers::Entity),
            Action::on_collection(Verb::Get, "msg", READ, |cx, arguments| {
                Box::pin(channel_message(cx, arguments))
            })
            .doc("One announcement, by its site, its channel and its id within the channel.")
            .argument("siteId", "The site.")
            .argument(
                "channel",
                "The channel: `main`, or `motd` for messages of the day.",
            )
            .argument("announcementId", "Its id within the channel.")
            .answers(Answers::Entity),
        ]
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Outcome<Announcements>> {
    let site = arguments.argument("siteId")?;
    collection(cx, &arguments, Place::Site(site)).await
}

async fn of_user(cx: &Context, arguments: Arguments) -> Result<Outcome<Announcements>> {
    if cx.caller().is_anonymous() {
        return of_the_day(cx, arguments).await;
    }
    let scope: Scope = cx.authorizer().scope(cx, "annc.read").await?;
    collection(cx, &arguments, Place::Own(&scope)).await
}

async fn of_the_day(cx: &Context, arguments: Arguments) -> Result<Outcome<Announcements>> {
    collection(cx, &arguments, Place::Site(MOTD_SITE)).await
}

async fn message(cx: &Context, arguments: Arguments) -> Result<Outcome<Announcements>> {
    let site = arguments.argument("siteId")?;
    let id = arguments.argument("announcementId")?;
    found(query::one(cx, id).await?.filter(|it| it.site_id == site))
}

async fn channel_message(cx: &Context, arguments: Arguments) -> Result<Outcome<Announcements>> {
    let site = arguments.argument("siteId")?;
    let channel = arguments.argument("channel")?;
    let id = arguments.argument("announcementId")?;
    found(
        query::one(cx, id)
            .await?
            .filter(|it| it.site_id == site && it.channel == channel),
    )
}

fn found(announcement: Option<Announcement>) -> Result<Outcome<Announcements>> {
    announcement
        .map(Outcome::Entity)
        .ok_or_else(Error::not_found)
}

async fn collection(
    cx: &Context,
    arguments: &Arguments,
    place: Place<'_>,
) -> Result<Outcome<Announcements>> {
    let search = cut(arguments)?;
    let within = Within {
        place,
        since: since(cx, arguments),
    };
    let page = query::find(cx, &search, within).await?;
    let total = match search.is_counted {
        true => Some(query::count(cx, &search, within).await?),
        false => None,
    };
    Ok(Outcome::Part {
        page,
        search,
        total,
    })
}

/// Whether what came out first is wanted first.
fn is_turned(arguments: &Arguments) -> bool {
    matches!(arguments.parameter("a"), Some("1" | "true"))
}

/// What the query asks, with the numbers by which existing clients cut lists. They send them in many ways: what is
/// no number, or 0, is as if it were absent.
fn cut(arguments: &Arguments) -> Result<Search> {
    let mut search = arguments.search()?.clone();
    if let Some(most) = number(arguments, "n") {
        search.cut(most);
    }
    let is_ordered = arguments
        .parameter("_order")
        .is_some_and(|it| !it.is_empty());
    if is_turned(arguments) && !is_ordered {
        search.reverse();
    }
    Ok(search)
}

/// The instant from which on announcements are wanted.
fn since(cx: &Context, arguments: &Arguments) -> Option<i64> {
    let days = number(arguments, "d").and_then(|it| i64::try_from(it).ok())?;
    let since = cx.now().checked_sub_signed(TimeDelta::try_days(days)?)?;
    Some(since.timestamp_millis())
}

fn number(arguments: &Arguments, name: &str) -> Option<u64> {
    arguments
        .parameter(name)?
        .trim()
        .parse()
        .ok()
        .filter(|it| *it > 0)
}
