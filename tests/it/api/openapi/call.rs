//! Calls of an operation, made from what the document says of it.

use std::collections::BTreeMap;

use http::{Method, StatusCode};
use serde_json::Value;
use tests::Client;

use super::document::{Document, Operation, Parameter};

/// One call.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) media_type: String,
    pub(super) body: String,
}

/// Ids that the caller knows of, by type.
#[derive(Clone)]
pub(super) struct Known(BTreeMap<String, String>);

/// The site that examples are about.
const SITE: &str = "biology-101";
/// One that anybody may join.
const JOINABLE: &str = "field-trip";
/// The name of groups if they were a type.
const GROUP: &str = "group";

impl Known {
    pub(super) async fn of(user: &Client, document: &Document) -> Self {
        let mut known = BTreeMap::new();
        for operation in document.operations().filter(|it| it.id.starts_with("list")) {
            // Scores of assignments change with the work alone.
            let query = match operation.tag.as_str() {
                "gradebook-score" => "?comment=Well%20argued.",
                _ => "",
            };
            let answer = user.get(&format!("{}{query}", operation.path)).await;
            let key = format!("{}_collection", operation.tag);
            if answer.status == StatusCode::OK
                && let Some(id) = answer.json()[key][0]["entityId"].as_str()
            {
                known.insert(operation.tag.clone(), id.to_owned());
            }
        }
        // These are about a site, and have its id.
        for prefix in ["activity", "presence", "roster-membership"] {
            known.insert(prefix.to_owned(), SITE.to_owned());
        }
        let answer = user.get("/direct/session/current").await;
        let handle = answer.header("x-sakai-session").unwrap_or_default();
        known.insert("session".to_owned(), handle.to_owned());
        let site = user.get(&format!("/direct/site/{SITE}.json")).await;
        if let Some(id) = site.json()["siteGroups"][0]["id"].as_str() {
            known.insert(GROUP.to_owned(), id.to_owned());
        }
        Self(known)
    }

    /// The same, and what was created since.
    pub(super) fn with(&self, created: &BTreeMap<String, String>) -> Self {
        let mut known = self.clone();
        known.0.extend(created.clone());
        known
    }

    /// The same, and the parts of the address of a private feed that was made.
    pub(super) fn with_feed(mut self, made: &Value) -> Self {
        let address = made["addresses"]["atom"].as_str().unwrap_or_default();
        let mut parts = address.rsplit('/').map(ToOwned::to_owned);
        for part in ["name", "token"] {
            let value = parts.next().unwrap_or_default();
            self.0.insert(part.to_owned(), value);
        }
        self
    }

    /// The value of a variable of the path of `operation`.
    fn value(&self, operation: &Operation, name: &str) -> String {
        let announcement = || {
            let id = self.0.get("announcement").map(String::as_str);
            let mut parts = id.unwrap_or("x:x:x").split(':').map(ToOwned::to_owned);
            [(); 3].map(|()| parts.next().unwrap_or_default())
        };
        match (operation.id.as_str(), name) {
            ("listSitesOfUser", _) => "me".to_owned(),
            ("readUserInformation", _) => "student1".to_owned(),
            (_, "id" | "userId") if operation.tag == "profile" => "me".to_owned(),
            ("describeType", _) => "site".to_owned(),
            ("readPrivateFeed", part) => self.0.get(part).cloned().unwrap_or_default(),
            (_, "channel") => announcement()[1].clone(),
            (_, "announcementId") => announcement()[2].clone(),
            ("postAnyMembershipJoinWith2" | "postAnyMembershipUnjoinWith2", "siteId") => {
                "site".to_owned()
            }
            ("postSiteJoin", _) => JOINABLE.to_owned(),
            (it, _) if it.contains("MembershipJoin") || it.contains("MembershipUnjoin") => {
                JOINABLE.to_owned()
            }
            (_, "groupId") => {
                let known = self.0.get(GROUP);
                known.map_or_else(|| "nothing".to_owned(), Clone::clone)
            }
            ("getAnyAnnouncementMessage" | "getAnyAnnouncementMsg", _) => announcement()[0].clone(),
            // What was created since has neither groups nor roles of its own.
            (it, "id") if it.ends_with("SiteGroup") || it.ends_with("SiteRole") => SITE.to_owned(),
            (_, "id") => {
                let known = self.0.get(&operation.tag);
                known.map_or_else(|| "nothing".to_owned(), Clone::clone)
            }
            _ => SITE.to_owned(),
        }
    }
}

