//! Setting scores: the permission to grade, and many scores with a few statements.

use std::collections::{BTreeSet, HashMap, HashSet};

use entity_core::db;
use entity_core::wire::{Decimal, Millis};
use entity_core::{Context, Error, ErrorKind, Provider as _, Result, gate};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::audience::{Audience, student_roles, write_students};
use super::change;
use super::item::{GradebookItem, gradebook_item};
use super::score::{GradebookScore, check_points, gradebook_score};
use crate::people::authorizer;

/// The columns of a score that a change sets.
const SET: [&str; 5] = ["score", "excused", "comment", "graded_by", "graded_on"];

/// The marks that a grader gives one student in one item. A field that is `None` stays as it is.
#[expect(
    clippy::option_option,
    reason = "no points are another thing than nothing said"
)]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mark {
    pub(super) item: String,
    pub(super) user: String,
    pub(super) score: Option<Option<Decimal>>,
    pub(super) excused: Option<bool>,
    pub(super) comment: Option<String>,
}

/// Checks that the caller grades these pairs of an item and a student, and that the items are graded here.
///
/// # Errors
/// Returns an error if one of the items is none of the site or is graded elsewhere, or if one of the students is none
/// or is graded by others.
pub(super) async fn admit(cx: &Context, site: &str, pairs: &[(&str, &str)]) -> Result<()> {
    let audience = Audience::demand_grader(cx, site).await?;
    let items: BTreeSet<&str> = pairs.iter().map(|it| it.0).collect();
    hold_items(cx, site, &items).await?;
    let users: BTreeSet<&str> = pairs.iter().map(|it| it.1).collect();
    let students = students(cx, site, audience, &users).await?;
    match users.iter().find(|it| !students.contains(**it)) {
        None => Ok(()),
        // Who else is in the site is not told.
        Some(_) if audience == Audience::OwnGroups => Err(Error::forbidden()),
        Some(_) => Err(Error::field("userId", "must be a student of the site")),
    }
}

/// Checks that these items are items of the site that are graded here, and keeps them from being deleted.
///
/// # Errors
/// Returns an error if one of them is none of the site, or is graded elsewhere.
pub(super) async fn hold_items(cx: &Context, site: &str, items: &BTreeSet<&str>) -> Result<()> {
    let items: Vec<&str> = items.iter().copied().collect();
    db::pin::<GradebookItem>(cx, &items).await?;
    let found = db::among(cx, gradebook_item::Column::ItemId.into_expr(), &items)?;
    let found = gradebook_item::Entity::find().filter(found);
    let found = db::load::<GradebookItem>(cx, found);
    let found = found.await?.into_iter();
    let found: Vec<_> = found.filter(|it| it.site_id == site).collect();
    if found.len() != items.len() {
        return Err(Error::field("itemId", "must be an item of the site"));
    }
    match found.iter().any(GradebookItem::is_external) {
        true => Err(Error::conflict("this item is graded where it comes from")),
        false => Ok(()),
    }
}

/// Returns the site of an item that the caller sees.
///
/// # Errors
/// Returns an error that names the field if there is none.
pub(super) async fn site_of(cx: &Context, item: &str) -> Result<String> {
    let found = gate::read::<GradebookItem>(cx, item).await;
    match found.map_err(Error::hide) {
        Ok(item) => Ok(item.site_id),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err(Error::field("itemId", "must be an item of a site"))
        }
        Err(error) => Err(error),
    }
}

/// Returns those of `users` that are students of `site` whom the caller grades.
pub(super) async fn students(
    cx: &Context,
    site: &str,
    audience: Audience,
    users: &BTreeSet<&str>,
) -> Result<HashSet<String>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT this.user_id FROM membership this WHERE ");
    write_students(cx, &mut sql, site, audience).await?;
    let users: Vec<&str> = users.iter().copied().collect();
    sql.push(" AND this.user_id").bind_list(&users)?;
    let found = db.rows(sql.into_statement(), db::columns::<String>).await?;
    Ok(found.into_iter().collect())
}

