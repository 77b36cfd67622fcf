//! HTML from clients, made harmless, in time proportional to its size whatever its shape.
//!
//! Before ammonia parses a text, `attributes` and `parse_cost` find out what parsing it takes, and refuse what would
//! take more than its size justifies. What ammonia writes is stored as it is and never edited.

mod absolute;
mod attributes;
mod parse_cost;
mod rooted;

use std::borrow::Cow;

use ammonia::{Builder, UrlRelative};
use entity_core::html::DIRECTORY;

pub use self::absolute::absolute;

/// The maximum number of times a text is sanitised until it stays as it is.
const ROUNDS: usize = 4;

/// The HTML that is kept: text, lists, tables, links, pictures. No scripts, styles, frames, forms, SVG or `MathML`.
/// Addresses relative to [`DIRECTORY`] come out relative to the root.
fn rules() -> Builder<'static> {
    let directory = rooted::Directory::new(DIRECTORY);
    let mut rules = Builder::default();
    rules
        .url_schemes(["http", "https", "mailto", "tel"].into())
        .link_rel(Some("noopener noreferrer nofollow"))
        .url_relative(UrlRelative::Custom(Box::new(directory)))
        .strip_comments(true);
    rules
}

/// Plain text as HTML that shows it.
pub(crate) fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&#34;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

/// Makes HTML harmless. One for a service.
#[derive(Debug)]
pub struct HtmlRules(Builder<'static>);

impl Default for HtmlRules {
    fn default() -> Self {
        Self(rules())
    }
}

impl HtmlRules {
    /// `html` without anything that could run, load a frame, send a form or restyle the page. Addresses in it that
    /// are relative to a page in [`DIRECTORY`] come out relative to the root. What was sanitised stays as it is when it
    /// is sanitised again.
    ///
    /// # Errors
    /// Parsing it would take more than its size justifies: what is wrong with it, to be said of the field.
    pub fn sanitize(&self, html: &str) -> Result<String, &'static str> {
        let mut html = Cow::Borrowed(html);
        // Wrong nesting may change when it is parsed again.
        for _round in 0..ROUNDS {
            check(&html)?;
            let clean = self.0.clean(&html).to_string();
            if clean == *html {
                return Ok(clean);
            }
            html = Cow::Owned(clean);
        }
        Err(parse_cost::CONFUSED)
    }
}

/// Refuses what takes more to parse than its size justifies.
fn check(html: &str) -> Result<(), &'static str> {
    if attributes::most(html) > attributes::MOST {
        return Err("must not have more than 64 attributes in a tag");
    }
    parse_cost::of(html).map(|_cost| ())
}

#[cfg(test)]
mod tests;
