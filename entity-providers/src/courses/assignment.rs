//! `/direct/assignment`: work for the members of a site, and their submissions.

mod actions;
mod feed;
mod followers;
mod hand_in;
mod link;
mod mark;
mod marking;
mod one_work;
mod overview;
mod scale;
mod sheet;
mod submission;
#[cfg(test)]
mod tests;
pub(crate) mod view;

use entity_core::blob::{Receive, Room, Target};
use entity_core::db::{self, RowPolicy};
use entity_core::file::Files;
use entity_core::wire::Moment;
use entity_core::{
    Access, Audience, Context, DateTimeUtc, Decision, Entity, Error, Need, Notice, Operation,
    Result, Search, encode_segment, gate, standard,
};
use serde::Serialize;

use self::scale::Scale;
use crate::base::fields::seen;
use crate::courses::content;

pub use self::submission::Submission;
pub(crate) use self::view::due_outside_of_calendars;

/// The function of those who see assignments.
const READ: &str = "asn.read";
/// The function of those who see and grade what others hand in.
const GRADE: &str = "asn.grade";
/// The function of those who hand in.
const SUBMIT: &str = "asn.submit";

const ACCESS: Access = Access {
    read: Need::Site(READ),
    create: Need::Site("asn.new"),
    update: Need::Site("asn.revise"),
    delete: Need::Site("asn.delete"),
};

/// A draft is for its author and for those who revise. What is not open yet is for those who revise or grade. What is
/// for groups is for their members and for those who see all groups.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Any(&[
        RowPolicy::Not(&RowPolicy::Is("draft")),
        RowPolicy::Own,
        RowPolicy::Holds("asn.revise"),
    ]),
    RowPolicy::Any(&[
        RowPolicy::Since("openTime"),
        RowPolicy::Holds("asn.revise"),
        RowPolicy::Holds(GRADE),
    ]),
    RowPolicy::Any(&[RowPolicy::Addressed, RowPolicy::Holds("asn.all.groups")]),
]);

/// The people who make or grade assignments.
const STAFF: RowPolicy = RowPolicy::Any(&[RowPolicy::Holds("asn.revise"), RowPolicy::Holds(GRADE)]);

/// The model answer is also for everybody once the assignment is closed, if it says so.
const MODEL_ANSWER: RowPolicy = RowPolicy::Any(&[
    STAFF,
    RowPolicy::All(&[
        RowPolicy::Is("showModelAnswer"),
        RowPolicy::Not(&RowPolicy::Until("closeTime")),
    ]),
]);

const STATUS: &str = "CASE WHEN this.is_draft THEN 'DRAFT' WHEN {now} < this.open_time THEN 'NOT_OPEN' \
    WHEN {now} < this.due_time THEN 'OPEN' WHEN {now} < this.close_time THEN 'DUE' ELSE 'CLOSED' END";

/// Work that the members of a site hand in.
#[standard(
    version,
    facts,
    alias(
        author = creator,
        drop_dead_time = close_time,
        max_grade_point = grade_scale_max_points,
        position = place,
    ),
    iso(
        open_time_string = open_time,
        due_time_string = due_time,
        close_time_string = close_time,
        drop_dead_time_string = close_time,
    ),
    constant(
        /// Always empty: sections are groups here.
        section = "",
        content = null,
        /// Always false: graders see names.
        anonymous_grading = false,
        /// Always false: students don't grade each other.
        allow_peer_assessment = false,
        /// Always null: no estimate of the time is asked for.
        estimate = null,
        estimate_required = false,
        all_purpose_item_text = null,
        lti_gradable_launch = null,
    ),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.assignment.grades", layout = work)]
