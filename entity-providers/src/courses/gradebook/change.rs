//! `/direct/gradebook-change`: the log of changes of scores, for those who grade the student.

use entity_core::wire::{Decimal, Millis};
use entity_core::{Access, Context, Entity, Need, standard};
use serde::Serialize;

use super::audience::{MEMBER, SEES_CHANGE};
use super::score::GradebookScore;

/// A change of a score.
#[standard(facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    prefix = "gradebook-change",
    plural = "Gradebook changes",
    table = "gradebook_change"
)]
#[entity(access = Access::new(Need::Site(MEMBER), Need::Superuser), sight = SEES_CHANGE)]
#[entity(verbs(read, list), order = "changedOn_desc,changeId")]
pub struct GradebookChange {
    /// The id.
    #[entity(id)]
    pub change_id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The item.
    #[entity(read_only, label = "Item")]
    pub item_id: String,
    /// The student.
    #[entity(read_only, person, references = "user", label = "Student")]
    pub user_id: String,
    /// The internal id of who changed it.
    #[entity(read_only, references = "user", label = "Changed by")]
    pub changed_by: String,
    /// When it was changed.
    #[entity(created)]
    pub changed_on: Millis,
    /// The points before; null for none.
    #[entity(kind = Number, uncompared, read_only)]
    pub score_before: Option<Decimal>,
    /// The points afterwards; null for none.
    #[entity(kind = Number, uncompared, read_only)]
    pub score: Option<Decimal>,
    /// True if the item did not count for the student afterwards.
    #[entity(read_only)]
    pub excused: bool,
    /// The comment afterwards.
    #[entity(read_only)]
    pub comment: String,
}

entity_core::register!(GradebookChange);

/// Returns the change that makes `after` of `before`, one of which is a score.
pub(super) fn of(
    cx: &Context,
    before: Option<&GradebookScore>,
    after: Option<&GradebookScore>,
) -> GradebookChange {
    let text = |read: fn(&GradebookScore) -> &String| {
        after.or(before).map(read).cloned().unwrap_or_default()
    };
    let grader = after.map(|it| it.graded_by.as_str());
    GradebookChange {
        change_id: cx.new_id(),
        site_id: text(|it| &it.site_id),
        item_id: text(|it| &it.item_id),
        user_id: text(|it| &it.user_id),
        changed_by: grader
            .or(cx.caller().user_id())
            .unwrap_or_default()
            .to_owned(),
        changed_on: Millis(cx.now()),
        score_before: before.and_then(|it| it.score),
        score: after.and_then(|it| it.score),
        excused: after.is_some_and(|it| it.excused),
        comment: after.map(|it| it.comment.clone()).unwrap_or_default(),
        ..GradebookChange::default()
    }
}
