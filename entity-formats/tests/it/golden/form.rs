//! Forms: which control asks for what, and that a form which nobody touched changes nothing.

use entity_core::Entity as _;
use entity_core::reply::{Body, Form, FormPurpose, Item};
use entity_formats::standard;
use html5ever::tokenizer::{Tag, TagKind};
use serde_json::{Value, json, to_value};

use super::corpus::{Note, answers, note, view_of};
use super::oracle::tags;
use super::page::{attribute, control, is_start, page, render};

/// The values by their names that a browser sends when nobody touched the form of an entity.
fn sent(page: &[Tag], text: &str) -> Vec<(String, String)> {
    let form = page.iter().skip_while(|it| {
        !(is_start(it, "form") && attribute(it, "action").as_deref() == Some("/direct/note/n2"))
    });
    let form = form.take_while(|it| it.kind == TagKind::StartTag || &*it.name != "form");
    let mut pairs = Vec::new();
    let mut select = String::new();
    for tag in form {
        let of = |name| attribute(tag, name).unwrap_or_default();
        if is_start(tag, "input")
            && (of("type") != "checkbox" || attribute(tag, "checked").is_some())
        {
            pairs.push((of("name"), of("value")));
        } else if is_start(tag, "textarea") {
            let opened = text.split_once(&format!("id=\"{}\"", of("id"))).unwrap().1;
            let inner = opened
                .split_once(">\n")
                .unwrap()
                .1
                .split_once("</textarea>")
                .unwrap()
                .0;
            let plain = inner
                .replace("&#60;", "<")
                .replace("&#62;", ">")
                .replace("&#34;", "\"");
            pairs.push((
                of("name"),
                plain.replace("&#39;", "'").replace("&#38;", "&"),
            ));
        } else if is_start(tag, "select") {
            select = of("name");
        } else if is_start(tag, "option") && attribute(tag, "selected").is_some() {
            pairs.push((select.clone(), of("value")));
        }
    }
    pairs
}

#[test]
fn a_form_that_nobody_touched_changes_nothing() {
    let note = note("n2", "Second", 0);
    let mut now = to_value(&note).unwrap();
    // What no page can show is not there.
    note_without_controls(&mut now);
    let mut shown = note;
    shown.words.truncate(1);
    shown
        .words
        .push("{ \"quoted\"\nand on two lines".to_owned());
    shown.props = json!({"a=b": "c", "d": "", "e": " = "});
    now["words"] = to_value(&shown.words).unwrap();
    now["props"] = shown.props.clone();
    let schema = Note::schema();
    let form = Form {
        prefix: "note",
        schema,
        item: Some(Item::new("note", shown)),
        purpose: FormPurpose::Update,
        left_out: Vec::new(),
        offered: Vec::new(),
        refusal: None,
    };
    let text = render(&Body::Form(form), &view_of("/note/n2/edit", ""));
    let pairs = sent(&tags(&text), &text);
    let pairs = pairs
        .iter()
        .filter(|it| !it.0.starts_with('_') && it.0 != "sakai_csrf_token");
    let body = entity_formats::write_pairs(pairs.map(|it| (&*it.0, &*it.1)));
    let formats = standard().unwrap();
    let parser = formats.parser("application/x-www-form-urlencoded").unwrap();
    let input = parser.parse(body.as_bytes()).unwrap();
    let fields = input.check(schema, false).unwrap().0;
    assert!(fields.len() >= 8, "{fields:?}");
    for (name, value) in fields {
        let stored = now.get(&name).cloned().unwrap_or_default();
        let is_nothing = stored.is_null() && (value == "" || value == false || value.is_null());
        let is_same = match name.as_str() {
            "due" => stored["time"] == value,
            _ => stored == value,
        };
        assert!(is_nothing || is_same, "{name}: {value} for {stored}");
    }
}

/// Leaves the fields that a form asks for.
fn note_without_controls(note: &mut Value) {
    let schema = Note::schema();
    if let Some(fields) = note.as_object_mut() {
        fields.retain(|name, _| schema.field(name).is_some());
    }
}

#[test]
fn a_form_about_what_has_changed_keeps_what_was_typed_and_says_what_is_stored() {
    let text = render(
        &answers()
            .into_iter()
            .find(|it| it.0 == "outdated")
            .unwrap()
            .1,
        &view_of("/note/n2", ""),
    );
    for expected in [
        "It was changed in the meantime",
        r#"<input type="hidden" name="_version" value="00000000000000ff">"#,
        r#"<a href="/direct/note/n%201.html" target="_blank""#,
        r#"value="many""#,
        r#"id="field-points-present">Stored now: <span class="text" dir="auto">2.5</span>"#,
        r#"id="field-due-present">Stored now: <span class="text" dir="auto">2026-12-05T02:15:29"#,
        r#"id="field-isDraft-present">Stored now: <span class="text" dir="auto">no</span>"#,
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    assert!(!text.contains("field-secret-present"));
}

#[test]
fn a_form_carries_the_version_that_it_was_filled_with() {
    for (name, expected) in [
        ("create", None),
        ("edit", Some("00000000000000ff")),
        ("refused", Some("0000000000000007")),
        ("delete", Some("00000000000000ff")),
        ("outdated-delete", Some("00000000000000ff")),
    ] {
        let page = page(name, &view_of("/note", ""));
        let field = page
            .iter()
            .find(|it| attribute(it, "name").as_deref() == Some("_version"));
        let version = field.and_then(|it| attribute(it, "value"));
        assert_eq!(version.as_deref(), expected, "{name}");
    }
}

#[test]
fn each_field_is_asked_for_by_a_control_of_its_kind() {
    let page = page("create", &view_of("/note/new", ""));
    for (name, tag, kind) in [
        ("body", "textarea", None),
        ("due", "input", Some("datetime-local")),
        ("points", "input", Some("number")),
        ("isDraft", "select", None),
        ("kind", "select", None),
        ("mail", "input", Some("email")),
        ("home", "input", Some("url")),
        ("secret", "input", Some("password")),
        ("words", "textarea", None),
        ("props", "textarea", None),
    ] {
        let control = control(&page, name);
        assert!(is_start(control, tag), "{name}: {control:?}");
        assert_eq!(attribute(control, "type").as_deref(), kind, "{name}");
    }
    let boxes: Vec<_> = page
        .iter()
        .filter(|it| attribute(it, "name").as_deref() == Some("isOpen"))
        .map(|it| {
            (
                attribute(it, "type").unwrap(),
                attribute(it, "checked").is_some(),
            )
        })
        .collect();
    assert_eq!(
        boxes,
        [("hidden".to_owned(), false), ("checkbox".to_owned(), true)]
    );
}
