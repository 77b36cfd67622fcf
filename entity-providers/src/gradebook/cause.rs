//! Items that belong to something else, such as an assignment: it says what the item is, and sets the scores.

use entity_core::db::{self, Facts};
use entity_core::wire::{Decimal, Millis};
use entity_core::{Context, DateTimeUtc, Error, Provider as _, Reference, Result};

use super::audience::EDIT;
use super::item::GradebookItem;
use super::marking::{self, Mark};
use super::score::check_points;

/// What an item is that belongs to something else.
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
    /// Whether students see it, and their scores.
    pub is_released: bool,
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
    let (id, site) = match (find(cx, cause).await?, spec) {
        (None, None) => return Ok(None),
        (Some(item), None) => {
            let (id, site) = (item.item_id.clone(), item.site_id.clone());
            item.remove(cx).await?;
            tell(cx, &id, &site);
            return Ok(None);
        }
        (None, Some(spec)) => {
            let item = db::add(cx, spec.to_item(cx, cause)).await?;
            (item.item_id, item.site_id)
        }
        (Some(current), Some(spec)) => {
            if current.site_id != spec.site {
                return Err(Error::conflict(
                    "a gradebook item never moves to another site",
                ));
            }
            let changed = spec.onto(current.clone());
            let (id, site) = (current.item_id.clone(), current.site_id.clone());
            if changed == current {
                return Ok(Some(id));
            }
            db::replace(cx, current, changed).await?;
            (id, site)
        }
    };
    tell(cx, &id, &site);
    Ok(Some(id))
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
    GradebookItem::hold(cx, &[&item.item_id]).await?;
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

async fn find(cx: &Context, cause: &str) -> Result<Option<GradebookItem>> {
    let found = db::load(cx, |sql| {
        Ok(sql.push("this.external_reference = ").bind(cause))
    });
    Ok(found.await?.into_iter().next())
}

fn tell(cx: &Context, item: &str, site: &str) {
    let reference = Reference::entity(GradebookItem::PREFIX, item);
    cx.emit(EDIT, reference.to_string(), Some(site));
}

impl ItemSpec {
    fn to_item(&self, cx: &Context, cause: &str) -> GradebookItem {
        self.onto(GradebookItem {
            item_id: cx.new_id(),
            site_id: self.site.clone(),
            name: String::new(),
            points: Decimal::ZERO,
            category_id: None,
            due_date: None,
            extra_credit: false,
            released: false,
            counted: true,
            position: 0,
            external_reference: Some(cause.to_owned()),
            created_on: Millis(cx.now()),
            modified_on: Millis(cx.now()),
            version: 1,
            facts: Facts::default(),
        })
    }

    fn onto(&self, item: GradebookItem) -> GradebookItem {
        GradebookItem {
            name: self.name.clone(),
            points: self.points,
            due_date: self.due.map(Millis),
            released: self.is_released,
            ..item
        }
    }
}
