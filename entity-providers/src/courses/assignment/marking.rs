//! The table by which an assignment is graded: a row for each student, with grade, comment and a box that returns the work.

use std::collections::BTreeMap;

use entity_core::primitives::typed;
use entity_core::reply::{Choice, Prompt, PromptCell, PromptRow, Questionnaire, Sending, TICKED};
use entity_core::schema::Tone;
use entity_core::wire::Decimal;
use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Error, FieldError, Input, Need,
    Preconditions, Provider as _, Reference, Result, Verb, encode_segment, gate, shape,
};

use super::overview::{Work, works};
use super::{Assignment, GRADE, Submission};
use crate::base::parameters;

/// The maximum number of students in the table: those of a larger class are graded one by one, or by an import.
const MOST_ROWS: i64 = 500;
/// The name of the box by which more is given than the assignment is worth.
const MORE: &str = "more";
/// The message where that is not ticked.
pub(super) const TOO_MUCH: &str =
    "is more than the assignment is worth: tick the box for that to give it";

/// Returns the actions that show and take the table.
pub(super) fn actions() -> Vec<Action<Assignment>> {
    vec![
        Action::entity(Verb::Get, "marking", Need::Site(GRADE), show)
            .label("Grade")
            .in_place_of(Submission::PREFIX)
            .doc(
                "The students for whom the assignment is, as a form: the grade and the comment of each, and whether they \
                 are returned; no more than 500.",
            )
            .answers(Answers::Value(shape::of::<Questionnaire>)),
        Action::entity(Verb::Post, "marking", Need::Site(GRADE), save)
            .label("Grade")
            .done("The grades are saved.")
            .doc(
                "Grades the work of many students, all or none, by the names that the table has: `grade:` and `comment:` \
                 with a text, `return:` with `true` or nothing, each followed by the internal id of the student. What is not \
                 sent stays as it is. More points than the assignment is worth need `more`.",
            )
            .parameters(&[("return", "true: returns each work of the table that has a grade")])
            .answers(Answers::Entity),
    ]
}

impl Work {
    fn prompt(&self, kind: &str) -> String {
        format!("{kind}:{}", self.student)
    }

    /// The state of the work, in words.
    fn state(&self) -> PromptCell {
        let (words, tone) = match (self.is_submitted, self.grade.is_empty()) {
            _ if self.is_returned => ("Returned", Tone::Good),
            (true, false) if self.is_renewed => ("To grade again", Tone::Info),
            (_, false) => ("Graded", Tone::Neutral),
            (true, true) if self.is_late => ("To grade, late", Tone::Warn),
            (true, true) => ("To grade", Tone::Info),
            (false, true) if self.is_draft => ("Draft", Tone::Neutral),
            (false, true) => return PromptCell::Text("Not handed in".to_owned()),
        };
        PromptCell::State {
            text: words.to_owned(),
            tone,
        }
    }

