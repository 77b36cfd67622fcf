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
//! #[view(of = Poll, beside(base: &str, now: DateTimeUtc), with(
//!     url = format!("{base}/portal/poll/{}", it.poll_id),
//!     is_open = it.closes > now,
//!     can_vote = is_open,
//! ))]
//! struct PollView {
//!     #[view(of = poll_id)]
//!     id: String,
//!     text: String,
//!     #[view(of = closes, as = iso)]
//!     closing_date: String,
//!     #[view(as = unwrap_or_default)]
//!     is_secret: bool,
//!     url: String,
//!     is_open: bool,
//!     can_vote: bool,
//! }
//!
//! # let closes = DateTimeUtc::UNIX_EPOCH;
//! # let poll = Poll { poll_id: "7".into(), text: "Tea?".into(), closes, is_secret: None };
//! let view = PollView::of(poll, "https://example.edu", DateTimeUtc::UNIX_EPOCH);
//! assert_eq!(view.closing_date, "1970-01-01T00:00:00Z");
//! assert_eq!(view.url, "https://example.edu/portal/poll/7");
//! assert!(!view.is_open && !view.can_vote);
//! # assert_eq!((&*view.id, &*view.text, view.is_secret), ("7", "Tea?", false));
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
