//! The frame of every page: head, navigation, foot.

use entity_core::format::{Format, View};
use entity_core::reply::{Body, Related};
use entity_core::{Need, Reference, Registry, encode_segment, menu};

use super::clock::Clock;
use super::mark::{Mark, icon};
use super::place::{href_of, near};

use crate::input::form::write_pairs;
use crate::render::calendar;
use crate::render::paging::{list_url, view_url_with_query};

/// The frame of a page.
pub(super) struct Frame<'a> {
    pub(super) title: String,
    /// The words above the page, where they are fewer than the title: the course beside it says the rest.
    heading: Option<String>,
    /// The addition to the title of the window.
    pub(super) state: Option<&'static str>,
    registry: &'a Registry,
    /// The flash message about the reader's last request.
    pub(super) said: Option<String>,
    pub(super) user: Option<&'a str>,
    /// The internal id of the reader.
    pub(super) account: Option<String>,
    /// The mark of the reader.
    pub(super) own_mark: Mark,
    /// The clock by which the page tells times.
    pub(super) clock: Clock,
    /// True unless the page tells none.
    pub(super) has_times: bool,
    /// True if the page is there to be read, so that its lines are short.
    pub(super) is_narrow: bool,
    /// True if it has a table that takes all the room there is.
    pub(super) is_wide: bool,
    pub(super) csrf_token: Option<&'a str>,
    /// The course, or another site, to which the page belongs.
    pub(super) course: Option<Course>,
    /// The address at which one logs in, and from which one is led back.
    pub(super) log_in: String,
    /// The pages above this one, from the start page on.
    pub(super) crumbs: Vec<Crumb>,
    /// The same in other formats, feeds among them.
    pub(super) formats: Vec<Alternate>,
    /// The other parts of a list.
    pub(super) paging: Vec<(&'static str, String)>,
}

/// Returns the sentence about what the reader has just done: a page that shows an entity, of a type and with a title, may name it.
fn said(shown: Option<(&str, &str)>, view: &View<'_>) -> Option<String> {
    let said = view.allowed_actions.said.as_ref()?;
    let kind = view.registry.singular(&said.about).to_lowercase();
    Some(said.told(shown, &format!("this {kind}")))
}

/// A site, as the frame of each of its pages shows it.
pub(super) struct Course {
    pub(super) href: String,
    pub(super) title: String,
    /// Its mark.
    pub(super) mark: Mark,
    /// Its parts, the first of which is its own page.
    pub(super) parts: Vec<Part>,
}

/// An entry of the menu of a site.
pub(super) struct Part {
    pub(super) href: String,
    pub(super) label: String,
    pub(super) icon: &'static str,
    /// True if it is the page itself, or leads to it.
    pub(super) is_current: bool,
}

/// A page above this one.
pub(super) struct Crumb {
    pub(super) href: String,
    pub(super) label: String,
}

/// The address of the same in another format.
pub(super) struct Alternate {
    pub(super) href: String,
    pub(super) media_type: &'static str,
    pub(super) label: String,
}

/// The page from which all others are below.
const START: &str = "/portal";

const DATA: [(&str, &str); 2] = [("json", "application/json"), ("xml", "application/xml")];

impl<'a> Frame<'a> {
    /// A page with a title, below the start page.
    pub(super) fn new(title: impl Into<String>, view: &View<'a>) -> Self {
        Self {
            title: title.into(),
            heading: None,
            state: None,
            registry: view.registry,
            said: said(None, view),
            user: view.user,
            account: view.allowed_actions.account.clone(),
            own_mark: Mark::of(view.user.unwrap_or_default(), view.user.unwrap_or_default()),
            clock: Clock::of(view),
            has_times: true,
            is_narrow: false,
            is_wide: false,
            csrf_token: view.csrf_token,
            course: Course::of(view),
            log_in: log_in(view),
            crumbs: vec![Crumb {
                href: START.to_owned(),
                label: match view.user {
                    Some(_) => "My sites".to_owned(),
                    None => "Start".to_owned(),
                },
            }],
            formats: Vec::new(),
            paging: Vec::new(),
        }
    }

    /// The page has a table that takes all the room there is.
    pub(super) fn wide(self) -> Self {
        Self {
            is_wide: true,
            ..self
        }
    }

    /// The page tells no times.
    pub(super) fn without_times(mut self) -> Self {
        self.has_times = false;
        self
    }

