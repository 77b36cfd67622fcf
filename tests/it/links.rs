//! No link is dead: whatever payloads, feeds and pages link to can be opened by those who are shown the link.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use entity_core::{Registry, Verb};
use http::StatusCode;
use http::header::{ACCEPT, LINK, LOCATION};
use serde_json::Value;
use tests::{Answer, Backend, Client, TestApp, both, is_full};

const BASE: &str = "http://127.0.0.1:8080";
/// The most addresses of one shape that are followed, on SQLite and on PostgreSQL.
const ALIKE: [usize; 2] = [4, 1];
/// The links that may lead to nothing: the list of users, which has a rule of its own that descriptions do not know,
/// and the value of a setting, which other addresses begin with.
const EXCEPTIONS: [&str; 2] = ["/direct/user", "/access"];

/// A link, and the page that it is on.
#[derive(Debug)]
struct Link {
    path: String,
    origin: String,
}

/// The addresses that a program or a person begins with.
fn beginnings() -> BTreeSet<String> {
    let mut all = BTreeSet::from(
        [
            "/portal",
            "/portal/favorites/list",
            "/direct/describe.html",
            "/direct/describe.json",
        ]
        .map(ToOwned::to_owned),
    );
    let registry = Registry::from_inventory().expect("types that go together");
    for route in registry.routes() {
        let prefix = route.prefix;
        if route.capabilities().contains(&"list") {
            for format in ["json", "html", "atom", "rss"] {
                all.insert(format!("/direct/{prefix}.{format}"));
                all.insert(format!("/direct/{prefix}.{format}?siteId=biology-101"));
            }
        }
        let actions = route
            .actions
            .iter()
            .filter(|it| it.verb == Verb::Get && !it.is_on_entity);
        for action in actions {
            let name = action.name;
            let required = action.arguments.iter().filter(|it| it.is_required).count();
            for format in ["json", "html"] {
                match required {
                    0 => all.insert(format!("/direct/{prefix}/{name}.{format}")),
                    1 => all.insert(format!("/direct/{prefix}/{name}/biology-101.{format}")),
                    _ => false,
                };
            }
        }
    }
    let endpoints =
        server::web::api::Endpoints::from_inventory().expect("endpoints that go together");
    for endpoint in endpoints.iter().filter(|it| it.verb.is_safe()) {
        let path = endpoint
            .path
            .replace("{siteId}", "biology-101")
            .replace("{userId}", "me");
        all.insert(path);
    }
    all.retain(|it| !it.contains('{'));
    all
}

