//! The followers of an assignment elsewhere: its event in the calendar, and its item in the gradebook.

use entity_core::wire::{Decimal, Instant as _};
use entity_core::{Context, Delete, Error, Provider as _, Reference, Result, db};

use super::{Assignment, Submission};
use crate::calendar::{self, Deadline};
use crate::gradebook::{self, ItemSpec};

impl Assignment {
    /// Writes what follows the assignment, which is about to be written itself.
    ///
    /// # Errors
    /// Returns an error if there is to be an item without points, or another item with the title.
    pub(super) async fn settle(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        let has_opened = self.open_time.time <= cx.now().timestamp_millis();
        let item = self.to_item(has_opened)?;
        let cause = self.cause();
        calendar::follow_cause(cx, &cause, self.to_deadline()).await?;
        gradebook::follow_cause(cx, &cause, item).await?;
        Ok(())
    }

    fn cause(&self) -> String {
        Reference::entity(Self::PREFIX, self.id.as_str()).to_string()
    }

    fn to_deadline(&self) -> Option<Deadline> {
        let at = self.due_time.instant()?;
        (self.in_calendar && !self.draft).then(|| Deadline {
            site_id: self.site_id.clone(),
            title: self.title.clone(),
            description: String::new(),
            at,
            field: "dueTime",
            creator: self.creator.clone(),
            groups: self.groups.clone(),
            seen_from: self.open_time.instant(),
            seen_until: None,
            assignment_id: Some(self.id.clone()),
        })
    }

    /// Returns what the item in the gradebook is. Students see it from the first write on that finds the assignment
    /// open, and no sooner: its name would tell them of the assignment.
    fn to_item(&self, has_opened: bool) -> Result<Option<ItemSpec>> {
        if !self.in_gradebook {
            return Ok(None);
        }
        let is_scored = self.grade_scale == "SCORE_GRADE_TYPE";
        let points = self.grade_scale_max_points.as_deref();
        let points = points.filter(|_| is_scored);
        let points = points.and_then(|it| Decimal::parse(it).ok());
        let points = points.ok_or_else(|| {
            Error::field(
                "inGradebook",
                "must be false unless work is graded by points",
            )
        })?;
        Ok(Some(ItemSpec {
            site: self.site_id.clone(),
            name: self.title.clone(),
            points,
            due: self.due_time.instant(),
            is_released: has_opened && !self.draft,
            fields: ["title", "gradeScaleMaxPoints"],
        }))
    }

    /// Tells the gradebook the grade of work that is returned.
    ///
    /// # Errors
    /// Returns an error if the grade is no score.
    pub(super) async fn tell_score(&self, cx: &Context, work: &Submission) -> Result<()> {
        let Some(item) = self.to_item(true)? else {
            return Ok(());
        };
        let grade = work.grade.as_deref().map(|it| self.scale().score(it));
        let cause = self.cause();
        gradebook::follow_cause(cx, &cause, Some(item)).await?;
        let (user, score) = (&work.submitter, grade.transpose()?);
        gradebook::set_score_of_cause(cx, &cause, user, score, None).await?;
        Ok(())
    }
}

impl Delete for Assignment {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        let cause = current.cause();
        calendar::follow_cause(cx, &cause, None).await?;
        gradebook::follow_cause(cx, &cause, None).await?;
        db::delete(cx, current).await
    }
}
