//! Visibility in forums, as conditions in SQL, and the dates between which a forum or a topic is open.

use entity_core::{Error, Result};

/// The latest instant that clients can write, in seconds: the end of the year 9999.
const LATEST: i64 = 253_402_300_799;

/// The condition that the forum or topic in this row is finished and open at present.
macro_rules! is_open {
    ($row:literal) => {
        concat!(
            "NOT ",
            $row,
            ".is_draft AND (NOT ",
            $row,
            ".is_availability_restricted OR ((",
            $row,
            ".open_date IS NULL OR ",
            $row,
            ".open_date * 1000 <= {now}) AND (",
            $row,
            ".close_date IS NULL OR ",
            $row,
            ".close_date * 1000 > {now})))"
        )
    };
}

/// The SQL condition that the forum is open.
pub(super) const IS_FORUM_OPEN: &str = is_open!("this");

/// The SQL condition that the topic and its forum are open.
pub(super) const IS_TOPIC_OPEN: &str = concat!(is_open!("this"), " AND ", is_open!("parent"));

/// The SQL condition that a member who is no moderator sees the message `this`: in an open topic `parent` and forum
/// `f`, it is the member's own, or it is approved and the member may see what others wrote. Where somebody writes
/// first, a message that is deleted or has no text does not count.
pub(super) const IS_MESSAGE_OPEN: &str = concat!(
    is_open!("parent"),
    " AND ",
    is_open!("f"),
    " AND (this.author_id = {caller} OR (this.is_approved AND (NOT (parent.is_post_first OR f.is_post_first) OR \
     EXISTS (SELECT 1 FROM forum_message o WHERE o.topic_id = this.topic_id AND o.author_id = {caller} \
     AND NOT (o.is_draft OR o.is_deleted) AND o.body <> ''))))"
);

/// The SQL condition that the caller has read or written the message.
pub(super) const IS_READ: &str = "(d.read_id IS NOT NULL OR this.author_id = {caller})";

/// Checks the dates between which a forum or topic is open, in seconds since 1970.
///
/// # Errors
/// Returns an error that names the field.
pub(super) fn check_dates(open: Option<i64>, close: Option<i64>) -> Result<()> {
    for (name, date) in [("openDate", open), ("closeDate", close)] {
        if date.is_some_and(|it| !(0..=LATEST).contains(&it)) {
            let message = format!("must be in seconds since 1970, {LATEST} at most");
            return Err(Error::field(name, message));
        }
    }
    match (open, close) {
        (Some(open), Some(close)) if close < open => {
            Err(Error::disordered("openDate", "closeDate"))
        }
        _ => Ok(()),
    }
}
