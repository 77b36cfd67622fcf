//! The data of the portal's pages: the start page of a user, and the pages to which the addresses of sites, of their
//! pages and of their tools lead.

use chrono::{DateTime, TimeDelta, Utc};
use entity_core::engine::{DirectPath, look_up};
use entity_core::{
    Context, Entity as _, Error, ErrorKind, Need, Page, Provider as _, Reference, Registry, Result,
    Search, Window, gate,
};
use entity_core::{leads, menu};
use serde::Serialize;

use crate::courses::announcement::Announcement;
use crate::courses::assignment::{self, Assignment};
use crate::courses::calendar::{self, CalendarEvent};
use crate::face::sites::own_sites;
use crate::people::preference;
use crate::people::site::{self, Sites};
use crate::storage::db::site_parts::{pages_of, tools_of};

/// The number of announcements on the start page.
const MOST_NEWS: u64 = 10;
/// The number of events on the start page.
const MOST_EVENTS: u64 = 10;
/// The time for which the start page looks ahead.
const AHEAD: TimeDelta = TimeDelta::days(14);

/// The start page of a user.
#[derive(Debug)]
pub struct Home {
    /// The sites: the pinned ones first, in the user's order, then the others, by title.
    pub sites: Vec<HomeSite>,
    /// True if the user has more sites than these.
    pub has_more: bool,
    /// The latest announcements of the sites, newest first.
    pub news: Vec<Event>,
    /// The events of the next two weeks and the assignments that are due in them, in order of time.
    pub events: Vec<Event>,
    /// True if there are more events in these weeks.
    pub has_more_events: bool,
    /// The types of which pages lead few people to the list of all, the user among them.
    pub managed: Vec<&'static str>,
    /// True if the user is an administrator.
    pub is_superuser: bool,
    /// True if the user may make courses.
    pub may_create: bool,
    /// True if there is no course yet, and the user is to make the first one.
    pub is_first: bool,
}

/// A site on the start page.
#[derive(Debug)]
pub struct HomeSite {
    /// The id.
    pub id: String,
    /// The title.
    pub title: String,
    /// One plain line about it.
    pub description: Option<String>,
    /// True if the user keeps it at hand.
    pub is_pinned: bool,
}

/// Something with a time on the start page: an event, an assignment that is due, or an announcement.
#[derive(Debug)]
pub struct Event {
    /// The reference of the occurrence or of the assignment.
    pub reference: Reference,
    /// The headline.
    pub title: String,
    /// The title of its site.
    pub site_title: String,
    /// When it begins, is due, or came out.
    pub start: DateTime<Utc>,
    /// True if the user has done what it asks for.
    pub is_done: bool,
}

/// The sites that a user keeps at hand, as clients of the portal read them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Favorites {
    favorite_site_ids: Vec<String>,
    /// Always true, as clients expect it.
    auto_favorites_enabled: bool,
}

/// A part of a site that has an address in the portal.
#[derive(Clone, Debug)]
pub enum Part {
    /// The site itself.
    Whole,
    /// The page with this id.
    Page(String),
    /// The tool whose placement has this id.
    Tool(String),
}

/// Returns the start page of the caller.
///
/// # Errors
/// Returns an error if nobody is logged in or the database can't be read.
pub async fn home(cx: &Context) -> Result<Home> {
    let page = own_sites(cx, cx.user_id()?, false, Window::FIRST).await?;
    let mut own = page.items;
    // The sort is stable: what has no place stays in the order of the titles.
    own.sort_by_key(|it| (!it.is_pinned, it.place.unwrap_or(i64::MAX)));
    let sites: Vec<HomeSite> = own
        .into_iter()
        .map(|own| HomeSite {
            id: own.site.id,
            title: own.site.title,
            description: match own.site.published {
                true => own.site.short_description,
                false => Some("Not published: only those who look after it see it.".to_owned()),
            },
            is_pinned: own.is_pinned,
        })
        .collect();
    let events = events(cx).await?;
    let is_superuser = cx.authorizer().is_superuser(cx).await?;
    Ok(Home {
        is_superuser,
        may_create: gate::may_create::<Sites>(cx, None).await?,
        is_first: is_superuser && !site::has_any(cx).await?,
        sites,
        has_more: page.has_more,
        news: news(cx).await?,
        events: events.items,
        has_more_events: events.has_more,
        managed: managed(cx).await?,
    })
}