#[entity(prefix = "assignment", table = "assignment", access = ACCESS, sight = SIGHT)]
#[entity(check = Self::check, settle = Self::settle, complete = Self::complete, version = seen)]
#[entity(join = "site s ON s.id = this.site_id")]
#[entity(whole = Self::add_submissions, feed = Self::to_feed, done = Self::is_handed_in)]
#[entity(verbs(read, list, create, update), order = "dueTime,id")]
#[entity(listed("status", "openTime", "dueTime", "siteTitle", "gradeScaleMaxPoints"))]
pub struct Assignment {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The headline.
    #[entity(title, search)]
    pub title: String,
    /// The site.
    #[serde(rename = "context")]
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title of the site.
    #[entity(sql = "s.title", category)]
    pub site_title: String,
    /// The text of the task.
    #[entity(content, optional, search, html)]
    pub instructions: String,
    /// `DRAFT`, `NOT_OPEN`, `OPEN`, `DUE` while late work is accepted, or `CLOSED`.
    #[entity(sql = STATUS, column)]
    #[entity(words("DRAFT" = "Draft", "NOT_OPEN" = "Not open yet", "OPEN" = "Open", "DUE" = "Late work is accepted", "CLOSED" = "Closed"))]
    pub status: String,
    /// True if it is not finished; then only its author and those who revise assignments see it.
    #[entity(column = "is_draft", badge = warn)]
    pub draft: bool,
    /// `SITE` for everybody, `GROUP` for some groups.
    #[entity(computed, for_programs)]
    pub access: String,
    /// When students begin to see it.
    #[entity(label = "Opens")]
    pub open_time: Moment,
    /// When it is due.
    #[entity(label = "Due", due)]
    pub due_time: Moment,
    /// When work is no longer accepted. What is handed in after it was due is late.
    #[entity(label = "Closes")]
    pub close_time: Moment,
    /// When it was created.
    #[entity(created, label = "Created")]
    pub time_created: Moment,
    /// When it last changed.
    #[entity(updated, label = "Last changed")]
    pub time_last_modified: Moment,
    /// The internal id of the author.
    #[entity(owner, references = "user", label = "Author")]
    pub creator: String,
    /// The name of the author.
    #[entity(name_of = creator, author)]
    pub author_display_name: String,
    /// The internal id of the user who changed it last.
    #[entity(read_only, references = "user", label = "Last changed by")]
    pub author_last_modified: String,
    /// The ids of the groups that it is for; none means everybody in the site.
    #[entity(groups = "assignment_group", label = "For the groups")]
    #[entity(hint = "Those who see it. Without any, everybody in the site sees it.")]
    pub groups: Vec<String>,
    /// The kind of its grade.
    #[entity(
        optional,
        max = 40,
        default = "UNGRADED_GRADE_TYPE",
        choices(
            "UNGRADED_GRADE_TYPE" = "Not graded",
            "LETTER_GRADE_TYPE" = "Letters",
            "SCORE_GRADE_TYPE" = "Points",
            "PASS_FAIL_GRADE_TYPE" = "Pass or fail",
            "CHECK_GRADE_TYPE" = "Done or not"
        )
    )]
    #[entity(label = "Grading")]
    pub grade_scale: String,
    /// The points that it is worth, as text: a number above 0. Assignments with points need it.
    #[entity(max = 20, label = "Points", fact = "{} points")]
    #[entity(hint = "A number above 0, where it is graded with points.")]
    pub grade_scale_max_points: Option<String>,
    /// The kind of work that is handed in.
    #[entity(
        optional,
        max = 60,
        default = "TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION",
        choices(
            "TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION" = "Text and files",
            "TEXT_ONLY_ASSIGNMENT_SUBMISSION" = "Text only",
            "ATTACHMENT_ONLY_ASSIGNMENT_SUBMISSION" = "Files only",
            "SINGLE_ATTACHMENT_SUBMISSION" = "One file",
            "NON_ELECTRONIC_ASSIGNMENT_SUBMISSION" = "On paper or in class"
        )
    )]
    #[entity(label = "Handed in as", fact)]
    pub submission_type: String,
    /// The number of times work may be handed in again: 0 for never, -1 for as often as one likes.
    #[entity(
        optional,
        default = "0",
        label = "May be handed in again",
        words("0" = "No", "1" = "Once", "2" = "Twice", "3" = "Three times", "-1" = "As often as one likes")
    )]
    #[entity(hint = "0 for never, -1 for as often as one likes.")]
    pub resubmissions: i64,
    /// True if work may be handed in again.
    #[entity(computed = |it, _| it.resubmissions != 0, for_programs)]
    pub allow_resubmission: bool,
    /// Always null: items of the gradebook have no numbers.
    #[entity(computed, for_programs)]
    pub gradebook_item_id: Option<i64>,
    /// Always null, unless grades go to the gradebook: then the title.
    #[entity(computed = |it, _| it.in_gradebook.then(|| it.title.clone()), for_programs)]
    pub gradebook_item_name: Option<String>,
    /// True if returned grades go to the gradebook, to an item with this title.
    #[entity(label = "Grades go to the gradebook")]
    pub in_gradebook: bool,
    /// True if the calendar shows when it is due, to those who see the assignment.
    #[entity(label = "Shown in the calendar")]
    pub in_calendar: bool,
    /// A model answer, for those who make or grade assignments and perhaps for all, later.
    #[entity(html, sight = MODEL_ANSWER, label = "Model answer")]
    pub model_answer_text: Option<String>,
    /// True if everybody sees the model answer once the assignment is closed.
    #[entity(label = "Model answer for all after closing")]
    pub show_model_answer: bool,
    /// A note for those who make or grade assignments.
    #[entity(html, sight = STAFF, label = "Private note")]
    pub private_note_text: Option<String>,
    /// Its files, each with `name`, `url` and perhaps `type` and `size`.
    #[entity(files, label = "Files")]
    pub attachments: Files,
    /// The work: in lists the caller's own; for those who grade, all of it where one assignment is read.
    #[entity(computed)]
    pub submissions: Vec<Submission>,
    /// The address of what was handed in, if it is too much for one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(computed, for_programs)]
    pub next_submissions: Option<String>,
    /// The place among the assignments of the site.
    #[serde(skip)]
    #[entity(position)]
    pub place: i64,
}

