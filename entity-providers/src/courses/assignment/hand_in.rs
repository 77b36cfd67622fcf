//! The rules of handing in: permission, dates, kind of work, and number of times.

use chrono::SubsecRound as _;
use entity_core::{Context, Error, Need, Result, gate};

use super::{Assignment, SUBMIT, Submission};

/// The type of assignments that ask for one file.
pub(super) const ONE_FILE: &str = "SINGLE_ATTACHMENT_SUBMISSION";

impl Submission {
    /// Decides about a change by whoever hands it in.
    ///
    /// # Errors
    /// Returns an error if they may not hand in, now or this, or if they change what graders write.
    pub(super) async fn hand_in(
        &mut self,
        cx: &Context,
        assignment: &Assignment,
        before: Option<&Self>,
    ) -> Result<()> {
        gate::demand_in_site(cx, Need::Site(SUBMIT), Some(&self.site_id)).await?;
        if !self.has_result_of(before) {
            return Err(Error::forbidden());
        }
        if let Some(refusal) = assignment.refusal(cx.now()) {
            return Err(Error::conflict(refusal));
        }
        self.assignment_resubmissions = assignment.resubmissions;
        let was_submitted = before.is_some_and(|it| it.submitted);
        if was_submitted && self.resubmissions_left() == 0 {
            return Err(Error::conflict("this can't be handed in again"));
        }
        if was_submitted && self.draft {
            return Err(Error::field(
                "draft",
                "must be false: it was handed in, and can only be handed in again",
            ));
        }
        self.check_work(assignment)?;
        if self.draft {
            return Ok(());
        }
        if was_submitted {
            self.resubmissions = self.resubmissions.saturating_add(1);
            // The new work has no grade yet that is to be shown.
            self.returned = false;
            self.is_renewed = true;
        }
        self.submitted = true;
        self.date_submitted = Some(cx.now().trunc_subsecs(0));
        self.late = cx.now().timestamp_millis() > assignment.due_time.time;
        assignment.note_done(cx, self).await?;
        self.tell_change(cx, assignment, before).await
    }

    /// Returns whether everything that graders write is as it was `before`.
    fn has_result_of(&self, before: Option<&Self>) -> bool {
        let Some(before) = before else {
            let texts = [
                &self.grade,
                &self.feedback_text,
                &self.feedback_comment,
                &self.private_notes,
            ];
            let is_blank = |it: &&Option<String>| it.as_ref().is_none_or(String::is_empty);
            return texts.iter().all(is_blank)
                && self.feedback_attachments.is_empty()
                && !self.returned;
        };
        self.grade == before.grade
            && self.feedback_text == before.feedback_text
            && self.feedback_comment == before.feedback_comment
            && self.private_notes == before.private_notes
            && self.feedback_attachments == before.feedback_attachments
            && self.returned == before.returned
    }

    /// Checks that the work is of the kind that the assignment asks for.
    fn check_work(&self, assignment: &Assignment) -> Result<()> {
        let has_text = self
            .submitted_text
            .as_ref()
            .is_some_and(|it| !it.is_empty());
        let files = self.submitted_attachments.len();
        let (takes_text, most_files) = match assignment.submission_type.as_str() {
            "NON_ELECTRONIC_ASSIGNMENT_SUBMISSION" => {
                return Err(Error::conflict("nothing is handed in here"));
            }
            "TEXT_ONLY_ASSIGNMENT_SUBMISSION" => (true, 0),
            "ATTACHMENT_ONLY_ASSIGNMENT_SUBMISSION" => (false, usize::MAX),
            ONE_FILE => (false, 1),
            _ => (true, usize::MAX),
        };
        if has_text && !takes_text {
            return Err(Error::field(
                "submittedText",
                "must be empty: hand in files",
            ));
        }
        if files > most_files {
            let message = format!("must not have more than {most_files} items");
            return Err(Error::field("submittedAttachments", message));
        }
        if !self.draft && !has_text && files == 0 {
            let field = if takes_text {
                "submittedText"
            } else {
                "submittedAttachments"
            };
            return Err(Error::field(field, "must not be empty"));
        }
        Ok(())
    }
}
