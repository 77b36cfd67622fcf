//! The rules of RFC 4287 and of RSS 2.0 that parsers forgive: each broken one is a failure here.

use chrono::DateTime;
use roxmltree::{Document, Node};

const ATOM: &str = "http://www.w3.org/2005/Atom";
const DC: &str = "http://purl.org/dc/elements/1.1/";

/// The children that Atom itself defines, and how often they may be there: at least, at most.
const FEED: &[(&str, usize, usize)] = &[
    ("id", 1, 1),
    ("title", 1, 1),
    ("updated", 1, 1),
    ("subtitle", 0, 1),
    ("generator", 0, 1),
    ("icon", 0, 1),
    ("logo", 0, 1),
    ("rights", 0, 1),
    ("author", 0, MANY),
    ("contributor", 0, MANY),
    ("category", 0, MANY),
    ("link", 1, MANY),
    ("entry", 0, MANY),
];
const ENTRY: &[(&str, usize, usize)] = &[
    ("id", 1, 1),
    ("title", 1, 1),
    ("updated", 1, 1),
    ("published", 0, 1),
    ("content", 0, 1),
    ("summary", 0, 1),
    ("source", 0, 1),
    ("rights", 0, 1),
    ("author", 0, MANY),
    ("contributor", 0, MANY),
    ("category", 0, MANY),
    ("link", 0, MANY),
];
const CHANNEL: &[(&str, usize, usize)] = &[
    ("title", 1, 1),
    ("link", 1, 1),
    ("description", 1, 1),
    ("language", 0, 1),
    ("pubDate", 0, 1),
    ("lastBuildDate", 0, 1),
    ("generator", 0, 1),
    ("category", 0, MANY),
    ("ttl", 0, 1),
    ("item", 0, MANY),
];
const ITEM: &[(&str, usize, usize)] = &[
    ("title", 1, 1),
    ("link", 0, 1),
    ("description", 0, 1),
    ("category", 0, MANY),
    ("enclosure", 0, 1),
    ("guid", 1, 1),
    ("pubDate", 0, 1),
];
const MANY: usize = usize::MAX;

fn children<'a>(node: Node<'a, 'a>, name: &str) -> Vec<Node<'a, 'a>> {
    node.children()
        .filter(|it| it.tag_name().name() == name)
        .collect()
}

fn text<'a>(node: Node<'a, 'a>, name: &str) -> String {
    let found = children(node, name);
    found
        .first()
        .and_then(Node::text)
        .unwrap_or_default()
        .to_owned()
}

/// Every child of the namespace is one of these, and is there as often as it must and may be.
fn check_children(node: Node<'_, '_>, namespace: Option<&str>, rules: &[(&str, usize, usize)]) {
    let own = node
        .children()
        .filter(|it| it.is_element() && it.tag_name().namespace() == namespace);
    let names: Vec<&str> = own.map(|it| it.tag_name().name()).collect();
    for name in &names {
        assert!(
            rules.iter().any(|it| it.0 == *name),
            "`{name}` has no place in {node:?}"
        );
    }
    for (name, least, most) in rules {
        let count = names.iter().filter(|it| *it == name).count();
        assert!(
            (*least..=*most).contains(&count),
            "{count} of `{name}` in {node:?}"
        );
    }
    let mixed = node
        .children()
        .find(|it| it.is_text() && !it.text().unwrap_or_default().trim().is_empty());
    assert!(mixed.is_none(), "text between the elements of {node:?}");
}

fn is_iri(text: &str) -> bool {
    let has_scheme = ["http://", "https://", "urn:uuid:", "tag:"]
        .iter()
        .any(|it| text.starts_with(it));
    has_scheme
        && !text
            .contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"{}|\\^`".contains(c))
}

/// Fails unless `feed` keeps the rules of Atom.
pub(crate) fn check_atom(feed: &str) {
    let document = Document::parse(feed).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(
        (root.tag_name().name(), root.tag_name().namespace()),
        ("feed", Some(ATOM))
    );
    check_children(root, Some(ATOM), FEED);
    check_atom_parts(root);
    assert!(
        links(root).iter().any(|it| it.0 == "self"),
        "a feed names itself"
    );
    let entries = children(root, "entry");
    let mut newest = None;
    for entry in &entries {
        check_children(*entry, Some(ATOM), ENTRY);
        check_atom_parts(*entry);
        let has_author =
            !children(*entry, "author").is_empty() || !children(root, "author").is_empty();
        assert!(has_author, "nobody wrote {entry:?}");
        let has_content = !children(*entry, "content").is_empty();
        assert!(has_content || links(*entry).iter().any(|it| it.0 == "alternate"));
        newest = newest.max(DateTime::parse_from_rfc3339(&text(*entry, "updated")).ok());
    }
    if newest.is_some() {
        assert_eq!(
            DateTime::parse_from_rfc3339(&text(root, "updated")).ok(),
            newest
        );
    }
    let mut ids: Vec<_> = entries.iter().map(|it| text(*it, "id")).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), entries.len(), "an id is there twice");
}

