//! The use of pages by people: they put lists in order, filter them, and correct forms.

use std::collections::BTreeMap;

use entity_core::format::View;
use entity_core::reply::Body;
use entity_formats::{parse_pairs, standard};
use html5ever::tokenizer::{Tag, TagKind};
use proptest::prelude::*;

use super::corpus::{HOSTILE, answers, refusal, view_of};
use super::oracle::tags;

pub(crate) fn page(name: &str, view: &View<'_>) -> Vec<Tag> {
    let body = answers().into_iter().find(|it| it.0 == name).unwrap().1;
    tags(&render(&body, view))
}

pub(crate) fn render(body: &Body, view: &View<'_>) -> String {
    let formats = standard().unwrap();
    let renderer = formats.renderer_for("html", body).unwrap();
    String::from_utf8(renderer.render(body, view).unwrap()).unwrap()
}

pub(crate) fn attribute(tag: &Tag, name: &str) -> Option<String> {
    let found = tag.attrs.iter().find(|it| &*it.name.local == name);
    found.map(|it| it.value.to_string())
}

pub(crate) fn is_start(tag: &Tag, name: &str) -> bool {
    tag.kind == TagKind::StartTag && &*tag.name == name
}

/// Returns whether the only script of a page is that of all pages.
pub(crate) fn has_only_our_script(page: &[Tag]) -> bool {
    let scripts = page.iter().filter(|it| is_start(it, "script"));
    let sources: Vec<_> = scripts.map(|it| attribute(it, "src")).collect();
    sources == [Some("/assets/lectern.js".to_owned())]
}

/// The values that a browser sends when nobody touched the form around the search of a list.
fn untouched(page: &[Tag]) -> Vec<(String, String)> {
    let form = page
        .iter()
        .skip_while(|it| attribute(it, "role").as_deref() != Some("search"));
    let form = form.take_while(|it| it.kind == TagKind::StartTag || &*it.name != "form");
    let mut pairs = Vec::new();
    let mut select = String::new();
    for tag in form {
        if is_start(tag, "input") {
            pairs.push((
                attribute(tag, "name").unwrap(),
                attribute(tag, "value").unwrap_or_default(),
            ));
        } else if is_start(tag, "select") {
            select = attribute(tag, "name").unwrap();
        } else if is_start(tag, "option") && attribute(tag, "selected").is_some() {
            pairs.push((select.clone(), attribute(tag, "value").unwrap()));
        }
    }
    pairs.retain(|(_, value)| !value.is_empty());
    pairs
}

/// The addresses by which the columns put the list in order, by what is said of them.
fn orders(page: &[Tag]) -> Vec<(String, Option<String>)> {
    let links = page.windows(2).filter_map(|it| match it {
        [column, link] if is_start(column, "th") && is_start(link, "a") => {
            let href = attribute(link, "href").filter(|it| it.contains("_order="))?;
            Some((href, attribute(column, "aria-sort")))
        }
        _ => None,
    });
    links.collect()
}

#[test]
fn a_column_puts_the_list_in_its_order_and_then_the_other_way_round() {
    let order = |query: &str| orders(&page("list", &view_of("/note", query)));
    let base = "https://lms.example/direct/note.html?";
    let hrefs =
        |links: Vec<(String, Option<String>)>| links.into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(
        hrefs(order("")),
        ["subject", "createdOn", "points"].map(|it| format!("{base}_order={it}"))
    );
    let links = order("_order=points,subject&points=5&_start=9&_page=2&_limit=3");
    let kept = "points=5&_limit=3&_order=";
    let by = |key: &str| format!("{base}{kept}{key}");
    assert_eq!(links[0], (by("subject"), None));
    assert_eq!(links[2], (by("points_desc"), Some("ascending".to_owned())));
    let links = order("_order=points_desc");
    let by_points = format!("{base}_order=points");
    assert_eq!(links[2], (by_points, Some("descending".to_owned())));
}

#[test]
fn only_a_list_that_can_be_searched_has_a_form_for_it() {
    for is_searched in [true, false] {
        let mut body = answers().into_iter().find(|it| it.0 == "list").unwrap().1;
        if let Body::Collection(collection) = &mut body {
            collection.is_searched = is_searched;
        }
        for path in ["/note/site/a%20b", "/note"] {
            let page = tags(&render(&body, &view_of(path, "_limit=2")));
            let is_form = |it: &Tag| attribute(it, "role").as_deref() == Some("search");
            assert_eq!(orders(&page).is_empty(), !is_searched, "{path}");
            assert_eq!(page.iter().any(is_form), is_searched, "{path}");
            let action = page
                .iter()
                .find(|it| is_form(it))
                .and_then(|it| attribute(it, "action"));
            assert!(
                action.is_none_or(|it| it.ends_with(&format!("/direct{path}.html"))),
                "{path}"
            );
        }
    }
}

#[test]
fn a_link_to_a_new_entity_takes_along_what_the_list_is_filtered_by() {
    let page = page(
        "list",
        &view_of("/note", "points=5&_order=points&createdOn=7&isDraft=true"),
    );
    let hrefs: Vec<_> = page.iter().filter_map(|it| attribute(it, "href")).collect();
    assert!(
        hrefs.contains(&"/direct/note/new.html?points=5&isDraft=true".to_owned()),
        "{hrefs:?}"
    );
}