entity_core::register!(
    Assignment,
    demo = include_str!("../../demo/assignment.json")
);
entity_core::register_cause!(Assignment);

entity_core::register_notice!(Notice {
    event: "asn.new",
    kind: "asn.new.assignment",
    tool: "sakai.assignment.grades",
    audience: Audience::Site,
    text: "",
});

/// Checks that `later` is not before `sooner`: two fields with their names.
fn in_order(sooner: (&str, &Moment), later: (&str, &Moment)) -> Result<()> {
    if sooner.1.time <= later.1.time {
        return Ok(());
    }
    Err(Error::disordered(sooner.0, later.0))
}

impl Assignment {
    fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        in_order(("openTime", &self.open_time), ("dueTime", &self.due_time))?;
        in_order(("dueTime", &self.due_time), ("closeTime", &self.close_time))?;
        if !(-1..=1000).contains(&self.resubmissions) {
            return Err(Error::field(
                "resubmissions",
                "must be from -1, for any number, to 1000",
            ));
        }
        if self.grade_scale.is_empty() {
            "UNGRADED_GRADE_TYPE".clone_into(&mut self.grade_scale);
        }
        if self.submission_type.is_empty() {
            "TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION".clone_into(&mut self.submission_type);
        }
        self.grade_scale_max_points =
            scale::points(&self.grade_scale, self.grade_scale_max_points.as_deref())?;
        cx.user_id()?.clone_into(&mut self.author_last_modified);
        Ok(())
    }

    /// Returns how it is graded.
    fn scale(&self) -> Scale<'_> {
        Scale {
            kind: &self.grade_scale,
        }
    }

    /// Adds to each assignment whom it is for, and what the caller handed in.
    async fn complete(cx: &Context, assignments: &mut [Self]) -> Result<()> {
        for it in assignments.iter_mut() {
            let access = if it.groups.is_empty() {
                "SITE"
            } else {
                "GROUP"
            };
            access.clone_into(&mut it.access);
        }
        let Some(caller) = cx.caller().user_id() else {
            return Ok(());
        };
        let ids = assignments.iter().map(|it| &it.id);
        let mut search = Search::all();
        search.narrow(Submission::FIELD.submitter.eq(caller));
        search.narrow(Submission::FIELD.assignment_id.is_in(ids));
        let page = gate::list::<Submission>(cx, search).await?;
        for submission in page.items {
            let of = |it: &&mut Self| it.id == submission.assignment_id;
            if let Some(assignment) = assignments.iter_mut().find(of) {
                assignment.submissions.push(submission);
            }
        }
        if page.has_more {
            let lacking = assignments
                .iter_mut()
                .filter(|it| it.submissions.is_empty());
            lacking.for_each(|it| it.next_submissions = Some(it.address_of_submissions(cx, 0)));
        }
        Ok(())
    }

    /// Adds everything that was handed in, if the caller grades.
    async fn add_submissions(&mut self, cx: &Context) -> Result<()> {
        let decision = cx.authorizer().decide(cx, GRADE, &self.site_id).await?;
        if decision != Decision::Granted {
            return Ok(());
        }
        let mut search = Search::all();
        search.narrow(Submission::FIELD.assignment_id.eq(&self.id));
        let window = search.window();
        let page = gate::list::<Submission>(cx, search).await?;
        let next = page.next_start(window);
        self.next_submissions = next.map(|start| self.address_of_submissions(cx, start));
        self.submissions = page.items;
        Ok(())
    }

    fn address_of_submissions(&self, cx: &Context, start: u64) -> String {
        let (base, id) = (cx.base_url(), encode_segment(&self.id));
        format!("{base}/direct/assignment-submission?gradableId={id}&_start={start}")
    }

    /// Returns the assignment with this id, if the caller may read it, without what others handed in.
    async fn find(cx: &Context, id: &str) -> Result<Self> {
        let found: Option<Self> = db::read(cx, id).await?;
        let found = found.ok_or_else(Error::not_found)?;
        gate::require::<Self>(cx, &found, Operation::Read).await?;
        Ok(found)
    }

    /// Returns the reason why pages don't offer to hand something in, if there is one.
    fn closedness(&self) -> Option<&'static str> {
        let is_used_up = |it: &Submission| it.submitted && !it.can_submit;
        match &*self.status {
            _ if self.submission_type == "NON_ELECTRONIC_ASSIGNMENT_SUBMISSION" => {
                Some("This is handed in on paper or in class.")
            }
            "DRAFT" | "NOT_OPEN" => Some("This assignment is not open yet."),
            "CLOSED" => Some("This assignment is closed: nothing is handed in any more."),
            _ if self.submissions.iter().any(is_used_up) => {
                Some("You have handed in as often as this assignment allows.")
            }
            _ => None,
        }
    }

    /// Returns the reason why nobody hands anything in at `now`, if there is one.
    fn refusal(&self, now: DateTimeUtc) -> Option<&'static str> {
        let now = now.timestamp_millis();
        if self.draft || now < self.open_time.time {
            Some("the assignment is not open yet")
        } else if now >= self.close_time.time {
            Some("the assignment is closed")
        } else {
            None
        }
    }
}

/// Files come with the form by which work is handed in.
impl Receive for Assignment {
    const IN_FORMS: bool = false;
    const MOST_FILES: usize = 10;

    async fn room(cx: &Context, target: Target<'_>) -> Result<Room> {
        let assignment = Self::find(cx, target.id).await?;
        content::room(cx, &assignment.site_id).await
    }
}
