//! Options of the form for a private feed: the lists of one's sites, and the formats.

use entity_core::engine::Route;
use entity_core::options::{self, Choice};
use entity_core::{Context, Registry, Result, Verb, register_options};

/// The formats in which feeds are made, with their names for people.
const FORMATS: [(&str, &str); 3] = [
    ("atom", "For readers of news (Atom)"),
    ("rss", "For older readers of news (RSS)"),
    ("ics", "For calendars"),
];

register_options!("feed", |cx, _| Box::pin(lists(cx)));
register_options!("feed-format", |_cx, _| Box::pin(async { Ok(formats()) }));

fn formats() -> Vec<Choice> {
    let own = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
    FORMATS.iter().map(own).collect()
}

/// Returns the lists of the caller's sites that feeds can be made of: none if there are more than a form offers.
async fn lists(cx: &Context) -> Result<Vec<Choice>> {
    let registry = cx.service::<Registry>()?;
    let sites = options::listed(cx, "site", None, "id").await?;
    let routes: Vec<_> = registry.routes().filter(|it| is_followed(it)).collect();
    let lists = sites.iter().flat_map(|(id, title)| {
        let list = move |it: &&Route| {
            let path = format!("/{}/site/{id}", it.prefix);
            (path, format!("{title}: {}", it.plural()))
        };
        routes.iter().map(list)
    });
    let lists: Vec<_> = lists.take(options::MOST + 1).collect();
    Ok(match lists.len() > options::MOST {
        true => Vec::new(),
        false => lists,
    })
}

/// Returns whether the entities of a site are a list that readers or calendars follow.
fn is_followed(route: &Route) -> bool {
    let is_list = route.actions.iter().any(|it| {
        it.name == "site" && it.verb == Verb::Get && !it.is_on_entity && it.is_searched()
    });
    is_list && (route.schema.has_feed || route.schema.has_events)
}