/// Returns the types whose lists are for few people, the caller among them.
async fn managed(cx: &Context) -> Result<Vec<&'static str>> {
    let is_superuser = cx.authorizer().is_superuser(cx).await?;
    let mut managed = Vec::new();
    for route in cx.service::<Registry>()?.routes() {
        let is_shown = match route.access.map(|it| it.read) {
            Some(Need::Account(function)) => cx.authorizer().holds(cx, function).await?,
            Some(Need::Superuser) => is_superuser,
            _ => is_superuser && route.is_unlisted,
        };
        if is_shown && route.capabilities().contains(&"list") {
            managed.push(route.prefix);
        }
    }
    Ok(managed)
}

async fn events(cx: &Context) -> Result<Page<Event>> {
    let sites = cx.authorizer().own_sites(cx).await?;
    let coming = calendar::coming(cx, sites.clone(), AHEAD, MOST_EVENTS).await?;
    let due = assignment::due_outside_of_calendars(cx, sites, AHEAD, MOST_EVENTS).await?;
    let has_more = coming.has_more || due.has_more;
    let mut events = Vec::new();
    for it in coming.items {
        let own = Reference::entity(CalendarEvent::PREFIX, it.id());
        // What follows from something else, such as its due time, leads there.
        let cause = it.cause.as_deref().and_then(Reference::parse);
        let (reference, is_done) = match cause {
            Some(cause) => match is_done(cx, &cause).await? {
                Some(is_done) => (cause, is_done),
                None => (own, false),
            },
            None => (own, false),
        };
        events.push(Event {
            reference,
            start: it.start(),
            title: it.title,
            site_title: it.site_name,
            is_done,
        });
    }
    for it in due.items {
        let reference = Reference::entity(Assignment::PREFIX, it.id());
        events.push(Event {
            is_done: is_done(cx, &reference).await?.unwrap_or_default(),
            reference,
            start: it.due_time.into(),
            title: it.title,
            site_title: it.site_title,
        });
    }
    events.sort_by_key(|it| it.start);
    let most = usize::try_from(MOST_EVENTS).unwrap_or(usize::MAX);
    let has_more = has_more || events.len() > most;
    events.truncate(most);
    Ok(Page {
        has_more,
        ..Page::whole(events)
    })
}

/// Returns whether the caller has done what the entity asks for; false, if its type does not know. Returns `None` if the
/// caller may not read it.
async fn is_done(cx: &Context, reference: &Reference) -> Result<Option<bool>> {
    let Some(id) = &reference.id else {
        return Ok(None);
    };
    match leads::is_done(cx, &reference.prefix, id).await {
        Ok(is_done) => Ok(Some(is_done.unwrap_or_default())),
        Err(error) if error.is_refusal() => Ok(None),
        Err(error) => Err(error),
    }
}

async fn news(cx: &Context) -> Result<Vec<Event>> {
    let mut search = Search::part(Window {
        start: 0,
        limit: MOST_NEWS,
    });
    search.narrow_to_sites::<Announcement>(cx.authorizer().own_sites(cx).await?)?;
    let page = gate::list::<Announcement>(cx, search).await?;
    let news = page.items.into_iter().map(|it| Event {
        reference: Reference::entity(Announcement::PREFIX, it.id()),
        start: it.created_on.0,
        title: it.title,
        site_title: it.site_title,
        is_done: false,
    });
    Ok(news.collect())
}

