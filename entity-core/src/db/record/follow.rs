//! Rows that follow something else, such as the deadline of an assignment in a calendar.

use super::{add, delete, replace};
use crate::contract::context::Context;
use crate::db::record::definition::Record;
use crate::primitives::error::Result;

/// The result of [`follow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed<T> {
    /// There is no row, and there was none.
    Nothing,
    /// The row was as it should be.
    Kept(T),
    /// The row is new.
    Added(T),
    /// The row changed.
    Changed(T),
    /// The row, as it was, is deleted.
    Deleted(T),
}

/// Makes the row `current`, if there is one, what is `wanted`: a new row, a changed one, or none. The permission of the
/// caller is decided by the type that the row follows.
///
/// # Errors
/// Fails as [`add`], [`replace`] and [`delete`] do.
pub async fn follow<T: Record + PartialEq>(
    cx: &Context,
    current: Option<T>,
    wanted: Option<T>,
) -> Result<Followed<T>> {
    Ok(match (current, wanted) {
        (None, None) => Followed::Nothing,
        (None, Some(made)) => Followed::Added(add(cx, made).await?),
        (Some(current), None) => {
            delete(cx, current.clone()).await?;
            Followed::Deleted(current)
        }
        (Some(current), Some(wanted)) if wanted == current => Followed::Kept(current),
        (Some(current), Some(wanted)) => Followed::Changed(replace(cx, current, wanted).await?),
    })
}