/// Checks the elements that feeds and entries have in common.
fn check_atom_parts(node: Node<'_, '_>) {
    assert!(
        is_iri(&text(node, "id")),
        "`{}` is no IRI",
        text(node, "id")
    );
    for name in ["updated", "published"] {
        for date in children(node, name) {
            let date = date.text().unwrap_or_default();
            assert!(
                DateTime::parse_from_rfc3339(date).is_ok(),
                "`{date}` is no date"
            );
        }
    }
    for name in ["title", "subtitle", "summary", "content"] {
        for construct in children(node, name) {
            let kind = construct.attribute("type").unwrap_or("text");
            assert!(matches!(kind, "text" | "html"), "{kind}");
            assert!(
                construct.children().all(|it| it.is_text()),
                "markup in {construct:?}"
            );
        }
    }
    for person in children(node, "author") {
        check_children(
            person,
            Some(ATOM),
            &[("name", 1, 1), ("uri", 0, 1), ("email", 0, 1)],
        );
        assert!(
            !text(person, "name").trim().is_empty(),
            "nobody has no name"
        );
    }
    for category in children(node, "category") {
        assert!(category.has_attribute("term"), "{category:?}");
    }
    let mut alternates = Vec::new();
    for (relation, media_type, href) in links(node) {
        assert!(is_iri(&href), "`{href}` is no IRI");
        if relation == "alternate" {
            assert!(
                !alternates.contains(&media_type),
                "two alternates of one kind"
            );
            alternates.push(media_type);
        }
    }
}

/// Relation, media type and address of the links.
fn links(node: Node<'_, '_>) -> Vec<(String, Option<String>, String)> {
    let links = children(node, "link")
        .into_iter()
        .filter(|it| it.tag_name().namespace() == Some(ATOM));
    links
        .map(|it| {
            let relation = it.attribute("rel").unwrap_or("alternate").to_owned();
            let href = it.attribute("href").expect("an address").to_owned();
            (relation, it.attribute("type").map(ToOwned::to_owned), href)
        })
        .collect()
}

/// Fails unless `feed` keeps the rules of RSS 2.0.
pub(crate) fn check_rss(feed: &str) {
    let document = Document::parse(feed).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!(
        (root.tag_name().name(), root.attribute("version")),
        ("rss", Some("2.0"))
    );
    check_children(root, None, &[("channel", 1, 1)]);
    let channel = children(root, "channel")[0];
    check_children(channel, None, CHANNEL);
    check_rss_dates(channel, "lastBuildDate");
    assert!(
        links(channel).iter().any(|it| it.0 == "self"),
        "a feed names itself"
    );
    for item in children(channel, "item") {
        check_children(item, None, ITEM);
        check_rss_dates(item, "pubDate");
        let guid = children(item, "guid")[0];
        let is_address = guid.attribute("isPermaLink") != Some("false");
        let guid = guid.text().unwrap_or_default();
        assert!(
            is_iri(guid) && (!is_address || guid.starts_with("http")),
            "`{guid}`"
        );
        for enclosure in children(item, "enclosure") {
            assert!(
                enclosure.attribute("url").is_some_and(is_iri),
                "{enclosure:?}"
            );
            assert!(
                enclosure
                    .attribute("type")
                    .is_some_and(|it| it.contains('/')),
                "{enclosure:?}"
            );
            let length = enclosure
                .attribute("length")
                .and_then(|it| it.parse::<u64>().ok());
            assert!(length.is_some(), "{enclosure:?}");
        }
        let creators = item
            .children()
            .filter(|it| it.has_tag_name((DC, "creator")));
        assert!(creators.count() <= 1);
    }
}

fn check_rss_dates(node: Node<'_, '_>, name: &str) {
    for date in children(node, name) {
        let date = date.text().unwrap_or_default();
        assert!(
            DateTime::parse_from_rfc2822(date).is_ok(),
            "`{date}` is no date"
        );
    }
}
