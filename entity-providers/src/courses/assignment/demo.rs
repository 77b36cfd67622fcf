//! The assignments of the demo university, and what its students have handed in.

use chrono::TimeDelta;
use entity_core::db;
use entity_core::wire::Moment;
use entity_core::{Context, DateTimeUtc, Demo, Result};

use super::{Assignment, Submission};
use crate::base::university::{BIOLOGY, HISTORY, LAB_A};
use crate::courses::content::demo::attach;

/// One assignment. Hours count from now.
struct Task {
    site: &'static str,
    author: &'static str,
    title: &'static str,
    instructions: &'static str,
    opens: i64,
    due: i64,
    closes: i64,
    points: Option<&'static str>,
    kind: Kind,
    work: &'static [Work],
}

/// The feature of it.
enum Kind {
    Plain,
    Draft,
    /// It is for the group with this title.
    For(&'static str),
    WithFiles(&'static [&'static str]),
}

/// The work that a student has handed in, so many hours ago.
struct Work {
    student: &'static str,
    text: &'static str,
    hours: i64,
    state: State,
}

enum State {
    Draft,
    Submitted,
    Graded(&'static str),
    Returned(&'static str),
}

const FILES: &[&str] = &["onion-cells.pdf"];

const TASKS: &[Task] = &[
    Task {
        site: BIOLOGY,
        author: "instructor1",
        title: "Lab report: onion cells",
        instructions: "<p>Draw what you have seen at a magnification of 400, and <strong>name the parts</strong>.</p>",
        opens: -10 * 24,
        due: 4 * 24,
        closes: 5 * 24,
        points: Some("100"),
        kind: Kind::WithFiles(FILES),
        work: &[
            Work {
                student: "student1",
                text: "<p>The cell wall, the nucleus and the vacuole are plain to see.</p>",
                hours: 30,
                state: State::Graded("91"),
            },
            Work {
                student: "student2",
                text: "<p>My cells had no visible nucleus before I stained them.</p>",
                hours: 20,
                state: State::Submitted,
            },
            Work {
                student: "student3",
                text: "<p>Not finished: add the drawing.</p>",
                hours: 3,
                state: State::Draft,
            },
        ],
    },
    Task {
        site: BIOLOGY,
        author: "instructor1",
        title: "Essay: what is alive?",
        instructions: "<p>One page. Is a virus alive? Take a side.</p>",
        opens: -30 * 24,
        due: -8 * 24,
        closes: -7 * 24,
        points: Some("50"),
        kind: Kind::Plain,
        work: &[
            Work {
                student: "student1",
                text: "<p>A virus borrows its life.</p>",
                hours: 9 * 24,
                state: State::Returned("44"),
            },
            Work {
                student: "student2",
                text: "<p>Alive is what evolves, so a virus is.</p>",
                hours: 8 * 24 - 3,
                state: State::Returned("47.5"),
            },
            Work {
                student: "student4",
                text: "<p>It depends on the definition.</p>",
                hours: 9 * 24,
                state: State::Submitted,
            },
        ],
    },
    Task {
        site: BIOLOGY,
        author: "instructor1",
        title: "Term paper: evolution of eyes",
        instructions: "<p>Not finished: choose the literature.</p>",
        opens: 24,
        due: 30 * 24,
        closes: 31 * 24,
        points: Some("200"),
        kind: Kind::Draft,
        work: &[],
    },
    Task {
        site: BIOLOGY,
        author: "instructor1",
        title: "Worksheet: the microscope",
        instructions: "<p>Only for the first lab. Label the parts.</p>",
        opens: -48,
        due: 48,
        closes: 72,
        points: None,
        kind: Kind::For(LAB_A),
        work: &[],
    },
    Task {
        site: HISTORY,
        author: "instructor2",
        title: "Source criticism: a letter from Lübeck",
        instructions: "<p>Who wrote it, to whom, and why?</p>",
        opens: -72,
        due: 6 * 24,
        closes: 7 * 24,
        points: Some("20"),
        kind: Kind::Plain,
        work: &[],
    },
];

/// Adds the assignments with what was handed in, and returns the number of assignments.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    for (task, place) in TASKS.iter().zip(1..) {
        let author = demo.person(task.author)?;
        let mut assignment = task.assignment(cx, author, place);
        if let Kind::WithFiles(names) = task.kind {
            assignment.attachments = attach(cx, task.site, author, names).await?;
        }
        if let Kind::For(title) = task.kind {
            assignment.groups.push(demo.group(title)?.to_owned());
        }
        db::insert(cx, &assignment).await?;
        assignment.settle(cx, None).await?;
        for work in task.work {
            let submission = work.submission(cx, &assignment, demo.person(work.student)?);
            db::insert(cx, &submission).await?;
            if submission.submitted {
                assignment.note_done(cx, &submission).await?;
            }
        }
        assignment.tell_scores(cx).await?;
    }
    Ok(TASKS.len())
}

impl Task {
    fn assignment(&self, cx: &Context, author: &str, place: i64) -> Assignment {
        let scale = match self.points {
            Some(_) => "SCORE_GRADE_TYPE",
            None => "UNGRADED_GRADE_TYPE",
        };
        let draft = matches!(self.kind, Kind::Draft);
        let made = Moment::from(after(cx, self.opens.min(-1)));
        Assignment {
            id: cx.new_id(),
            title: self.title.to_owned(),
            site_id: self.site.to_owned(),
            instructions: self.instructions.to_owned(),
            draft,
            open_time: after(cx, self.opens).into(),
            due_time: after(cx, self.due).into(),
            close_time: after(cx, self.closes).into(),
            time_created: made.clone(),
            time_last_modified: made,
            creator: author.to_owned(),
            author_last_modified: author.to_owned(),
            grade_scale: scale.to_owned(),
            grade_scale_max_points: self.points.map(ToOwned::to_owned),
            in_gradebook: self.points.is_some() && !draft,
            in_calendar: true,
            submission_type: "TEXT_AND_ATTACHMENT_ASSIGNMENT_SUBMISSION".to_owned(),
            resubmissions: 1,
            place,
            version: 1,
            ..Assignment::default()
        }
    }
}

impl Work {
    fn submission(&self, cx: &Context, assignment: &Assignment, student: &str) -> Submission {
        let at = after(cx, -self.hours);
        let is_submitted = !matches!(self.state, State::Draft);
        let (grade, is_returned) = match self.state {
            State::Graded(grade) => (Some(grade), false),
            State::Returned(grade) => (Some(grade), true),
            State::Draft | State::Submitted => (None, false),
        };
        let comment = grade.map(|_| "<p>Well observed.</p>".to_owned());
        Submission {
            submitted_text: Some(self.text.to_owned()),
            draft: !is_submitted,
            submitted: is_submitted,
            date_submitted: is_submitted.then_some(at),
            late: is_submitted && at.timestamp_millis() > assignment.due_time.time,
            grade: grade.map(ToOwned::to_owned),
            feedback_comment: comment,
            returned: is_returned,
            ..Submission::blank(cx.new_id(), assignment, student)
        }
    }
}

fn after(cx: &Context, hours: i64) -> DateTimeUtc {
    let instant = cx.now().checked_add_signed(TimeDelta::hours(hours));
    instant.unwrap_or_else(|| cx.now())
}