/// The path of an address of the service, without the fragment.
fn local(address: &str) -> Option<String> {
    let address = address.split('#').next().unwrap_or_default();
    let path = address.strip_prefix(BASE).unwrap_or(address);
    let is_ours = path.starts_with('/') && !path.starts_with("//");
    let is_exception = EXCEPTIONS.iter().any(|it| {
        let rest = path.strip_prefix(it);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    (is_ours && !is_exception).then(|| path.to_owned())
}

/// The addresses in the values of keys that end in `url`, at any depth.
fn of_data(data: &Value, found: &mut BTreeSet<String>) {
    match data {
        Value::Array(items) => items.iter().for_each(|it| of_data(it, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                let is_address = key.to_lowercase().ends_with("url");
                match value.as_str() {
                    Some(text) if is_address && !text.is_empty() => found.extend(local(text)),
                    Some(text) if text.contains("href=") || text.contains("src=") => {
                        of_markup(text, found);
                    }
                    _ => of_data(value, found),
                }
            }
        }
        _ => {}
    }
}

/// The addresses in attributes of HTML, Atom and RSS, and in the element `link` of RSS. A form that is sent has none.
fn of_markup(text: &str, found: &mut BTreeSet<String>) {
    for name in [" href=\"", " src=\"", " url=\"", "<link>"] {
        let end = if name == "<link>" { '<' } else { '"' };
        for part in text.split(name).skip(1) {
            let value = part.split(end).next().unwrap_or_default();
            found.extend(local(&plain(value)));
        }
    }
    for form in text.split("<form").skip(1) {
        let tag = form.split('>').next().unwrap_or_default();
        if !tag.contains("method=\"post\"")
            && let Some((_, rest)) = tag.split_once(" action=\"")
        {
            found.extend(local(&plain(rest.split('"').next().unwrap_or_default())));
        }
    }
}

/// `text` without escapes.
fn plain(text: &str) -> String {
    [
        ("&#38;", "&"),
        ("&#39;", "'"),
        ("&#34;", "\""),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |it, (escape, plain)| {
        it.replace(escape, plain)
    })
}

fn links(answer: &Answer) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let kind = answer.header("content-type").unwrap_or_default();
    if let Some(links) = answer.header(LINK) {
        let parts = links.split('<').skip(1);
        found.extend(parts.filter_map(|it| local(it.split('>').next()?)));
    }
    if kind.contains("json") {
        if let Ok(data) = serde_json::from_slice(&answer.body) {
            of_data(&data, &mut found);
        }
    } else if kind.contains("html") || kind.contains("xml") {
        of_markup(&String::from_utf8_lossy(&answer.body), &mut found);
    }
    found
}

/// The path with each part that is no word left out, and the names of the parameters.
fn shape(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (stem, format) = match path.rsplit_once('.') {
        Some((stem, format)) if !format.contains('/') && format.len() <= 5 => (stem, format),
        _ => (path, ""),
    };
    let is_word = |it: &str| {
        !it.contains(|c: char| c.is_ascii_digit() || "%:- ".contains(c)) && it.len() < 24
    };
    let parts: Vec<_> = stem
        .split('/')
        .map(|it| if is_word(it) { it } else { "*" })
        .collect();
    let names: Vec<_> = query
        .split('&')
        .filter_map(|it| it.split('=').next())
        .collect();
    format!("{}.{format}?{}", parts.join("/"), names.join("&"))
}

/// Returns the fault of the answer to whoever follows a link.
fn complaint(answer: &Answer, is_stranger: bool) -> Option<StatusCode> {
    let status = answer.status;
    let is_right = status.is_success()
        || status.is_redirection()
        || (is_stranger && status == StatusCode::UNAUTHORIZED);
    (!is_right).then_some(status)
}

/// Follows links from the beginnings on. Returns how many were followed, and what is wrong with them.
async fn crawl(client: &Client, is_stranger: bool, alike: usize) -> (usize, Vec<String>) {
    let start = beginnings().into_iter();
    let mut waiting: VecDeque<_> = start
        .map(|path| Link {
            path,
            origin: String::new(),
        })
        .collect();
    let mut seen = BTreeSet::new();
    let mut shapes: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    while let Some(Link { path, origin }) = waiting.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let is_start = origin.is_empty();
        let number = shapes.entry(shape(&path)).or_default();
        *number += 1;
        if *number > alike && !is_start {
            continue;
        }
        let answer = client.get(&path).await;
        if answer.status.is_server_error() || !is_start {
            let complaint = complaint(&answer, is_stranger);
            wrong.extend(complaint.map(|it| format!("{it} {path} on {origin}")));
        }
        let mut found = links(&answer);
        if !answer.status.is_success() && !answer.status.is_redirection() {
            found.clear();
        }
        let next = answer
            .header(LOCATION)
            .filter(|_| answer.status.is_redirection());
        found.extend(next.and_then(local));
        waiting.extend(found.into_iter().map(|it| Link {
            path: it,
            origin: path.clone(),
        }));
    }
    (shapes.len(), wrong)
}

both! {
    async fn no_link_of_a_payload_a_feed_or_a_page_is_dead(app: TestApp) {
        let html = |it: Client| it.with_header(ACCEPT, "text/html,*/*;q=0.5");
        let is_whole = app.database().backend() == Backend::Sqlite || is_full();
        let alike = if is_whole { ALIKE[0] } else { ALIKE[1] };
        let mut all = Vec::new();
        for (name, client, least) in [
            ("stranger", app.anonymous(), 40),
            ("student1", app.user("student1").await, 150),
            ("instructor1", app.user("instructor1").await, 200),
        ] {
            let (count, wrong) = crawl(&html(client), name == "stranger", alike).await;
            assert!(count >= least, "{name}: {count}");
            all.extend(wrong.into_iter().map(|it| format!("{name}: {it}")));
        }
        assert!(all.is_empty(), "{}:\n{}", all.len(), all.join("\n"));
    }
}
