//! Items that belong to something else, such as an assignment: it says what the item is, and sets the scores.

use std::collections::{BTreeMap, BTreeSet};

use entity_core::db::{self, Followed};
use entity_core::wire::{Decimal, Millis};
use entity_core::{Context, DateTimeUtc, Error, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::audience::{Audience, EDIT};
use super::item::{GradebookItem, gradebook_item};
use super::marking::{self, Mark};
use super::score::check_points;
use crate::people::membership::named::active_members;

/// The definition of an item that belongs to something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemSpec {
    /// The site.
    pub site: String,
    /// The name, which no other item of the site has.
    pub name: String,
    /// The points that it is worth.
    pub points: Decimal,
    /// When it is due.
    pub due: Option<DateTimeUtc>,
    /// True as long as students are not told their scores, although they may see what the item belongs to.
    pub is_withheld: bool,
    /// The fields of what it belongs to that say the name and the points: what is wrong with these is told about the fields.
    pub fields: [&'static str; 2],
}

/// Makes the item of `cause` what `spec` says: a new one, a changed one, or none. Returns its id, if there is one.
///
/// `cause` is the reference of the entity to which the item belongs, such as `/assignment/ID`. The permission of the
/// caller is decided by the type of that entity.
///
/// # Errors
/// Returns an error if another item of the site has this name, if the points are out of range, or if the item would move
/// to another site.
pub async fn follow_cause(
    cx: &Context,
    cause: &str,
    spec: Option<ItemSpec>,
) -> Result<Option<String>> {
    let current = find(cx, cause).await?;
    let is_elsewhere =
        |item: &GradebookItem| spec.as_ref().is_some_and(|it| it.site != item.site_id);
    if current.as_ref().is_some_and(is_elsewhere) {
        return Err(Error::conflict(
            "a gradebook item never moves to another site",
        ));
    }
    let [name, points] = spec.as_ref().map_or(["", ""], |it| it.fields);
    let wanted = spec.map(|it| match &current {
        Some(item) => it.onto(item.clone()),
        None => it.to_item(cx, cause),
    });
    let followed = db::follow(cx, current, wanted).await;
    let followed = followed.map_err(|error| {
        error.rename_fields(|it| match it {
            "name" => Some(name),
            "points" => Some(points),
            _ => None,
        })
    });
    let item = match followed? {
        Followed::Nothing => return Ok(None),
        Followed::Kept(item) => return Ok(Some(item.item_id)),
        Followed::Added(item) | Followed::Changed(item) => item,
        Followed::Deleted(item) => {
            cx.emit_about::<GradebookItem>(EDIT, &item);
            return Ok(None);
        }
    };
    cx.emit_about::<GradebookItem>(EDIT, &item);
    Ok(Some(item.item_id))
}

/// Sets the score of `user` in the item of `cause`, with a comment unless that is to stay. Returns whether there is such
/// an item. Whether the user is a student, and may be graded by the caller, is decided by the type of the cause.
///
/// # Errors
/// Returns an error if the score is out of range.
pub async fn set_score_of_cause(
    cx: &Context,
    cause: &str,
    user: &str,
    score: Option<Decimal>,
    comment: Option<String>,
) -> Result<bool> {
    check_points(score)?;
    let Some(item) = find(cx, cause).await? else {
        return Ok(false);
    };
    db::pin::<GradebookItem>(cx, &[&item.item_id]).await?;
    let mark = Mark {
        item: item.item_id,
        user: user.to_owned(),
        score: Some(score),
        excused: None,
        comment,
    };
    let grader = cx.caller().user_id().unwrap_or_default();
    marking::store(cx, &item.site_id, grader, vec![mark]).await?;
    Ok(true)
}

/// Sets the scores of several users in the item of `cause`, if there is one. Users who are no active members of the site
/// are left out.
///
/// # Errors
/// Returns an error if a score is out of range.
pub async fn set_scores_of_cause(
    cx: &Context,
    cause: &str,
    mut scores: BTreeMap<String, Decimal>,
) -> Result<()> {
    let Some(item) = find(cx, cause).await? else {
        return Ok(());
    };
    db::pin::<GradebookItem>(cx, &[&item.item_id]).await?;
    let users: Vec<&str> = scores.keys().map(String::as_str).collect();
    let members = active_members(cx, &item.site_id, &users).await?;
    let mut marks = Vec::with_capacity(members.len());
    for user in members {
        let score = scores.remove(&user);
        check_points(score)?;
        marks.push(Mark {
            item: item.item_id.clone(),
            user,
            score: Some(score),
            excused: None,
            comment: None,
        });
    }
    let grader = cx.caller().user_id().unwrap_or_default();
    marking::store(cx, &item.site_id, grader, marks).await?;
    Ok(())
}

/// Returns whether `user` is a student of `site`: somebody who has grades there.
pub async fn is_student(cx: &Context, site: &str, user: &str) -> Result<bool> {
    let students = marking::students(cx, site, Audience::All, &BTreeSet::from([user])).await?;
    Ok(students.contains(user))
}

async fn find(cx: &Context, cause: &str) -> Result<Option<GradebookItem>> {
    let of_cause = gradebook_item::Column::ExternalReference.eq(cause);
    let found = db::load(cx, gradebook_item::Entity::find().filter(of_cause));
    Ok(found.await?.pop())
}

impl ItemSpec {
    fn to_item(&self, cx: &Context, cause: &str) -> GradebookItem {
        self.onto(GradebookItem {
            item_id: cx.new_id(),
            site_id: self.site.clone(),
            counted: true,
            released: true,
            external_reference: Some(cause.to_owned()),
            created_on: Millis(cx.now()),
            modified_on: Millis(cx.now()),
            version: 1,
            ..GradebookItem::default()
        })
    }

    fn onto(&self, item: GradebookItem) -> GradebookItem {
        GradebookItem {
            name: self.name.clone(),
            points: self.points,
            due_date: self.due.map(Millis),
            withheld: self.is_withheld,
            ..item
        }
    }
}