/// Checks that `user` is a student of `site`.
///
/// # Errors
/// Returns an error that names the field if not.
pub(super) async fn demand_student(cx: &Context, site: &str, user: &str) -> Result<()> {
    let subject = authorizer::of(cx)?.subject(cx, user).await?;
    let roles = student_roles(cx, site).await?;
    let role = subject.role_in(site);
    match role.is_some_and(|role| roles.iter().any(|it| it == role)) {
        true => Ok(()),
        false => Err(Error::field("userId", "must be a student of the site")),
    }
}

/// Sets scores of a site as the caller says, and returns how many changed.
///
/// # Errors
/// Returns an error if a score is out of range or one is named twice, or if the caller does not grade all of them.
pub(super) async fn set(cx: &Context, site: &str, marks: Vec<Mark>) -> Result<usize> {
    let mut pairs = HashSet::new();
    for mark in &marks {
        check_points(mark.score.flatten())?;
        if !pairs.insert((mark.item.as_str(), mark.user.as_str())) {
            return Err(Error::field(
                "scores",
                "must not name an item and a student twice",
            ));
        }
    }
    let pairs: Vec<_> = pairs.into_iter().collect();
    if !pairs.is_empty() {
        admit(cx, site, &pairs).await?;
    }
    let grader = cx.user_id()?.to_owned();
    store(cx, site, &grader, marks).await
}

/// Stores scores of a site with their history and an event for each, and returns how many changed. The caller was
/// [admitted](admit), or is the service itself.
pub(super) async fn store(
    cx: &Context,
    site: &str,
    grader: &str,
    marks: Vec<Mark>,
) -> Result<usize> {
    let ids: Vec<String> = marks
        .iter()
        .map(|it| GradebookScore::id_of(&it.item, &it.user))
        .collect();
    let mut known = known(cx, &ids).await?;
    let (mut changed, mut history) = (Vec::new(), Vec::new());
    for (mark, id) in marks.into_iter().zip(ids) {
        let before = known.remove(&id);
        let after = mark.onto(cx, before.as_ref(), id, site, grader);
        if before.as_ref().is_some_and(|it| is_same(it, &after)) {
            continue;
        }
        let verb = if before.is_some() { "revise" } else { "new" };
        let kind = format!("{}.{verb}", GradebookScore::PREFIX);
        cx.emit_about::<GradebookScore>(kind, &after);
        history.push(change::of(cx, before.as_ref(), Some(&after)));
        changed.push(after);
    }
    db::put_many(cx, &changed, &SET).await?;
    db::insert_many(cx, &history).await?;
    Ok(changed.len())
}

/// Returns the scores with these ids that exist, by id. Others who change them wait until the transaction ends.
async fn known(cx: &Context, ids: &[String]) -> Result<HashMap<String, GradebookScore>> {
    let keys: Vec<&str> = ids.iter().map(String::as_str).collect();
    db::lock::<GradebookScore>(cx, &keys).await?;
    let found = db::among(cx, gradebook_score::Column::ScoreId.into_expr(), ids)?;
    let found = gradebook_score::Entity::find().filter(found);
    let found = db::load::<GradebookScore>(cx, found);
    let found = found.await?.into_iter();
    Ok(found.map(|it| (it.score_id.clone(), it)).collect())
}

fn is_same(one: &GradebookScore, other: &GradebookScore) -> bool {
    (one.score, one.excused, &one.comment) == (other.score, other.excused, &other.comment)
}

impl Mark {
    fn onto(
        self,
        cx: &Context,
        before: Option<&GradebookScore>,
        score_id: String,
        site: &str,
        grader: &str,
    ) -> GradebookScore {
        GradebookScore {
            score_id,
            site_id: site.to_owned(),
            item_id: self.item,
            user_id: self.user,
            score: self.score.unwrap_or_else(|| before.and_then(|it| it.score)),
            excused: self
                .excused
                .unwrap_or_else(|| before.is_some_and(|it| it.excused)),
            comment: self
                .comment
                .unwrap_or_else(|| before.map(|it| it.comment.clone()).unwrap_or_default()),
            graded_by: grader.to_owned(),
            graded_on: Millis(cx.now()),
            version: 1,
            ..GradebookScore::default()
        }
    }
}
