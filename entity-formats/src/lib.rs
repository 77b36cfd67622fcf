//! The formats that Lectern speaks: answers as JSON, XML, HTML, Atom and RSS; bodies from forms, JSON and XML.
//!
//! Plain text is escaped here, once, by the rules of each format. Only fields that the schema calls HTML and the
//! content of feed entries are written as markup: they were sanitised on their way in. This crate does not
//! choose a format and knows no HTTP; the server does.

use entity_core::format::Formats;

pub mod input;
pub mod json;
mod text;

/// All formats. JSON comes first, which makes it the default.
pub fn standard() -> Formats {
    Formats::new(
        vec![Box::new(json::Json)],
        vec![
            Box::new(input::json::JsonParser),
            Box::new(input::xml::XmlParser),
            Box::new(input::form::FormParser),
        ],
    )
}
