//! New assignments and new work, for code that stores them as they are.

use entity_core::DateTimeUtc;
use entity_core::db::Facts;
use entity_core::file::Files;
use entity_core::wire::Moment;

use super::submission::place;
use super::{Assignment, Submission};
use crate::fields::Properties;

impl Assignment {
    /// Returns a new assignment without a title and a site, made at `now`.
    pub fn blank(id: String, now: DateTimeUtc) -> Self {
        let now = Moment::from(now);
        Self {
            id,
            title: String::new(),
            site_id: String::new(),
            site_title: String::new(),
            instructions: String::new(),
            status: String::new(),
            draft: false,
            access: String::new(),
            position: 0,
            open_time: now.clone(),
            open_time_string: String::new(),
            due_time: now.clone(),
            due_time_string: String::new(),
            close_time: now.clone(),
            close_time_string: String::new(),
            drop_dead_time: now.clone(),
            drop_dead_time_string: String::new(),
            time_created: now.clone(),
            time_last_modified: now,
            creator: String::new(),
            author: String::new(),
            author_display_name: String::new(),
            author_last_modified: String::new(),
            section: String::new(),
            groups: Vec::new(),
            content: None,
            grade_scale: String::new(),
            grade_scale_max_points: None,
            max_grade_point: None,
            submission_type: "TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION".to_owned(),
            resubmissions: 0,
            allow_resubmission: false,
            anonymous_grading: false,
            allow_peer_assessment: false,
            estimate: None,
            estimate_required: false,
            gradebook_item_id: None,
            gradebook_item_name: None,
            in_gradebook: false,
            in_calendar: false,
            model_answer_text: None,
            show_model_answer: false,
            private_note_text: None,
            all_purpose_item_text: None,
            lti_gradable_launch: None,
            attachments: Files::default(),
            submissions: Vec::new(),
            next_submissions: None,
            place: 0,
            version: 1,
            facts: Facts::default(),
        }
    }
}

impl Submission {
    /// Returns new work of `submitter`, with nothing in it.
    pub fn blank(id: String, assignment: &Assignment, submitter: &str) -> Self {
        Self {
            id,
            assignment_id: assignment.id.clone(),
            site_id: assignment.site_id.clone(),
            assignment_title: String::new(),
            assignment_close_time: assignment.close_time.clone(),
            assignment_resubmissions: assignment.resubmissions,
            submitter: submitter.to_owned(),
            submitter_first_name: String::new(),
            submitter_last_name: String::new(),
            submitter_eid: String::new(),
            submitters: Vec::new(),
            submitted_text: None,
            submitted_attachments: Files::default(),
            draft: false,
            submitted: false,
            user_submission: false,
            date_submitted: None,
            date_submitted_epoch_seconds: 0,
            late: false,
            can_submit: false,
            grade: None,
            graded: false,
            returned: false,
            visible: false,
            feedback_text: None,
            feedback_comment: None,
            feedback_attachments: Files::default(),
            private_notes: None,
            status: String::new(),
            properties: Properties::default(),
            previewable_attachments: Properties::default(),
            group_id: None,
            lti_submission_launch: None,
            resubmissions: 0,
            place: place(&assignment.id, submitter),
            version: 1,
            facts: Facts::default(),
        }
    }
}
