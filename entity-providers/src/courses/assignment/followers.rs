//! The followers of an assignment elsewhere: its event in the calendar, and its item in the gradebook.

use entity_core::db;
use entity_core::wire::{Decimal, Instant as _};
use entity_core::{Context, Delete, Error, Provider as _, Reference, Result};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};

use super::scale::score as score_of;
use super::submission::submission;
use super::{Assignment, Submission};
use crate::base::search::is_there;
use crate::courses::calendar::{self, Deadline};
use crate::courses::gradebook::{self, ItemSpec};
use crate::courses::task::{self, Duty};

impl Assignment {
    /// Returns whether the caller has handed in work.
    pub(super) async fn is_handed_in(&self, cx: &Context) -> Result<bool> {
        let of = Submission::FIELD;
        let own = of.submitter.eq(cx.user_id()?);
        let filters = [of.assignment_id.eq(&*self.id), own, of.submitted.eq(true)];
        is_there::<Submission>(cx, filters).await
    }

    /// Writes what follows the assignment, which is about to be written itself.
    ///
    /// # Errors
    /// Returns an error if there is to be an item without points, or another item with the title.
    pub(super) async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let item = self.to_item()?;
        let cause = self.cause();
        calendar::follow_cause(cx, &cause, self.to_deadline()).await?;
        gradebook::follow_cause(cx, &cause, item).await?;
        if let Some(duty) = self.to_duty() {
            task::follow_cause(cx, &cause, &duty).await?;
        }
        match before {
            Some(before) if self.in_gradebook && !before.in_gradebook => self.tell_scores(cx).await,
            _ => Ok(()),
        }
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
            assignment_id: Some(self.id.clone()),
        })
    }

    /// Returns what the tasks of students are; nothing for a draft: tasks that are there are hidden, and keep what their
    /// users have written.
    fn to_duty(&self) -> Option<Duty> {
        let starts = self.open_time.instant()?;
        (!self.draft).then(|| Duty {
            site_id: self.site_id.clone(),
            title: self.title.clone(),
            starts,
            due: self.due_time.instant(),
        })
    }

    /// Notes that `work` is handed in: the task of whoever did it is done.
    pub(super) async fn note_done(&self, cx: &Context, work: &Submission) -> Result<()> {
        task::complete_cause(cx, &self.cause(), &work.submitter).await
    }

    /// Returns what the item in the gradebook is.
    fn to_item(&self) -> Result<Option<ItemSpec>> {
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
            is_withheld: false,
            fields: ["title", "gradeScaleMaxPoints"],
        }))
    }

    /// Tells the gradebook the grade that the work shows to whoever handed it in, or that it shows none any more.
    pub(super) async fn tell_score(&self, cx: &Context, work: &Submission) -> Result<()> {
        if self.in_gradebook {
            let score = work.shown_grade().map(score_of);
            let (cause, user, score) = (self.cause(), &work.submitter, score.transpose()?);
            gradebook::set_score_of_cause(cx, &cause, user, score, None).await?;
        }
        Ok(())
    }

    /// Tells the gradebook, where the item is new, all grades that are shown and are scores.
    pub(super) async fn tell_scores(&self, cx: &Context) -> Result<()> {
        use submission::Column::{AssignmentId, Grade, Returned, Submitter};
        // Texts and feedback of a large class are not read for this.
        let returned = submission::Entity::find()
            .select_only()
            .columns([Submitter, Grade])
            .filter(AssignmentId.eq(self.id.as_str()))
            .filter(Returned.eq(true))
            .filter(Grade.is_not_null());
        let returned: Vec<(String, String)> = cx.db()?.select(&returned).await?;
        let told = returned
            .into_iter()
            .filter_map(|(submitter, grade)| Some((submitter, score_of(&grade).ok()?)));
        gradebook::set_scores_of_cause(cx, &self.cause(), told.collect()).await
    }
}

impl Delete for Assignment {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        let cause = current.cause();
        calendar::follow_cause(cx, &cause, None).await?;
        gradebook::follow_cause(cx, &cause, None).await?;
        task::forget_cause(cx, &cause).await?;
        db::delete(cx, current).await
    }
}