    fn row(&self, scale: &[&'static str], is_graded: bool) -> PromptRow {
        let line = |kind, text: &str, value| {
            PromptCell::Prompt(Prompt::line(self.prompt(kind), text.to_owned(), value))
        };
        let handed_in = match &self.handed_in_on {
            Some(at) => PromptCell::Instant(at.0),
            None => PromptCell::Text(String::new()),
        };
        let grade = is_graded.then(|| match scale {
            [] => line("grade", "Grade", self.grade.clone()),
            grades => PromptCell::Prompt(self.choice(grades)),
        });
        let comment = match &self.comment {
            Some(html) => line("comment", "Comment", typed::to_typed(html).into_owned()),
            None => PromptCell::Text("Long: open the work".to_owned()),
        };
        let others = [
            PromptCell::Prompt(Prompt::tick(
                self.prompt("return"),
                "Return".to_owned(),
                self.is_returned,
            )),
            comment,
        ];
        let path = self.id.as_ref();
        PromptRow {
            title: self.name.clone(),
            path: path.map(|it| Reference::entity(Submission::PREFIX, it.as_str()).path()),
            cells: [handed_in, self.state()]
                .into_iter()
                .chain(grade)
                .chain(others)
                .collect(),
            ..PromptRow::default()
        }
    }

    fn choice(&self, grades: &[&'static str]) -> Prompt {
        let choice = |it: &str| Choice {
            value: it.to_owned(),
            label: if it.is_empty() { "–" } else { it }.to_owned(),
            is_chosen: it == self.grade,
        };
        let choices = std::iter::once("").chain(grades.iter().copied());
        Prompt {
            choices: choices.map(choice).collect(),
            ..Prompt::line(self.prompt("grade"), "Grade".to_owned(), String::new())
        }
    }
}

/// The comment of the work, in SQL: none where it is longer than a cell can show.
const COMMENT: &str = "CASE WHEN length(coalesce(w.feedback_comment, '')) <= 2000 THEN coalesce(w.feedback_comment, '') END";

impl Assignment {
    /// Returns the grades to choose from, unless grades are points, and whether there are grades at all.
    fn grades(&self) -> (Vec<&'static str>, bool) {
        (
            self.scale().choices(),
            self.grade_scale != "UNGRADED_GRADE_TYPE",
        )
    }

    /// Returns the points that it is worth, if it is graded by points.
    pub(super) fn most(&self) -> Option<Decimal> {
        let points = self.grade_scale_max_points.as_deref();
        let points = points.filter(|_| self.grade_scale == "SCORE_GRADE_TYPE");
        Decimal::parse(points?).ok()
    }

    fn form(&self, works: &[Work]) -> Questionnaire {
        let (scale, is_graded) = self.grades();
        let most = self.most().map(Decimal::plain);
        let grade = match &most {
            Some(most) => format!("Grade of {most}"),
            None => "Grade".to_owned(),
        };
        let columns = [
            "Student".to_owned(),
            "Handed in".to_owned(),
            "State".to_owned(),
        ];
        let columns = columns.into_iter().chain(is_graded.then_some(grade));
        let columns = columns.chain(["Return".to_owned(), "Comment".to_owned()]);
        let sending = |query: &str, label: &str| Sending {
            path: format!(
                "/direct/assignment/{}/marking{query}",
                encode_segment(&self.id)
            ),
            label: label.to_owned(),
        };
        let and_return = is_graded.then(|| sending("?return=true", "Save and return all graded"));
        Questionnaire {
            title: format!("Grades of {}", self.title),
            prompts: most
                .map(|most| {
                    Prompt::tick(MORE.to_owned(), format!("More than {most} is meant"), false)
                })
                .into_iter()
                .collect(),
            columns: columns.collect(),
            rows: works.iter().map(|it| it.row(&scale, is_graded)).collect(),
            sendings: std::iter::once(sending("", "Save"))
                .chain(and_return)
                .collect(),
            ..Questionnaire::default()
        }
    }
}

async fn show(
    cx: &Context,
    assignment: Assignment,
    _: Arguments,
) -> Result<ActionResult<Assignment>> {
    let works = works(cx, &assignment, MOST_ROWS, COMMENT).await?;
    Ok(ActionResult::Questionnaire(assignment.form(&works)))
}

async fn save(cx: &Context, assignment: Assignment, arguments: Arguments) -> Result<Assignment> {
    let returns_all = parameters::truth(&arguments, "return")?;
    let works = works(cx, &assignment, MOST_ROWS, COMMENT).await?;
    let sent = &arguments.input.fields;
    let mut changes = assignment.form(&works).changes(sent)?;
    let is_more = parameters::truth(&arguments, MORE)?;
    let mut errors = Vec::new();
    for (name, grade) in changes.iter_mut().filter(|it| it.0.starts_with("grade:")) {
        match assignment.read_grade(grade, is_more) {
            Ok(read) => *grade = read,
            Err(message) => errors.push(FieldError {
                name: name.clone(),
                message,
            }),
        }
    }
    if !errors.is_empty() {
        return Err(Error::fields(errors));
    }
    for work in works {
        let change = Change::of(&work, &mut changes, returns_all);
        if !change.0.is_empty() {
            change
                .write(cx, &assignment, &work, arguments.input.is_form)
                .await?;
        }
    }
    gate::read::<Assignment>(cx, &assignment.id).await
}

impl Assignment {
    /// Reads a grade as people type it.
    pub(super) fn read_grade(&self, grade: &str, is_more: bool) -> Result<String, String> {
        let typed = match self.most() {
            Some(_) if !grade.is_empty() => Decimal::typed(grade)?.to_string(),
            _ => grade.to_owned(),
        };
        let received = self.scale().receive(Some(&typed));
        let received = received.map_err(|error| error.reason().to_owned())?;
        let points = received.as_deref().and_then(|it| Decimal::parse(it).ok());
        let is_over = self.most().zip(points).is_some_and(|(most, it)| it > most);
        match is_over && !is_more {
            true => Err(TOO_MUCH.to_owned()),
            false => Ok(received.unwrap_or_default()),
        }
    }
}

/// The fields of one work that change, as programs send them.
struct Change(BTreeMap<&'static str, serde_json::Value>);

impl Change {
    /// Takes the changes of `work` out of all `changes`. If all are returned, so is this one if it has a grade, but for one that was
    /// handed in again since it was graded.
    fn of(work: &Work, changes: &mut BTreeMap<String, String>, returns_all: bool) -> Self {
        let mut take = |kind| changes.remove(&work.prompt(kind));
        let (grade, comment, returned) = (take("grade"), take("comment"), take("return"));
        let has_grade = !grade.as_ref().unwrap_or(&work.grade).is_empty();
        let is_current = !work.is_renewed || grade.is_some();
        let returned = match returns_all && has_grade && is_current && !work.is_returned {
            true => Some(true),
            false => returned.map(|it| it == TICKED),
        };
        let fields = [
            ("grade", grade.map(Into::into)),
            ("feedbackComment", comment.map(Into::into)),
            ("returned", returned.map(Into::into)),
        ];
        Self(
            fields
                .into_iter()
                .filter_map(|(name, it)| Some((name, it?)))
                .collect(),
        )
    }

    /// Writes the changes of the student's work; without work, of an empty one.
    async fn write(
        self,
        cx: &Context,
        assignment: &Assignment,
        work: &Work,
        is_form: bool,
    ) -> Result<()> {
        let id = match &work.id {
            Some(id) => id.clone(),
            None => {
                super::actions::add_blank(cx, assignment, &work.student)
                    .await?
                    .id
            }
        };
        let input = Input {
            is_form,
            ..self.0.into_iter().collect()
        };
        let written = gate::update::<Submission>(cx, &id, &input, &Preconditions::default()).await;
        let cell = |it: &str| match it {
            "feedbackComment" => work.prompt("comment"),
            _ => work.prompt("grade"),
        };
        written
            .map(drop)
            .map_err(|error| match error.field_errors() {
                [] => error,
                named => Error::fields(
                    named
                        .iter()
                        .map(|it| FieldError {
                            name: cell(&it.name),
                            message: it.message.clone(),
                        })
                        .collect(),
                ),
            })
    }
}
