//! The answers as other people's parsers read them.

use std::cell::RefCell;

use entity_core::reply::{Body, Item};
use entity_formats::standard;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;

use super::corpus::{HOSTILE, answers, note, problem, view};
use super::page::has_only_our_script;

/// Collects the tags of a page.
#[derive(Default)]
struct Tags(RefCell<Vec<Tag>>);

impl TokenSink for Tags {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        if let Token::TagToken(tag) = token {
            self.0.borrow_mut().push(tag);
        }
        TokenSinkResult::Continue
    }
}

pub(crate) fn tags(page: &str) -> Vec<Tag> {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(page));
    let tokenizer = Tokenizer::new(Tags::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    tokenizer.sink.0.into_inner()
}

/// Checks that each element to which an attribute refers is there, once.
fn check_references(tags: &[Tag], page: &str) {
    let values = |names: &[&str]| {
        let attributes = tags.iter().flat_map(|it| &it.attrs);
        let wanted = attributes.filter(|it| names.contains(&&*it.name.local));
        wanted.map(|it| it.value.to_string()).collect::<Vec<_>>()
    };
    let ids = values(&["id"]);
    let referring = values(&["for", "aria-describedby", "aria-labelledby"]);
    let words = referring.iter().flat_map(|it| it.split(' '));
    let hrefs = values(&["href"]);
    let anchors = hrefs.iter().filter_map(|it| it.strip_prefix('#'));
    for word in words.chain(anchors) {
        assert_eq!(
            ids.iter().filter(|it| *it == word).count(),
            1,
            "{word} in {page}"
        );
    }
}

fn check_page(page: &[u8]) {
    let page = std::str::from_utf8(page).unwrap();
    let tags = tags(page);
    let count = |name: &str| {
        tags.iter()
            .filter(|it| &*it.name == name && it.kind == html5ever::tokenizer::TagKind::StartTag)
            .count()
    };
    assert_eq!(
        (count("html"), count("h1"), count("main")),
        (1, 1, 1),
        "{page}"
    );
    check_references(&tags, page);
    assert!(has_only_our_script(&tags), "{page}");
    for tag in &tags {
        assert!(
            !matches!(&*tag.name, "style" | "iframe" | "object"),
            "{page}"
        );
        for attribute in &tag.attrs {
            let name = attribute.name.local.to_string();
            assert!(
                !name.starts_with("on") && name != "style",
                "{name} in {page}"
            );
            let is_address = matches!(name.as_str(), "href" | "src" | "action" | "formaction");
            let is_safe = attribute.value.starts_with('/')
                || attribute.value.starts_with('#')
                || attribute.value.starts_with("https://");
            assert!(!is_address || is_safe, "{} in {page}", attribute.value);
        }
    }
}

fn render(format: &str, body: &Body) -> Vec<u8> {
    standard()
        .unwrap()
        .renderer_for(format, body)
        .unwrap()
        .render(body, &view())
        .unwrap()
}

#[test]
fn no_page_runs_or_fetches_what_others_wrote() {
    for (name, body) in &answers() {
        println!("{name}");
        check_page(&render("html", body));
    }
    let html = standard().unwrap();
    check_page(
        &html
            .renderer("html")
            .unwrap()
            .render_problem(&problem(), &view())
            .unwrap(),
    );
}

/// Text after XML: what it forbids is replaced.
fn in_xml(text: &str) -> String {
    text.chars()
        .map(|it| match it {
            '\t' | '\n' | '\r' => it,
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            _ => it,
        })
        .collect()
}

fn check_xml(subject: &str) {
    let body = Body::Entity(Item::new("note", note("n1", subject, 0)));
    let text = String::from_utf8(render("xml", &body)).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let field = |name: &str| {
        document
            .root_element()
            .children()
            .find(|it| it.has_tag_name(name))
            .unwrap()
    };
    assert_eq!(field("subject").text().unwrap_or_default(), in_xml(subject));
    assert_eq!(
        field("createdOn").attribute("date"),
        Some("2026-12-05T02:15:29Z")
    );
    assert_eq!(field("createdOn").text(), Some("1796436929000"));
    assert_eq!(
        field("submissions")
            .first_element_child()
            .unwrap()
            .tag_name()
            .name(),
        "simplesubmission"
    );
    assert_eq!(
        field("attachments")
            .first_element_child()
            .unwrap()
            .tag_name()
            .name(),
        "attachment"
    );
}

#[test]
fn xml_of_hostile_text_reads_back_equal() {
    check_xml(HOSTILE);
}

#[test]
fn feeds_of_hostile_text_are_feeds() {
    let bodies = answers();
    let body = &bodies[0].1;
    for format in ["atom", "rss"] {
        let bytes = render(format, body);
        roxmltree::Document::parse(std::str::from_utf8(&bytes).unwrap()).unwrap();
        let feed = feed_rs::parser::parse(&bytes[..]).unwrap();
        assert_eq!(feed.entries.len(), 2, "{format}");
        assert_eq!(feed.updated.unwrap().timestamp(), 1_796_436_989, "{format}");
        let entry = &feed.entries[1];
        assert!(entry.id.starts_with("urn:uuid:"), "{format}");
        assert_eq!(entry.title.as_ref().unwrap().content, "Second", "{format}");
        assert_eq!(
            entry.published.unwrap().timestamp(),
            1_796_436_989,
            "{format}"
        );
        let hrefs: Vec<_> = entry.links.iter().map(|it| it.href.as_str()).collect();
        assert!(
            hrefs.contains(&"https://lms.example/direct/note/n2.html"),
            "{format} {hrefs:?}"
        );
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            !text.contains("<script") && !text.contains("\"javascript:"),
            "{text}"
        );
    }
    assert_eq!(
        feed_rs::parser::parse(&render("atom", body)[..])
            .unwrap()
            .entries[0]
            .id,
        feed_rs::parser::parse(&render("rss", body)[..])
            .unwrap()
            .entries[0]
            .id,
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_text_survives_every_format(subject in ".{0,40}|[\\x00-\\x1f<>&\"'\\]]{0,20}") {
        check_xml(&subject);
        let body = Body::Entity(Item::new("note", note("n1", &subject, 0)));
        let json: serde_json::Value = serde_json::from_slice(&render("json", &body)).unwrap();
        prop_assert_eq!(&json["subject"], &subject);
        check_page(&render("html", &body));
        feed_rs::parser::parse(&render("atom", &body)[..]).unwrap();
        feed_rs::parser::parse(&render("rss", &body)[..]).unwrap();
    }
}
