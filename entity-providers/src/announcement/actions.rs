//! The lists and look-ups that existing clients ask for by addresses of their own.

use chrono::TimeDelta;
use entity_core::{
    ARCHIVE, Action, Actions, Answers, ArchivePage, Arguments, Context, Error, History, MAX_LIMIT,
    Need, Outcome, Page, Result, Scope, Verb, Window,
};

use super::query::{self, Order, Place, Question};
use super::{Announcement, Announcements, MOTD_SITE};

/// What cuts a list of announcements.
const CUT: &[(&str, &str)] = &[
    ("n", "how many at most; 0 or none for all"),
    ("d", "how many days back; 0 or none for all"),
    ("a", "1 for the oldest first"),
    ("_start", "how many to leave out at the beginning"),
    ("_limit", "how many at most, as in other lists"),
];

impl Actions for Announcements {
    fn actions() -> Vec<Action<Self>> {
        let read = Need::Site("annc.read");
        vec![
            Action::on_collection(Verb::Get, "site", read, |cx, arguments| {
                Box::pin(of_site(cx, arguments))
            })
            .doc("The announcements of a site, newest first.")
            .argument("siteId", "The site.")
            .parameters(CUT)
            .history()
            .answers(Answers::Collection),
            Action::on_collection(Verb::Get, "user", Need::Session, |cx, arguments| {
                Box::pin(of_user(cx, arguments))
            })
            .doc("The announcements of all sites of the caller, newest first.")
            .parameters(CUT)
            .history()
            .answers(Answers::Collection),
            Action::on_collection(Verb::Get, "motd", Need::Public, |cx, arguments| {
                Box::pin(of_the_day(cx, arguments))
            })
            .doc("The messages of the day, newest first.")
            .parameters(CUT)
            .history()
            .answers(Answers::Collection),
            Action::on_collection(Verb::Get, "message", read, |cx, arguments| {
                Box::pin(message(cx, arguments))
            })
            .doc("One announcement, by its site and its id within the channel.")
            .argument("siteId", "The site.")
            .argument("announcementId", "Its id within the channel.")
            .answers(Answers::Entity),
            Action::on_collection(Verb::Get, "msg", read, |cx, arguments| {
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
    if let Some(archive) = arguments.archive {
        return archived(cx, arguments, place, archive).await;
    }
    let question = cut(cx, arguments, place);
    let page = query::list(cx, &question).await?;
    let window = Window {
        start: question.start,
        limit: question.limit,
    };
    let is_current = arguments.wants_history
        && without_archive(arguments).is_none()
        && History::is_reached(window, page.has_more);
    let history = match (is_current, page.has_more) {
        (false, _) => None,
        (true, true) => Some(History::of_newest(query::count_of(cx, &question).await?)),
        (true, false) => u64::try_from(page.items.len()).ok().map(History::of_newest),
    };
    let page = Page {
        // Whoever says how many there should be asks for no more of them.
        has_more: page.has_more && number(arguments, "n").is_none(),
        ..page
    };
    Ok(Outcome::Collection {
        page,
        window,
        history,
    })
}

/// A page of the archive: the same list backwards.
async fn archived(
    cx: &Context,
    arguments: &Arguments,
    place: Place<'_>,
    archive: ArchivePage,
) -> Result<Outcome<Announcements>> {
    if let Some(other) = without_archive(arguments) {
        return Err(Error::field(
            other,
            format!("must not be given together with `{ARCHIVE}`"),
        ));
    }
    let window = archive.window();
    let question = Question {
        place,
        since: None,
        order: Order::OldestFirst,
        start: window.start,
        limit: window.limit,
    };
    let history = History::of_page(archive, query::count_of(cx, &question).await?)?;
    Ok(Outcome::Collection {
        page: query::list(cx, &question).await?,
        window,
        history: Some(history),
    })
}

/// The parameter that leaves some of the list out or turns it round, so that it has no archive.
fn without_archive(arguments: &Arguments) -> Option<&'static str> {
    let mut numbers = ["n", "d"].into_iter();
    let narrows = numbers.find(|it| number(arguments, it).is_some());
    narrows.or_else(|| (order(arguments) == Order::OldestFirst).then_some("a"))
}

fn order(arguments: &Arguments) -> Order {
    match arguments.parameter("a") {
        Some("1" | "true") => Order::OldestFirst,
        _ => Order::NewestFirst,
    }
}

/// What the query's numbers ask for. Existing clients send them in many ways: what is no number, or 0, is as
/// if it were absent.
fn cut<'a>(cx: &Context, arguments: &Arguments, place: Place<'a>) -> Question<'a> {
    let limits = [number(arguments, "n"), number(arguments, "_limit")];
    let limit = limits.into_iter().flatten().fold(MAX_LIMIT, u64::min);
    let since = number(arguments, "d")
        .and_then(|it| i64::try_from(it).ok())
        .and_then(TimeDelta::try_days)
        .and_then(|it| cx.now().checked_sub_signed(it));
    Question {
        place,
        since: since.map(|it| it.timestamp_millis()),
        order: order(arguments),
        start: number(arguments, "_start")
            .filter(|it| i64::try_from(*it).is_ok())
            .unwrap_or(0),
        limit,
    }
}

fn number(arguments: &Arguments, name: &str) -> Option<u64> {
    arguments
        .parameter(name)?
        .trim()
        .parse()
        .ok()
        .filter(|it| *it > 0)
}
