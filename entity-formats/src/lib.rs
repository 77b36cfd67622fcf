//! The formats that Lectern speaks: answers as JSON, XML, HTML, Atom and RSS; bodies from forms, JSON and XML.
//!
//! Plain text is escaped here, once, by the rules of each format. Only fields that the schema calls HTML and the
//! content of feed entries are written as markup: they were sanitised on their way in. This crate does not
//! choose a format and knows no HTTP; the server does.

use entity_core::format::Formats;

pub mod feed;
pub mod html;
pub mod input;
pub mod json;
pub mod openapi;
mod paging;
mod text;
mod tree;
pub mod xml;

pub use input::form::parse_pairs;
pub use paging::paging_links;

/// The sheet that all pages refer to.
pub const STYLESHEET: &str = include_str!("../assets/lectern.css");
/// Where the server must serve the sheet.
pub const STYLESHEET_PATH: &str = "/assets/lectern.css";

/// All formats. JSON comes first, which makes it the default.
pub fn standard() -> Formats {
    Formats::new(
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
    )
}