    /// The words above the page.
    pub(super) fn heading(&self) -> &str {
        self.heading.as_deref().unwrap_or(&self.title)
    }

    /// The page shows entities of the type `prefix` in the course, if it is in one: it is called as the part of the course is.
    pub(super) fn of_part(mut self, prefix: &str) -> Self {
        if let Some(course) = &self.course {
            let mut parts = course.parts.iter();
            let part = parts.find(|it| it.is_current).map(|it| it.label.clone());
            self.heading = Some(part.unwrap_or_else(|| self.registry.plural(prefix)));
        }
        self
    }

    /// The page is in the part of the course with the entities of the type `prefix`.
    pub(super) fn in_part(mut self, prefix: &str) -> Self {
        let list = format!("/direct/{prefix}");
        let is_list = |it: &str| {
            it.strip_prefix(&list)
                .is_some_and(|it| it.starts_with(['.', '/']))
        };
        for part in self.course.iter_mut().flat_map(|it| &mut it.parts) {
            part.is_current = is_list(&part.href);
        }
        self
    }

    /// The page above this one that a page in a course leads to: none above its parts.
    pub(super) fn up(&self) -> Option<&Crumb> {
        let above = self.crumbs.last().filter(|it| it.href != START);
        above.filter(|_| self.heading.is_none() && !self.is_home())
    }

    /// Returns whether there is a page above this one that it does not say itself.
    pub(super) fn has_crumbs(&self) -> bool {
        self.crumbs.iter().any(|it| it.label != self.title)
    }

    /// Returns whether the page is the first one of a course.
    pub(super) fn is_home(&self) -> bool {
        let own = self.course.as_ref().and_then(|it| it.parts.first());
        own.is_some_and(|it| it.is_current)
    }

    /// The page shows an entity of the type `prefix`, whose title it has.
    pub(super) fn showing(mut self, prefix: &str, view: &View<'_>) -> Self {
        self.said = said(Some((prefix, &self.title)), view);
        self
    }

    /// The page is about the type `prefix`, which has a page of its own: its list where most people may see
    /// it, else its description.
    pub(super) fn below_type(mut self, prefix: &str) -> Self {
        if self.registry.route(prefix).is_some_and(|it| it.is_unlisted) {
            return self;
        }
        let prefix_segment = encode_segment(prefix);
        self.crumbs.push(Crumb {
            href: match is_listed(self.registry, prefix, self.user.is_some()) {
                true => format!("/direct/{prefix_segment}.html"),
                false => format!("/direct/{prefix_segment}/describe.html"),
            },
            label: self.registry.plural(prefix),
        });
        self
    }

    /// The page is about entities of the type `prefix` in `site`, if there is one: below the site and its list of them,
    /// where the reader may open these.
    pub(super) fn below_list(mut self, prefix: &str, site: Option<&str>, view: &View<'_>) -> Self {
        let found = site.and_then(|site| {
            let path = Reference::entity("site", site).path();
            let title = view.allowed_actions.readable.get(&path)?;
            Some((site, path, title.clone()))
        });
        let Some((site, path, title)) = found else {
            return self.below_type(prefix);
        };
        self = self.below_entity(&path, title);
        match list_of_site(self.registry, prefix, site) {
            Some(href) => {
                let label = self.registry.plural(prefix);
                self.crumbs.push(Crumb { href, label });
                self
            }
            None => self.below_type(prefix),
        }
    }

    /// The page is about the entity at `path`, which has a page of its own.
    pub(super) fn below_entity(mut self, path: &str, title: String) -> Self {
        self.crumbs.push(Crumb {
            href: format!("/direct{path}.html"),
            label: title,
        });
        self
    }

    /// Adds the links to the same content as data.
    pub(super) fn with_data(mut self, view: &View<'_>) -> Self {
        let data = DATA.map(|(name, media_type)| {
            let href = match view.path {
                // The start page has no name that an extension could be put behind.
                "" => format!("{}/direct/describe.{name}", view.base_url),
                _ => view_url_with_query(view, name),
            };
            Alternate::of(name, media_type, href)
        });
        self.formats.extend(data);
        self
    }

