//! The pages of the portal: the start page of a user, and the pages to log in and out.

use askama::Template;
use chrono::{DateTime, Utc};
use entity_core::Result;
use entity_core::engine::{DirectPath, Route};
use entity_core::format::View;
use entity_core::recurrence::Tz;
use entity_core::schema::Layout;

use super::clock::Clock;
use super::frame::{Crumb, Frame};
use super::mark::Mark;
use super::shown::Shown;
use super::words::sentence;

/// A link to a site on the start page.
#[derive(Clone, Debug)]
pub struct SiteLink {
    /// The id of the site.
    pub id: String,
    /// The address.
    pub href: String,
    /// The title of the site.
    pub title: String,
    /// One plain line about it.
    pub description: Option<String>,
}

/// A link to an announcement or an event on the start page.
#[derive(Clone, Debug)]
pub struct Dated {
    /// The prefix of its type.
    pub prefix: String,
    /// The address.
    pub href: String,
    /// The headline.
    pub title: String,
    /// The title of its site.
    pub site_title: String,
    /// When it came out, or when it begins.
    pub time: DateTime<Utc>,
    /// True if the reader has done what it asks for.
    pub is_done: bool,
}

/// The content of the start page of a user.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The sites that the user keeps at hand.
    pub pinned: Vec<SiteLink>,
    /// The other sites.
    pub others: Vec<SiteLink>,
    /// True if the user has more sites than these.
    pub has_more: bool,
    /// The next events.
    pub events: Vec<Dated>,
    /// True if there are more events soon.
    pub has_more_events: bool,
    /// The latest announcements.
    pub news: Vec<Dated>,
    /// The types whose lists are for few people, the user among them.
    pub managed: Vec<&'static str>,
    /// True if the user is an administrator.
    pub is_superuser: bool,
    /// True if the user may make courses.
    pub may_create: bool,
    /// True if there is no course yet, and the user is to make the first one.
    pub is_first: bool,
}

/// The page of a [`Home`].
#[derive(Template)]
#[template(path = "home.html")]
struct HomePage<'a> {
    frame: Frame<'a>,
    groups: Vec<Group<'a>>,
    has_more: bool,
    may_create: bool,
    is_first: bool,
    /// Work that is due.
    due: Vec<Entry<'a>>,
    events: Vec<Entry<'a>>,
    has_more_events: bool,
    news: Vec<Entry<'a>>,
    /// The headings of lists of links, each with these: the reader's own, and those for few people.
    lists: [(&'static str, Vec<Crumb>); 2],
}

/// Sites under one heading.
struct Group<'a> {
    id: &'static str,
    heading: &'static str,
    sites: Vec<(Mark, &'a SiteLink)>,
}

/// An announcement or an event, as people read it.
struct Entry<'a> {
    link: &'a Dated,
    time: Shown<'a>,
}

/// The page on which people log in.
#[derive(Template)]
#[template(path = "log_in.html")]
struct LogInPage<'a> {
    frame: Frame<'a>,
    eid: &'a str,
    /// The page from which one came, and to which one is led.
    to: Option<&'a str>,
    complaint: Option<String>,
    is_first: bool,
}

/// The page that asks whether to log out.
#[derive(Template)]
#[template(path = "log_out.html")]
struct LogOutPage<'a> {
    frame: Frame<'a>,
}

/// Writes the start page of a user.
///
/// # Errors
/// Returns an error if the page can't be written.
pub fn home_page(home: &Home, view: &View<'_>) -> Result<Vec<u8>> {
    let clock = Clock::of(view);
    let (due, events): (Vec<_>, Vec<_>) =
        home.events.iter().partition(|it| is_work(&it.prefix, view));
    let is_divided = !home.pinned.is_empty();
    let groups = [
        Group {
            id: "pinned",
            heading: "Pinned sites",
            sites: marked(&home.pinned),
        },
        Group {
            id: "sites",
            heading: if is_divided { "Other sites" } else { "Sites" },
            sites: marked(&home.others),
        },
    ];
    super::write(&HomePage {
        frame: Frame::new("My sites", view),
        groups: groups
            .into_iter()
            .filter(|it| !it.sites.is_empty())
            .collect(),
        has_more: home.has_more,
        may_create: home.may_create,
        is_first: home.is_first,
        due: due.into_iter().map(|it| Entry::due(it, clock)).collect(),
        events: events.into_iter().map(|it| Entry::of(it, clock)).collect(),
        has_more_events: home.has_more_events,
        news: home.news.iter().map(|it| Entry::of(it, clock)).collect(),
        lists: [
            ("Yours", own(view)),
            ("Administration", managed(home, view)),
        ],
    })
}

