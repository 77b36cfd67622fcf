//! Step 8: a format.
//!
//! A format is a [`Renderer`](crate::format::Renderer), registered by [`register_format!`](crate::register_format).
//! It then applies to all types: `/loan.txt` and `/loan/ID.txt` answer in the format below, and so does a request with
//! `Accept: text/plain`.
//!
//! ```standalone_crate
//! use entity_core::format::{Format, Renderer, View};
//! use entity_core::reply::{Body, Item};
//! use entity_core::Result;
//!
//! /// Writes the titles of entities, one on each line.
//! struct Outline;
//!
//! entity_core::register_format!(Outline);
//!
//! impl Renderer for Outline {
//!     fn format(&self) -> Format {
//!         Format {
//!             name: "txt",
//!             media_type: "text/plain; charset=utf-8",
//!             aliases: &[],
//!             is_feed: false,
//!         }
//!     }
//!
//!     fn accepts(&self, body: &Body) -> bool {
//!         matches!(body, Body::Entity(_) | Body::Collection(_))
//!     }
//!
//!     fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
//!         let line = |it: &Item| format!("{}\n", it.title().unwrap_or_else(|| it.id()));
//!         let mut text = String::new();
//!         match body {
//!             Body::Entity(item) => text = line(item),
//!             Body::Collection(list) => {
//!                 for (index, item) in list.items.iter().enumerate() {
//!                     text += &line(item);
//!                     view.check_list(text.len(), index)?;
//!                 }
//!             }
//!             _ => {}
//!         }
//!         Ok(text.into_bytes())
//!     }
//! }
//! # fn main() {
//! #     let formats = entity_core::format::Formats::new(Vec::new(), Vec::new());
//! #     assert!(formats.with_registered("guide").unwrap().is_format("txt"));
//! # }
//! ```
//!
//! - The name is the ending in the URL: lower case letters and digits, a letter first, and not the name of another
//!   format.
//! - [`accepts`](crate::format::Renderer::accepts) says which answers the format can write. It is also called with
//!   empty samples of answers, to describe addresses in advance, so it must depend on the kind of the answer only. For
//!   any other answer the status is 406.
//! - Entities arrive after the permission checks, as [`Item`](crate::reply::Item)s of any type, with their schema.
//!   [`Item::data`](crate::reply::Item::data) is what the request wants to be shown, and
//!   [`Item::feed_entry`](crate::reply::Item::feed_entry) the entry in feeds.
//! - [`View::check_list`](crate::format::View::check_list) bounds the size of an answer. When it fails, the service
//!   renders the entities that fit and links to the rest.
//! - A format that escapes nothing, as above, must not be of a media type that browsers execute.
//!
//! A format that clients also send implements [`Parser`](crate::format::Parser), which is the second argument of
//! `register_format!`.
