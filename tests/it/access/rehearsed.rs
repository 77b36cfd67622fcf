//! Dry runs of all operations: they tell nothing that their callers could not read before.

use http::{Method, StatusCode};
use serde_json::Value;
use tests::Client;

use super::matrix::send;
use super::requests::Question;

/// The texts of an answer that its caller could neither read before nor has sent, each with its place.
pub(super) async fn news(client: &Client, question: &Question) -> Vec<String> {
    // Other addresses than those of entities have no dry runs.
    let is_json =
        |it: &str| it.starts_with("/direct/") && !it.contains(".xml") && !it.contains(".html");
    let [path] = question.paths.as_slice() else {
        return Vec::new();
    };
    if question.method == Method::GET || !is_json(path) {
        return Vec::new();
    }
    let prefer = http::HeaderName::from_static("prefer");
    let dry = client
        .clone()
        .with_header(prefer, "tx=rollback, return=representation");
    let answer = send(&dry, question, path).await;
    let Ok(told) = serde_json::from_str::<Value>(answer.text()) else {
        return Vec::new();
    };
    let is_batch = told.get("results").is_some();
    if !(answer.status.is_success() || is_batch) {
        return Vec::new();
    }
    let body = question.body.as_ref().map_or("", |it| it.1.as_str());
    let mut known = format!("{path} {body}");
    let mut texts = Vec::new();
    collect(&told, String::new(), &mut texts);
    for (place, text) in &texts {
        if place.ends_with("/entityReference") {
            let found = client.get(&format!("/direct{text}.json")).await;
            if found.status == StatusCode::OK {
                known.push_str(found.text());
            }
        }
    }
    let is_frame = |place: &str| {
        let name = place.rsplit('/').next().unwrap_or_default();
        // What an answer says of itself: where the entity would be, by which id and with which status.
        ["entityReference", "entityURL", "entityId"].contains(&name)
            || is_batch && !place.contains("/data/")
    };
    texts.retain(|(place, text)| !is_frame(place) && !known.contains(text.as_str()));
    texts
        .into_iter()
        .map(|(place, text)| format!("{place}: {text}"))
        .collect()
}

/// Collects the values of `told`, each as it is written in JSON without its quotation marks.
fn collect(told: &Value, place: String, texts: &mut Vec<(String, String)>) {
    match told {
        Value::Null => {}
        Value::Array(items) => {
            for (index, it) in items.iter().enumerate() {
                collect(it, format!("{place}/{index}"), texts);
            }
        }
        Value::Object(fields) => {
            for (name, it) in fields {
                collect(it, format!("{place}/{name}"), texts);
            }
        }
        it => {
            let text = it.to_string();
            let text = text.strip_suffix(".0").unwrap_or(&text);
            texts.push((place, text.trim_matches('"').to_owned()));
        }
    }
}