fn marked(sites: &[SiteLink]) -> Vec<(Mark, &SiteLink)> {
    let marked = |it: &'_ SiteLink| Mark::of(&it.id, &it.title);
    sites.iter().map(|it| (marked(it), it)).collect()
}

/// Returns whether entities of the type `prefix` are to be done.
fn is_work(prefix: &str, view: &View<'_>) -> bool {
    let route = view.registry.route(prefix);
    route.is_some_and(|it| it.schema.look.layout == Layout::Work)
}

/// The lists that only administrators have beside those of few people.
const ADMINISTERED: [(&str, &str); 5] = [
    ("/direct/site.html?select=any", "Courses"),
    ("/direct/announcement/motd.html", "Messages of the day"),
    ("/direct/term.html", "Terms"),
    ("/direct/webhook.html", "Webhooks"),
    ("/direct/webhook-delivery.html", "Webhook deliveries"),
];

/// The lists for few people that are open to the reader.
fn managed(home: &Home, view: &View<'_>) -> Vec<Crumb> {
    let crumb = |href: String, label: String| Crumb { href, label };
    let of_type = |prefix: &&str| {
        crumb(
            format!("/direct/{prefix}.html"),
            view.registry.plural(prefix),
        )
    };
    let others = ADMINISTERED.iter().filter(|_| home.is_superuser);
    let others = others.map(|(href, label)| crumb((*href).to_owned(), (*label).to_owned()));
    let mut links: Vec<_> = home.managed.iter().map(of_type).chain(others).collect();
    links.sort_by(|one, other| one.label.cmp(&other.label));
    links
}

/// Where what is the reader's own is, of each type that has some, by what it is called.
fn own(view: &View<'_>) -> Vec<Crumb> {
    let own = |route: &Route| {
        let (label, path) = route.own()?;
        let segments = Some(path.to_owned()).filter(|it| !it.is_empty());
        let path = DirectPath::new(route.prefix, segments);
        let href = format!("/direct{path}.html");
        Some(Crumb { href, label })
    };
    let mut links: Vec<_> = view.registry.routes().filter_map(own).collect();
    links.sort_by(|one, other| one.label.cmp(&other.label));
    links
}

impl<'a> Entry<'a> {
    fn of(link: &'a Dated, clock: Clock) -> Self {
        Self {
            link,
            time: Shown::of_instant(link.time, clock),
        }
    }

    fn due(link: &'a Dated, clock: Clock) -> Self {
        Self {
            link,
            time: Shown::due(link.time, Tz::UTC, clock),
        }
    }
}

/// The form to log in, as it was sent before, if a login was refused, and the page to which it leads.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogIn<'a> {
    /// The name that was sent.
    pub eid: &'a str,
    /// The path of the page from which one came, and to which one is led; without one, to the start page.
    pub to: Option<&'a str>,
    /// The reason of the refusal.
    pub refusal: Option<&'a str>,
    /// True if nobody has an account yet.
    pub is_first: bool,
}

/// Writes the page on which people log in.
///
/// # Errors
/// Returns an error if the page can't be written.
pub fn log_in_page(sent: LogIn<'_>, view: &View<'_>) -> Result<Vec<u8>> {
    let mut frame = Frame::new("Log in", view);
    frame.state = sent.refusal.map(|_| "Not accepted");
    super::write(&LogInPage {
        frame,
        eid: sent.eid,
        to: sent.to,
        complaint: sent.refusal.map(sentence),
        is_first: sent.is_first,
    })
}

/// Writes the page that asks whether to log out.
///
/// # Errors
/// Returns an error if the page can't be written.
pub fn log_out_page(view: &View<'_>) -> Result<Vec<u8>> {
    super::write(&LogOutPage {
        frame: Frame::new("Log out?", view),
    })
}
