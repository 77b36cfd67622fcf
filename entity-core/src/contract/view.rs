//! Views: structs that show some fields of an entity, perhaps under other names and as other types. This module has the
//! conversions that `#[derive(View)]` applies to single values.
//!
//! ```
//! use entity_core::{DateTimeUtc, View};
//!
//! struct Poll {
//!     poll_id: String,
//!     text: String,
//!     closes: DateTimeUtc,
//!     is_secret: Option<bool>,
//! }
//!
//! #[derive(View)]
//! #[view(of = Poll, beside(url: String))]
//! struct PollView {
//!     #[view(of = poll_id)]
//!     id: String,
//!     text: String,
//!     #[view(of = closes, as = iso)]
//!     closing_date: String,
//!     #[view(as = unwrap_or_default)]
//!     is_secret: bool,
//!     url: String,
//! }
//!
//! # let closes = DateTimeUtc::UNIX_EPOCH;
//! # let poll = Poll { poll_id: "7".into(), text: "Tea?".into(), closes, is_secret: None };
//! let view = PollView::of(poll, "/portal/poll/7".to_owned());
//! assert_eq!(view.closing_date, "1970-01-01T00:00:00Z");
//! # assert_eq!((&*view.id, &*view.text, view.is_secret, &*view.url), ("7", "Tea?", false, "/portal/poll/7"));
//! ```

use crate::{DateTimeUtc, model::wire};

/// Formats an instant as ISO 8601 text.
pub fn iso(instant: impl Into<DateTimeUtc>) -> String {
    wire::iso(instant.into())
}

/// Converts an instant to milliseconds since 1970.
pub fn millis(instant: impl Into<DateTimeUtc>) -> i64 {
    instant.into().timestamp_millis()
}

/// Returns the value, or the default of its type if there is none.
pub fn unwrap_or_default<T: Default>(value: Option<T>) -> T {
    value.unwrap_or_default()
}
