//! The same answers in every format, kept as snapshots and read back by parsers that are not ours.

mod corpus;
mod form;
mod oracle;
mod page;

use entity_core::format::View;
use entity_formats::standard;

use corpus::{HOSTILE, answers, notes, problem, view};

#[test]
fn every_answer_has_its_form_in_every_format() {
    let formats = standard().unwrap();
    for (name, body) in answers() {
        for format in formats.offered(&body) {
            let renderer = formats.renderer_for(format, &body).unwrap();
            let text = String::from_utf8(renderer.render(&body, &view()).unwrap()).unwrap();
            // A snapshot is a text file: characters that hide are made visible.
            let visible: String = text
                .chars()
                .map(|it| match it {
                    '\u{202e}' => "⟨RTL⟩".to_owned(),
                    '\r' => "⟨CR⟩".to_owned(),
                    other => other.to_string(),
                })
                .collect();
            insta::assert_snapshot!(format!("{name}.{format}"), visible);
        }
    }
}

#[test]
fn an_error_has_its_form_in_every_format() {
    let formats = standard().unwrap();
    for format in ["json", "xml", "html"] {
        let renderer = formats.renderer(format).unwrap();
        let bytes = renderer.render_problem(&problem(), &view()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        insta::assert_snapshot!(
            format!("problem.{format}"),
            text.replace('\r', "⟨CR⟩").replace('\u{202e}', "⟨RTL⟩")
        );
    }
}

#[test]
fn forms_are_pages_only_and_feeds_need_a_type_that_has_them() {
    let formats = standard().unwrap();
    for (name, body) in answers() {
        let offered = formats.offered(&body);
        let expected: &[&str] = match name {
            "create" | "edit" | "refused" | "outdated" | "delete" | "outdated-delete" => &["html"],
            "list" | "entity" => &["json", "xml", "html", "atom", "rss", "csv", "ics"],
            _ => &["json", "xml", "html"],
        };
        assert_eq!(offered, expected, "{name}");
    }
}

#[test]
fn json_reads_back_equal() {
    let (_, body) = answers().swap_remove(1);
    let bytes = standard()
        .unwrap()
        .renderer("json")
        .unwrap()
        .render(&body, &view())
        .unwrap();
    let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(value["subject"], HOSTILE);
    assert_eq!(value["entityTitle"], HOSTILE);
    assert_eq!(value["entityURL"], "https://lms.example/direct/note/n%201");
    let expected = serde_json::to_value(&notes()[0]).unwrap();
    for (name, field) in expected.as_object().unwrap() {
        assert_eq!(&value[name], field, "{name}");
    }
}

#[test]
fn a_key_that_an_entity_writes_itself_wins() {
    let body = corpus::own_keys();
    let bytes = standard()
        .unwrap()
        .renderer("json")
        .unwrap()
        .render(&body, &view())
        .unwrap();
    assert_eq!(
        String::from_utf8(bytes).unwrap(),
        r#"{"entityURL":"mine","inner":{"entityId":"not the root"},"entityReference":"/session/s1","entityId":"s1"}"#
    );
}

#[test]
fn data_that_never_ends_is_refused_before_the_stack_does_end() {
    for format in ["json", "xml", "html"] {
        let body = corpus::endless();
        assert!(
            standard()
                .unwrap()
                .renderer(format)
                .unwrap()
                .render(&body, &view())
                .is_err(),
            "{format}"
        );
    }
}

#[test]
fn a_list_that_is_a_byte_too_large_is_refused_by_whatever_writes_it() {
    let formats = standard().unwrap();
    let (_, body) = answers().swap_remove(0);
    let within = |most_bytes| View {
        most_bytes,
        ..view()
    };
    for format in formats.offered(&body) {
        let renderer = formats.renderer(format).unwrap();
        let whole = renderer.render(&body, &view()).unwrap();
        let fits = renderer.render(&body, &within(whole.len())).unwrap();
        assert_eq!(fits, whole, "{format}");
        let error = renderer
            .render(&body, &within(whole.len() - 1))
            .unwrap_err();
        let fitting = error.fitting();
        let is_less = |it: &usize| (1..=body.count()).contains(it);
        assert!(fitting.as_ref().is_some_and(is_less), "{format}: {error:?}");
        // One alone is written whatever it takes.
        let (_, single) = answers().swap_remove(1);
        if renderer.accepts(&single) {
            assert!(renderer.render(&single, &within(1)).is_ok(), "{format}");
        }
    }
}

#[test]
fn paging_links_keep_the_query_and_replace_its_window() {
    let (_, body) = answers().swap_remove(0);
    let entity_core::reply::Body::Collection(list) = body else {
        panic!("a list")
    };
    let links = entity_formats::paging_links(&list, &view(), None);
    let base = "https://lms.example/direct/note/site/a%20b?_search=x%26y";
    assert_eq!(
        links,
        [
            ("first", format!("{base}&_start=0&_limit=2")),
            ("prev", format!("{base}&_start=1&_limit=2")),
            ("next", format!("{base}&_start=5&_limit=2")),
        ]
    );
}