/// The plain call, one for each parameter that may be there, and one for each type of body.
pub(super) fn calls(operation: &Operation, known: &Known) -> Vec<Call> {
    let method = operation.method.to_ascii_uppercase();
    let mut path = operation.path.clone();
    for parameter in operation
        .parameters
        .iter()
        .filter(|it| it.location == "path")
    {
        let value = entity_core::encode_segment(&known.value(operation, &parameter.name));
        path = path.replace(&format!("{{{}}}", parameter.name), &value);
    }
    let call = Call {
        method: Method::from_bytes(method.as_bytes()).expect("a method"),
        path,
        headers: Vec::new(),
        media_type: "application/json".to_owned(),
        body: String::new(),
    };
    let mut calls: Vec<Call> = operation
        .bodies
        .iter()
        .filter(|it| !it.1.is_null())
        .map(|(media_type, example)| Call {
            media_type: media_type.clone(),
            body: body(&operation.id, media_type, example),
            ..call.clone()
        })
        .collect();
    let is_form_page = operation.id.starts_with("formTo");
    let page = ("Accept".to_owned(), "text/html".to_owned());
    let plain = Call {
        headers: is_form_page.then_some(page).into_iter().collect(),
        ..call.clone()
    };
    for parameter in &operation.parameters {
        for value in values(parameter) {
            let call = calls.last().unwrap_or(&call).clone();
            calls.push(match parameter.location.as_str() {
                "query" => Call {
                    path: format!("{}?{}={value}", plain.path, parameter.name),
                    ..plain.clone()
                },
                "header" => Call {
                    headers: vec![(parameter.name.clone(), value)],
                    ..call
                },
                _ => continue,
            });
        }
    }
    calls.push(plain);
    calls
}

/// A body of this type that says what the example says, about a site that exists. The example, about something that is
/// there. A value that must be new differs from one address to the next.
fn body(id: &str, media_type: &str, example: &Value) -> String {
    let mut example = example.clone();
    if let Some(eid) = example.get_mut("eid") {
        *eid = id.into();
    }
    if let Some(site) = example.get_mut("siteId") {
        *site = SITE.into();
    }
    match media_type {
        "application/x-www-form-urlencoded" => {
            let fields = example.as_object().expect("an object").iter();
            let pairs = fields.map(|(name, value)| {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), ToOwned::to_owned);
                format!("{name}={}", entity_core::encode_segment(&text))
            });
            pairs.collect::<Vec<_>>().join("&")
        }
        _ => example.to_string(),
    }
}

/// Values that a parameter takes.
fn values(parameter: &Parameter) -> Vec<String> {
    let schema = &parameter.schema;
    if let Some(values) = schema["enum"].as_array() {
        return values
            .iter()
            .filter_map(|it| it.as_str().map(ToOwned::to_owned))
            .collect();
    }
    if let Some(example) = parameter.example.as_str() {
        return vec![example.to_owned()];
    }
    let value = match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("boolean"), _) => "true".to_owned(),
        (Some("integer" | "number"), _) => {
            schema["minimum"].as_i64().unwrap_or(1).max(1).to_string()
        }
        (_, Some("date-time")) => "2026-11-21T10:00:00Z".to_owned(),
        _ => match (parameter.location.as_str(), schema["pattern"].as_str()) {
            ("header", _) => "\"0\"".to_owned(),
            (_, Some(pattern)) if parameter.name == "_order" => first_choice(pattern),
            _ => "example".to_owned(),
        },
    };
    vec![value]
}

/// `^(a|b)…` → `a`.
fn first_choice(pattern: &str) -> String {
    let inner = pattern.trim_start_matches(['^', '(']);
    inner
        .split(['|', ')'])
        .next()
        .unwrap_or_default()
        .to_owned()
}