    /// `body`, which the page shows, is also there in other formats.
    pub(super) fn with_formats(mut self, body: &Body, view: &View<'_>) -> Self {
        let offered = view.formats.offered(body);
        let others = view
            .formats
            .all()
            .filter(|it| it.name != "html" && offered.contains(&it.name));
        self.formats
            .extend(others.map(|it| Alternate::of_format(it, view)));
        self
    }
}

impl Course {
    /// The site to which the page belongs, if the reader may open it.
    fn of(view: &View<'_>) -> Option<Self> {
        let site = view.allowed_actions.site.as_deref()?;
        let path = Reference::entity("site", site).path();
        let title = view.allowed_actions.readable.get(&path)?.clone();
        let prefix = view.path.split('/').nth(1).unwrap_or_default();
        let current = part_of(prefix, view);
        let href = format!("/direct{path}.html");
        let own = Part {
            href: href.clone(),
            label: "Overview".to_owned(),
            icon: "home",
            is_current: view.path == path,
        };
        let part = |(label, list): &(String, Related)| Part {
            href: near(list, view),
            label: label.clone(),
            icon: icon_of(view.registry, list.prefix),
            is_current: Some(list.prefix) == current,
        };
        Some(Self {
            href,
            mark: Mark::of(site, &title),
            parts: std::iter::once(own)
                .chain(view.allowed_actions.menu.iter().map(part))
                .collect(),
            title,
        })
    }
}

/// The most types that are between an entity and the part of the course to which it belongs.
const MOST_BETWEEN: usize = 3;

/// Returns the type of the part of the course to which entities of the type `prefix` belong: its own, or that to which they
/// refer.
fn part_of<'a>(prefix: &'a str, view: &View<'a>) -> Option<&'a str> {
    let above = |prefix: &&'a str| {
        let fields = view.registry.route(prefix)?.schema.fields.iter();
        let mut references = fields.filter_map(|it| it.references);
        references.find(|it| !["site", "user", *prefix].contains(it))
    };
    let mut types = std::iter::successors(Some(prefix), above).take(MOST_BETWEEN);
    types.find(|it| {
        view.allowed_actions
            .menu
            .iter()
            .any(|part| part.1.prefix == *it)
    })
}

/// The icon of the type `prefix`.
pub(super) fn icon_of(registry: &Registry, prefix: &str) -> &'static str {
    registry.route(prefix).map_or("box", |it| icon(it.schema))
}

/// The address of the page to log in, from which one comes back to where one was.
pub(super) fn log_in(view: &View<'_>) -> String {
    let has_own_root = ["/portal", "/access"]
        .iter()
        .any(|it| view.path.starts_with(it));
    let page = match has_own_root {
        true => view.path.to_owned(),
        false => view_url_with_query(view, "html").replacen(view.base_url, "", 1),
    };
    format!("/portal/xlogin?{}", write_pairs([("to", page.as_str())]))
}

/// The address of the list of the entities of the type `prefix` in `site`, if the type has one.
fn list_of_site(registry: &Registry, prefix: &str, site: &str) -> Option<String> {
    menu::part(registry.route(prefix)?, site)
        .as_ref()
        .map(href_of)
}

/// Returns whether the reader, who is logged in if `is_known`, may open the list of the type `prefix`, as far as that is known
/// without asking for it. Strangers get no list of all: what they may read is in the sites that are open to them.
pub(super) fn is_listed(registry: &Registry, prefix: &str, is_known: bool) -> bool {
    let Some(route) = registry.route(prefix) else {
        return false;
    };
    let is_closed = |it: Need| matches!(it, Need::Superuser | Need::Account(_));
    let is_open = route.access.is_some_and(|it| !is_closed(it.read));
    is_known && is_open && !route.is_unlisted && route.capabilities().contains(&"list")
}

impl Alternate {
    /// Creates the link to the list in `format`. Subscribers want the whole list, not the part of it that the page
    /// shows now.
    fn of_format(format: Format, view: &View<'_>) -> Self {
        let href = match format.is_feed {
            true => list_url(view, format.name),
            false => view_url_with_query(view, format.name),
        };
        Self::of(format.name, format.essence(), href)
    }

    fn of(name: &'static str, media_type: &'static str, href: String) -> Self {
        Self {
            href,
            media_type,
            label: match name {
                "atom" => "Atom".to_owned(),
                calendar::NAME => "Calendar".to_owned(),
                other => other.to_uppercase(),
            },
        }
    }
}
