//! The formats that Lectern speaks: answers as JSON, XML, HTML, Atom, RSS, iCalendar and CSV; bodies from forms,
//! JSON and XML.
//!
//! Plain text is escaped here, once, by the rules of each format. Only fields that the schema calls HTML and the
//! content of feed entries are written as markup: they were sanitised on their way in. This crate does not
//! choose a format and knows no HTTP; the server does.
//!
//! The input is a [`Reply`](entity_core::reply::Reply) or the bytes of a body, the output are bytes or an
//! [`Input`](entity_core::Input). The modules below are floors, from the bottom up: a file imports from its own floor
//! and from those below it.

use entity_core::engine::RegistryError;
use entity_core::format::Formats;

/// Texts, which all formats write.
mod primitives {
    pub(crate) mod buffer;
    pub(crate) mod text;
    pub(crate) mod title;
}

/// Bodies from clients.
pub mod input;

/// A file or folder for each format but HTML, and what several of them need.
mod render {
    pub mod batch;
    pub mod calendar;
    pub mod csv;
    pub mod feed;
    pub mod json;
    pub mod openapi;
    pub mod opml;
    pub(crate) mod paging;
    pub(crate) mod pivot;
    pub(crate) mod tree;
    pub mod xml;
}

/// Pages for people.
pub mod html;

pub use render::{batch, calendar, csv, feed, json, openapi, opml, xml};

pub use input::form::{FORM, encode, parse_pairs, write_pairs};
pub use input::json::parse_value as parse_json;
pub use primitives::title::title;
pub use render::paging::{filters, paging_links, windows};

/// The icons, which all pages refer to.
const ICONS: &str = include_str!("../assets/icons.svg");
/// The path of the icons.
const ICONS_PATH: &str = "/assets/icons.svg";
/// The path of the sheet that all pages refer to.
pub const STYLESHEET_PATH: &str = "/assets/lectern.css";
/// The path of the script that all pages refer to, and that none of them needs.
pub const SCRIPT_PATH: &str = "/assets/lectern.js";

/// The files to which pages refer, and which the server must serve: the path of each, its media type and its text.
pub const ASSETS: [(&str, &str, &str); 3] = [
    (
        STYLESHEET_PATH,
        "text/css; charset=utf-8",
        include_str!("../assets/lectern.css"),
    ),
    (
        SCRIPT_PATH,
        "text/javascript; charset=utf-8",
        include_str!("../assets/lectern.js"),
    ),
    (ICONS_PATH, "image/svg+xml", ICONS),
];

/// The formats that every service speaks, and those that the linked crates registered, as this one does with
/// [calendars](calendar) and [tables](csv). JSON comes first, which makes it the default.
///
/// # Errors
/// Two crates claim the same name.
pub fn standard() -> Result<Formats, RegistryError> {
    let own = Formats::new(
        vec![
            Box::new(json::Json),
            Box::new(xml::Xml),
            Box::new(html::Html),
            Box::new(feed::atom::Atom),
            Box::new(feed::rss::Rss),
        ],
        vec![
            Box::new(input::json::JsonParser),
            Box::new(input::xml::XmlParser),
            Box::new(input::form::FormParser),
        ],
    );
    own.with_registered(env!("CARGO_PKG_NAME"))
}
