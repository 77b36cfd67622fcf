//! Items that other types name by their names, as forums do. Each stays an item of its own.

use entity_core::wire::Decimal;
use entity_core::{Context, Error, Result, Search, gate};

use super::bulk::check_comment;
use super::item::GradebookItem;
use super::marking::{self, Mark};

/// Checks that the caller sees an item `name` in the gradebook of `site` that is graded there.
///
/// # Errors
/// Returns an error that names the field `field` if there is none.
pub(crate) async fn demand_item(cx: &Context, site: &str, name: &str, field: &str) -> Result<()> {
    match find(cx, site, name).await? {
        Some(item) if !item.is_external() => Ok(()),
        _ => {
            let message = "must be the name of an item that is graded in the gradebook of the site";
            Err(Error::field(field, message))
        }
    }
}

/// Sets the score of `user` in the item `name` of `site`, with a comment unless that is to stay.
///
/// # Errors
/// Returns an error if there is no such item any more, if the score is out of range, or if the caller does not grade the
/// user.
pub(crate) async fn grade(
    cx: &Context,
    site: &str,
    name: &str,
    user: &str,
    score: Decimal,
    comment: Option<String>,
) -> Result<()> {
    check_comment(comment.as_deref(), "comment")?;
    let Some(item) = find(cx, site, name).await? else {
        let message = format!("the gradebook has no item `{name}` any more");
        return Err(Error::conflict(message));
    };
    let mark = Mark {
        item: item.item_id,
        user: user.to_owned(),
        score: Some(Some(score)),
        excused: None,
        comment,
    };
    marking::set(cx, site, vec![mark]).await.map(|_| ())
}

async fn find(cx: &Context, site: &str, name: &str) -> Result<Option<GradebookItem>> {
    let mut search = Search::all();
    search.narrow_to_site::<GradebookItem>(site)?;
    search.narrow(GradebookItem::FIELD.name.eq(name));
    Ok(gate::list::<GradebookItem>(cx, search).await?.items.pop())
}
