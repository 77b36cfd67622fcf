//! The rules of grading: graders write grades and feedback, and never the work.

use entity_core::{Context, Error, Need, PERSON, Provider as _, Reference, Result, gate};
use serde_json::Map;

use super::submission::RETURNED;
use super::{Assignment, GRADE, Submission};

impl Submission {
    /// Decides about a change by a grader.
    ///
    /// # Errors
    /// Returns an error if the caller may not grade, if there is no such grade, or if the work would change.
    pub(super) async fn mark(
        &mut self,
        cx: &Context,
        assignment: &Assignment,
        before: Option<&Self>,
    ) -> Result<()> {
        gate::demand_in_site(cx, Need::Site(GRADE), Some(&self.site_id)).await?;
        if !self.has_work_of(before) {
            return Err(Error::forbidden());
        }
        self.grade = assignment.scale().receive(self.grade.as_deref())?;
        let is_graded = before.is_none_or(|it| it.grade != self.grade || self.returned);
        self.is_renewed &= !is_graded;
        let is_told = before.is_some_and(|it| it.returned && it.grade == self.grade);
        if self.returned && !is_told {
            self.emit_return(cx);
        }
        self.tell_change(cx, assignment, before).await
    }

    /// Lets the gradebook show what the work shows, if that is no longer what it was `before`.
    pub(super) async fn tell_change(
        &self,
        cx: &Context,
        assignment: &Assignment,
        before: Option<&Self>,
    ) -> Result<()> {
        match before.and_then(Self::shown_grade) == self.shown_grade() {
            true => Ok(()),
            false => assignment.tell_score(cx, self).await,
        }
    }

    /// Returns the grade that whoever hands in sees.
    pub(super) fn shown_grade(&self) -> Option<&str> {
        self.grade.as_deref().filter(|_| self.returned)
    }

    /// Tells followers that the grade is returned, and to whom.
    fn emit_return(&self, cx: &Context) {
        let reference = Reference::entity(Self::PREFIX, self.id.as_str()).to_string();
        let details = Map::from_iter([(PERSON.to_owned(), self.submitter.as_str().into())]);
        cx.emit_with(RETURNED, reference, Some(&self.site_id), details);
    }

    /// Returns whether the work is as it was `before`.
    fn has_work_of(&self, before: Option<&Self>) -> bool {
        match before {
            None => {
                self.submitted_text.is_none()
                    && self.submitted_attachments.is_empty()
                    && !self.draft
            }
            Some(before) => {
                self.submitted_text == before.submitted_text
                    && self.submitted_attachments == before.submitted_attachments
                    && self.draft == before.draft
            }
        }
    }
}