#[test]
fn a_new_form_is_filled_with_what_the_address_suggests() {
    let text = render(
        &answers().into_iter().find(|it| it.0 == "create").unwrap().1,
        &view_of(
            "/note/new",
            "subject=%3Cb%3E%22&isDraft=true&due=2026-11-21T10%3A00%3A00&x=y",
        ),
    );
    for expected in [
        r#"name="subject" type="text" value="&#60;b&#62;&#34;""#,
        r#"<option value="true" selected>"#,
        r#"value="2026-11-21T10:00:00""#,
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
}

/// The control of a field in a form.
pub(crate) fn control<'a>(page: &'a [Tag], name: &str) -> &'a Tag {
    let is_it = |it: &&Tag| attribute(it, "name").as_deref() == Some(name);
    page.iter().find(is_it).unwrap()
}

#[test]
fn a_refused_form_says_at_each_field_what_is_wrong_and_keeps_what_was_sent() {
    let page = page("refused", &view_of("/note", ""));
    for name in ["subject", "body", "due", "points", "isDraft"] {
        let control = control(&page, name);
        let is_wrong = refusal().fields.iter().any(|it| it.name == name);
        let described = attribute(control, "aria-describedby").unwrap_or_default();
        assert_eq!(
            attribute(control, "aria-invalid").is_some(),
            is_wrong,
            "{name}"
        );
        assert_eq!(
            described
                .split(' ')
                .any(|it| it == format!("field-{name}-error")),
            is_wrong,
            "{name}"
        );
    }
    assert_eq!(
        attribute(control(&page, "points"), "value").unwrap(),
        "many"
    );
    assert_eq!(
        attribute(control(&page, "due"), "value").unwrap(),
        "2026-11-21T10:00"
    );
    let summary: Vec<_> = page
        .iter()
        .filter_map(|it| attribute(it, "href"))
        .filter(|it| it.starts_with("#field-"))
        .collect();
    assert_eq!(summary, ["#field-points", "#field-subject", "#field-words"]);
}

#[test]
fn a_password_is_never_written_into_a_page() {
    use entity_core::reply::{Form, FormPurpose};
    use entity_core::schema::{Field, Kind, Meaning, Schema};

    static SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("_username", Kind::Text(99), "")
                .writable()
                .meaning(Meaning::UserName),
            Field::new("_password", Kind::Text(99), "")
                .writable()
                .meaning(Meaning::Password),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: entity_core::schema::Look::PLAIN,
    };
    let mut refusal = refusal();
    for name in ["_username", "_password"] {
        let sent = format!("sent{name}");
        refusal.sent.insert(name.to_owned(), sent.into());
    }
    let body = Body::Form(Form {
        prefix: "session",
        schema: &SCHEMA,
        item: None,
        purpose: FormPurpose::LogIn,
        left_out: Vec::new(),
        offered: Vec::new(),
        refusal: Some(refusal),
    });
    let text = render(&body, &view_of("/session", "_password=sent_password"));
    assert!(text.contains("sent_username") && !text.contains("sent_password"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_form_of_a_list_keeps_what_the_address_says(
        subject in "[ -~äß日]{1,20}",
        words in "[a-z&=+%#<>\"']{1,20}",
        points in 0_u32..1000,
        is_draft: bool,
        limit in prop::sample::select(vec!["10", "7", "100"]),
        chosen in prop::collection::vec(any::<bool>(), 7),
        start in 0_u32..99,
    ) {
        let all = [
            ("subject", subject), ("_search", words), ("points", points.to_string()),
            ("isDraft", is_draft.to_string()), ("_limit", limit.to_owned()),
            ("_order", "points_desc".to_owned()), ("createdOn[ge]", "2026-11-21T10:00".to_owned()),
        ];
        let kept = all.iter().zip(&chosen).filter(|it| *it.1).map(|it| it.0);
        let asked: BTreeMap<String, String> = kept.map(|it| (it.0.to_owned(), it.1.clone())).collect();
        let pairs = asked.iter().map(|(name, value)| (&**name, &**value));
        let query = format!("_start={start}&{}", entity_formats::write_pairs(pairs));
        let sent = untouched(&page("list", &view_of("/note", &query)));
        prop_assert_eq!(sent.len(), asked.len(), "{:?}", sent);
        prop_assert_eq!(sent.into_iter().collect::<BTreeMap<_, _>>(), asked);
    }

    #[test]
    fn written_pairs_read_back_equal(pairs in prop::collection::vec((".{1,9}", ".{0,9}"), 0..9)) {
        let written = entity_formats::write_pairs(pairs.iter().map(|it| (&*it.0, &*it.1)));
        prop_assert_eq!(parse_pairs(written.as_bytes()).unwrap(), pairs);
    }

    #[test]
    fn no_query_breaks_a_page(query in "[!-~]{0,60}") {
        for name in ["list", "create"] {
            let page = page(name, &view_of("/note", &query));
            prop_assert_eq!(page.iter().filter(|it| is_start(it, "h1")).count(), 1);
            prop_assert!(has_only_our_script(&page));
        }
    }
}

#[test]
fn hostile_text_in_a_query_stays_text() {
    let query = entity_formats::write_pairs([("subject", HOSTILE), (HOSTILE, HOSTILE)]);
    let page = page("list", &view_of("/note", &query));
    assert!(has_only_our_script(&page));
    let sent = untouched(&page);
    let seen = HOSTILE.replace(['\u{0}', '\u{1}', '\u{fffe}'], "\u{fffd}");
    // A browser reads the end of a line as one line feed.
    let seen = seen.replace("\r\n", "\n");
    assert_eq!(sent.iter().find(|it| it.0 == "subject").unwrap().1, seen);
}
