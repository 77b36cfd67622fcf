//! Tests of values of several shapes, and of the error messages for others.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::json;

use super::*;
use crate::model::shape;

/// A file.
#[derive(JsonSchema, serde::Deserialize)]
#[expect(dead_code, reason = "only the shape is looked at")]
struct File {
    url: String,
    size: Option<u64>,
    #[serde(default)]
    open: bool,
    tags: Option<Vec<String>>,
    kind: Option<FileKind>,
    props: Option<BTreeMap<String, String>>,
    share: Option<f64>,
    below: Option<Place>,
}

#[derive(JsonSchema, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum FileKind {
    Image,
    Text,
}

#[derive(JsonSchema, serde::Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only the shape is looked at")]
struct Place {
    row: i32,
}

fn read(value: Value, is_textual: bool) -> Read {
    let schema = shape::Sent(shape::of::<Vec<File>>).schema();
    Reader { is_textual }.read(schema.as_value(), value)
}

#[test]
fn text_becomes_what_the_shape_says_at_every_depth() {
    for (sent, expected) in [
        (json!(""), json!([])),
        (
            json!([{"url": "u", "size": ""}]),
            json!([{"url": "u", "size": null}]),
        ),
        (
            json!([{"url": "u", "size": " 12 "}]),
            json!([{"url": "u", "size": 12}]),
        ),
        (
            json!([{"url": "u", "open": "true"}]),
            json!([{"url": "u", "open": true}]),
        ),
        (json!({"file": {"url": "u"}}), json!([{"url": "u"}])),
        (
            json!([{"url": "u", "tags": {"tag": "x"}}]),
            json!([{"url": "u", "tags": ["x"]}]),
        ),
        (
            json!([{"url": "u", "tags": "x"}]),
            json!([{"url": "u", "tags": ["x"]}]),
        ),
        (
            json!([{"url": "u", "tags": ""}]),
            json!([{"url": "u", "tags": null}]),
        ),
        (
            json!([{"url": "", "kind": "image"}]),
            json!([{"url": "", "kind": "image"}]),
        ),
        (
            json!([{"url": "u", "props": {"a": ""}}]),
            json!([{"url": "u", "props": {"a": ""}}]),
        ),
        (
            json!([{"url": "u", "share": "0.5"}]),
            json!([{"url": "u", "share": 0.5}]),
        ),
        (
            json!([{"url": "u", "below": {"row": "3"}}]),
            json!([{"url": "u", "below": {"row": 3}}]),
        ),
        (
            json!([{"url": "u", "below": "", "kind": ""}]),
            json!([{"url": "u", "below": null, "kind": null}]),
        ),
        (
            json!([{"url": "u", "id": "is left to the type"}]),
            json!([{"url": "u", "id": "is left to the type"}]),
        ),
    ] {
        assert_eq!(read(sent.clone(), true), Ok(expected), "{sent}");
    }
}

#[test]
fn what_has_another_shape_is_named_in_words_of_our_own() {
    for (sent, path, message) in [
        (json!("u"), "", "must be a list"),
        (json!({"file": {"url": "u"}}), "", "must be a list"),
        (json!(["u"]), "[0]", "must be an object with `url`"),
        (json!([null]), "[0]", "is required"),
        (json!([{"url": "u"}, {}]), "[1].url", "is required"),
        (json!([{"url": null}]), "[0].url", "is required"),
        (json!([{"url": 5}]), "[0].url", "must be text"),
        (
            json!([{"url": "\u{1}"}]),
            "[0].url",
            "must not have control characters",
        ),
        (
            json!([{"url": "u", "size": "12"}]),
            "[0].size",
            "must be a whole number",
        ),
        (
            json!([{"url": "u", "size": -1}]),
            "[0].size",
            "must not be less than 0",
        ),
        (
            json!([{"url": "u", "open": "true"}]),
            "[0].open",
            "must be true or false",
        ),
        (
            json!([{"url": "u", "tags": ["a", 5]}]),
            "[0].tags[1]",
            "must be text",
        ),
        (
            json!([{"url": "u", "kind": "film"}]),
            "[0].kind",
            "must be image or text",
        ),
        (
            json!([{"url": "u", "props": {"a": {}}}]),
            "[0].props.a",
            "must be text",
        ),
        (
            json!([{"url": "u", "share": []}]),
            "[0].share",
            "must be a number",
        ),
        (
            json!([{"url": "u", "below": {"row": 5_000_000_000_i64}}]),
            "[0].below.row",
            "must not be more than 2147483647",
        ),
        (
            json!([{"url": "u", "below": {"row": 1, "x": 1}}]),
            "[0].below.x",
            "is not known here",
        ),
    ] {
        let wrong = read(sent.clone(), false).unwrap_err();
        assert_eq!(
            (wrong.path.as_str(), wrong.message.as_str()),
            (path, message),
            "{sent}"
        );
    }
    let wrong = read(json!(["u"]), true).unwrap_err();
    assert_eq!(wrong.message, "must be an object with `url`");
}

#[test]
fn a_body_as_a_whole_is_read_by_its_type() {
    let url = |sent| shape::decode::<File>(sent).map(|it| it.url);
    assert_eq!(url(json!({"url": "u"})).unwrap(), "u");
    assert_eq!(url(json!({})).unwrap_err().message(), "`url` is required");
    assert_eq!(
        url(json!([])).unwrap_err().message(),
        "the body must be an object with `url`"
    );
}