/// Returns the sites that the caller keeps at hand, in the caller's order.
///
/// # Errors
/// Returns an error if nobody is logged in or the database can't be read.
pub async fn favorites(cx: &Context) -> Result<Favorites> {
    Ok(Favorites {
        favorite_site_ids: preference::pinned(cx).await?,
        auto_favorites_enabled: true,
    })
}

/// A page below `/direct`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path, without a format.
    pub path: DirectPath,
    /// The pairs of the query.
    pub query: Vec<(String, String)>,
}

impl Place {
    fn of_path(prefix: &str, segments: &[&str]) -> Self {
        Self {
            path: DirectPath::new(prefix, segments.iter().copied()),
            query: Vec::new(),
        }
    }

    /// Returns the page with the data of the tool `tool_id` of the site `site_id`, if tools of this kind have data.
    fn of_tool(registry: &Registry, tool_id: &str, site_id: &str) -> Option<Self> {
        let mut routes = registry.routes().filter(|it| it.tool == tool_id);
        let part = routes.find_map(|it| menu::part(it, site_id))?;
        let pairs = part.query.into_iter();
        Some(Self {
            path: DirectPath::new(part.prefix, part.segments),
            query: pairs
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        })
    }
}

/// Returns where the address of `part` of the site `site_id` leads: to the data of the tool, or to the site if the tool
/// has no data that the caller may read.
///
/// # Errors
/// Fails as reading the site does, and if the site has no such part.
pub async fn place(cx: &Context, site_id: &str, part: Part) -> Result<Place> {
    let of_site = Place::of_path("site", &[site_id]);
    read(cx, &of_site).await?;
    let tool_id = match part {
        Part::Whole => None,
        Part::Page(page) => tool_of_page(cx, site_id, &page).await?,
        Part::Tool(placement) => Some(tool(cx, site_id, &placement).await?),
    };
    let registry = cx.service::<Registry>()?;
    let of_tool = tool_id.and_then(|it| Place::of_tool(&registry, &it, site_id));
    let Some(of_tool) = of_tool else {
        return Ok(of_site);
    };
    match read(cx, &of_tool).await {
        Ok(()) => Ok(of_tool),
        Err(error) if is_closed(&error) => Ok(of_site),
        Err(error) => Err(error),
    }
}

/// Returns the page of the user `id`.
///
/// # Errors
/// Fails as reading the user does.
pub async fn place_of_user(cx: &Context, id: &str) -> Result<Place> {
    let place = Place::of_path("user", &[id]);
    read(cx, &place).await?;
    Ok(place)
}

/// Reads as little as possible of what is at `place`, on behalf of the caller.
async fn read(cx: &Context, place: &Place) -> Result<()> {
    let mut query = place.query.clone();
    query.push(("_limit".to_owned(), "1".to_owned()));
    let registry = cx.service::<Registry>()?;
    look_up(&registry, cx, place.path.clone(), query)
        .await
        .map(|_reply| ())
}

/// Returns whether there is nothing for the caller, while other requests go on to be answered.
fn is_closed(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::BadRequest
            | ErrorKind::Unauthenticated
            | ErrorKind::Forbidden
            | ErrorKind::NotFound
            | ErrorKind::MethodNotAllowed
    )
}

/// Returns the kind of the first tool on a page.
async fn tool_of_page(cx: &Context, site_id: &str, page: &str) -> Result<Option<String>> {
    let mut pages = pages_of(cx, &[site_id]).await?.into_iter();
    pages
        .find(|it| it.id == page)
        .ok_or_else(Error::not_found)?;
    let tools = tools_of(cx, &[site_id]).await?;
    let tool = tools.into_iter().find(|it| it.page_id == page);
    Ok(tool.map(|it| it.tool_id))
}

/// Returns the kind of the tool with the id `placement`.
async fn tool(cx: &Context, site_id: &str, placement: &str) -> Result<String> {
    let tools = tools_of(cx, &[site_id]).await?;
    let tool = tools.into_iter().find(|it| it.id == placement);
    tool.map(|it| it.tool_id).ok_or_else(Error::not_found)
}
