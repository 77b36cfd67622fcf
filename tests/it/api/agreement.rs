//! Endpoints list the same as the provider of their entities for the same person: neither more nor less. They are found
//! by themselves; one that shows a part only is named below, and is still asked for nothing that the provider keeps
//! back.

use std::collections::{BTreeMap, BTreeSet};

use entity_core::Verb;
use http::StatusCode;
use serde_json::Value;
use server::web::api::Endpoints;
use tests::{Client, TestApp, both};

/// The endpoints that show a part of what there is, each with the part.
const PARTS: [(&str, &str); 4] = [
    ("listConversationsOfSite", "the tags of its topics"),
    ("listTopicsOfSite", "the tags of its topics"),
    ("listLessonsOfSite", "pages without subpages"),
    (
        "readDashboardOfUser",
        "what is due next, and what was graded last",
    ),
];

/// The people who ask, and the sites that they ask about.
const PEOPLE: [&str; 4] = ["student1", "instructor1", "ta1", "admin"];
const SITES: [&str; 2] = ["biology-101", "field-trip"];

/// The ids of the entities of each type, with the site of each.
type Known = BTreeMap<&'static str, BTreeMap<String, Option<String>>>;

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// All that `client` is listed of each type.
async fn known(app: &TestApp, client: &Client) -> Known {
    let mut known = Known::new();
    for route in app.service().dispatcher.registry().routes() {
        // People are named wherever something is theirs.
        if route.prefix == "user" || !route.capabilities().contains(&"list") {
            continue;
        }
        let answer = client
            .get(&format!("/direct/{}.json?_limit=0", route.prefix))
            .await;
        if answer.status != StatusCode::OK {
            continue;
        }
        let list = answer.json();
        let items = list[format!("{}_collection", route.prefix)].as_array();
        let items = items.into_iter().flatten().filter_map(|it| {
            let site = ["siteId", "context", "locationReference"];
            let site = site.iter().find_map(|name| scalar(&it[*name]));
            Some((scalar(&it["entityId"])?, site))
        });
        known.insert(route.prefix, items.collect());
    }
    known
}

/// The lists of objects in `value`, wherever they are.
fn lists<'a>(value: &'a Value, found: &mut Vec<&'a Vec<Value>>) {
    match value {
        Value::Array(items) => {
            if items.iter().all(Value::is_object) && !items.is_empty() {
                found.push(items);
            }
            for it in items {
                lists(it, found);
            }
        }
        Value::Object(fields) => {
            for it in fields.values() {
                lists(it, found);
            }
        }
        _ => {}
    }
}

/// The type of the entities in a list, and their ids: by a field that has another value in each.
fn entities(items: &[Value], all: &Known, tag: &str) -> Option<(&'static str, BTreeSet<String>)> {
    let fields = items.first()?.as_object()?.keys();
    let fields = fields.filter(|it| *it == "id" || it.ends_with("Id"));
    for field in fields {
        let ids: Option<BTreeSet<String>> = items.iter().map(|it| scalar(&it[field])).collect();
        let Some(ids) = ids.filter(|it| it.len() == items.len()) else {
            continue;
        };
        let has_all = |known: &BTreeMap<_, _>| ids.iter().all(|it| known.contains_key(it));
        let mut types = all.iter().filter(|it| has_all(it.1)).map(|it| *it.0);
        let types: Vec<_> = types.by_ref().collect();
        let is_own = |it: &&&str| **it == tag;
        let found = types.iter().find(is_own).or(match &types[..] {
            [one] => Some(one),
            _ => None,
        });
        if let Some(found) = found {
            return Some((*found, ids));
        }
    }
    None
}

both! {
    async fn what_an_endpoint_lists_is_what_its_provider_lists(app: TestApp) {
        let endpoints = Endpoints::from_inventory().expect("endpoints");
        let all = known(&app, &app.user("admin").await).await;
        let (mut complaints, mut compared) = (BTreeSet::new(), BTreeSet::new());
        for eid in PEOPLE {
            let client = app.user(eid).await;
            let own = known(&app, &client).await;
            for endpoint in endpoints.iter().filter(|it| it.verb == Verb::Get) {
                let sites: &[&str] = if endpoint.path.contains("{siteId}") { &SITES } else { &[""] };
                for site in sites {
                    let path = endpoint.path.replace("{siteId}", site).replace("{userId}", "me");
                    if path.contains('{') || path.ends_with("/events") || path.contains("/docs") {
                        continue;
                    }
                    let answer = client.get(&format!("{path}?_limit=0")).await;
                    if answer.status != StatusCode::OK || answer.header("content-type") != Some("application/json") {
                        continue;
                    }
                    let answer = answer.json();
                    let mut found = Vec::new();
                    lists(&answer, &mut found);
                    for items in found {
                        let Some((prefix, ids)) = entities(items, &all, endpoint.tag) else { continue };
                        let is_here = |it: &&Option<String>| site.is_empty() || it.as_deref().is_none_or(|it| it.ends_with(site));
                        let none = BTreeMap::new();
                        let theirs = own.get(prefix).unwrap_or(&none).iter();
                        let theirs: BTreeSet<_> = theirs.filter(|it| is_here(&it.1)).map(|it| it.0.clone()).collect();
                        compared.insert(endpoint.id);
                        let more: Vec<_> = ids.difference(&theirs).collect();
                        let less: Vec<_> = theirs.difference(&ids).collect();
                        let is_part = PARTS.iter().any(|it| it.0 == endpoint.id);
                        if !more.is_empty() || !(less.is_empty() || is_part) {
                            complaints.insert(format!("{} as {eid}: {prefix} more {more:?}, less {less:?}", endpoint.id));
                        }
                    }
                }
            }
        }
        assert!(compared.len() >= 8, "{compared:?}");
        let complaints: Vec<_> = complaints.into_iter().collect();
        assert!(complaints.is_empty(), "{compared:?}\n{}", complaints.join("\n"));
    }
}
