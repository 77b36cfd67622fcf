//! Readers of the formats that lists have for programs of people: tables and feeds.

use roxmltree::{Document, Node};

/// The media types of the formats that have one of their own.
pub(super) const MEDIA_TYPES: [(&str, &str); 7] = [
    ("json", "application/json"),
    ("xml", "application/xml"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("atom", "application/atom+xml"),
    ("rss", "application/rss+xml"),
    ("ics", "text/calendar"),
];

/// An entry of a feed.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The address of the page of the entity.
    pub(super) page: String,
    pub(super) title: String,
    /// The text, which is HTML; empty if there is none.
    pub(super) content: String,
}

/// Returns the entries of a feed in Atom or RSS.
pub(super) fn entries(feed: &str) -> Result<Vec<Entry>, String> {
    let document = Document::parse(feed).map_err(|error| format!("a feed is no XML: {error}"))?;
    let is_entry = |it: &Node<'_, '_>| ["entry", "item"].contains(&it.tag_name().name());
    Ok(document
        .descendants()
        .filter(is_entry)
        .map(|entry| {
            let text = |names: &[&str]| {
                let found = entry
                    .children()
                    .find(|it| names.contains(&it.tag_name().name()));
                found
                    .and_then(|it| it.text())
                    .unwrap_or_default()
                    .to_owned()
            };
            let is_page = |it: &Node<'_, '_>| it.attribute("rel") == Some("alternate");
            let link = entry.children().find(is_page);
            let link = link.and_then(|it| it.attribute("href"));
            Entry {
                page: link.map_or_else(|| text(&["link"]), ToOwned::to_owned),
                title: text(&["title"]),
                content: text(&["content", "description"]),
            }
        })
        .collect())
}

/// Returns the lines of a table as CSV, each with its cells.
pub(super) fn cells(table: &str) -> Vec<Vec<String>> {
    let (mut lines, mut line, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut is_quoted = false;
    let mut rest = table.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if is_quoted && rest.peek() == Some(&'"') => cell.extend(rest.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => line.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => {
                line.push(std::mem::take(&mut cell));
                lines.push(std::mem::take(&mut line));
            }
            c => cell.push(c),
        }
    }
    lines
}
