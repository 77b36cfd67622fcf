//! The addresses of work, and its page for graders: grade and comment beside the text, and the way to the next work.

use entity_core::engine::DirectPath;
use entity_core::schema::{Field, Kind};
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Error, Input, Need, Preconditions,
    Provider as _, Reference, Result, Search, Submit, Verb, gate,
};

use super::overview::{Work, works};
use super::{Assignment, GRADE, Submission};
use crate::base::parameters;

/// The maximum number of students among whom the next work is looked for.
const MOST: i64 = 5_000;

/// The fields for which the page of work asks those who grade.
const MARK: &[Field] = &[
    Field::new("grade", Kind::Text(40), "The grade.").hint(""),
    Field::new(
        "more",
        Kind::Boolean,
        "Ticked if more points are meant than the assignment is worth.",
    )
    .label("More points than it is worth are meant")
    .hint(""),
    Field::new(
        "feedbackComment",
        Kind::Html(100_000),
        "A comment for the student.",
    )
    .label("Comment")
    .hint(""),
];

const BUTTONS: &[Submit] = &[
    Submit {
        field: ("then", "stay"),
        label: "Save",
        done: "The grade is saved. The student sees it once it is returned.",
    },
    Submit {
        field: ("then", "return"),
        label: "Save and return",
        done: "The work is returned: the student sees grade and comment.",
    },
    Submit {
        field: ("then", "next"),
        label: "Save, return and go on",
        done: "The work before this one is returned.",
    },
];

impl Actions for Submission {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("assignment", Need::Session, of_assignment)
                .doc("What was handed in for an assignment: the caller's own work or, for those who grade, all of it.")
                .argument("assignmentId", "The assignment."),
            Action::entity(Verb::Post, "mark", Need::Site(GRADE), mark)
                .label("Grade")
                .asks(MARK)
                .submits(BUTTONS)
                .open()
                .doc(
                    "Sets grade and comment, and returns the work if `then` is `return` or `next`. More points than the \
                     assignment is worth need `more`.",
                )
                .answers(Answers::Entity),
            Action::entity(Verb::Post, "return", Need::Site(GRADE), give_back)
                .offered_if(|it| it.grade.is_some() && !it.returned)
                .done("The work is returned: the student sees grade and comment.")
                .doc("Shows grade and feedback to whoever handed it in."),
            Action::entity(Verb::Get, "previous", Need::Site(GRADE), previous)
                .label("Previous work")
                .doc("The work before this one, by the names of the students; before the first one, the last.")
                .answers(Answers::Entity),
            Action::entity(Verb::Get, "next", Need::Site(GRADE), next)
                .label("Next work")
                .doc("The work behind this one, by the names of the students; behind the last one, the first.")
                .answers(Answers::Entity),
        ]
    }
}

async fn of_assignment(cx: &Context, arguments: Arguments) -> Result<Search> {
    let assignment = Assignment::find(cx, arguments.argument("assignmentId")?).await?;
    let mut search = arguments.search_in_site::<Submission>(&assignment.site_id)?;
    search.narrow(Submission::FIELD.assignment_id.eq(assignment.id));
    Ok(search)
}

async fn give_back(cx: &Context, submission: Submission, _: Arguments) -> Result<Submission> {
    let input = Input::from_iter([("returned", true)]);
    let returned =
        gate::update::<Submission>(cx, &submission.id, &input, &Preconditions::default()).await?;
    Ok(returned)
}

async fn mark(
    cx: &Context,
    submission: Submission,
    arguments: Arguments,
) -> Result<ActionResult<Submission>> {
    let is_more = parameters::truth(&arguments, "more")?;
    let mut input = arguments.input;
    input.fields.remove("more");
    let then = input.fields.remove("then");
    let then = then.as_ref().and_then(|it| it.as_str()).unwrap_or_default();
    if let Some(grade) = input.fields.get_mut("grade") {
        let assignment = Assignment::find(cx, &submission.assignment_id).await?;
        let read = assignment.read_grade(&entity_core::reply::answer(grade), is_more);
        let wrong = |message: String| Error::field("grade", message);
        *grade = read.map_err(wrong)?.into();
    }
    if matches!(then, "return" | "next") {
        input.fields.insert("returned".to_owned(), true.into());
    }
    let marked =
        gate::update::<Submission>(cx, &submission.id, &input, &Preconditions::default()).await?;
    let of_work = |id: &str| Reference::entity(Submission::PREFIX, id);
    let shown = match then {
        "next" => match beside(cx, &marked, 1).await? {
            (next, true) => of_work(&next),
            // Who has come to the end sees the table again.
            (_, false) => Reference::entity(Assignment::PREFIX, marked.assignment_id.as_str()),
        },
        _ => of_work(&marked.id),
    };
    Ok(ActionResult::Entity(marked).about(shown))
}

async fn previous(
    cx: &Context,
    submission: Submission,
    _: Arguments,
) -> Result<ActionResult<Submission>> {
    let (id, _) = beside(cx, &submission, -1).await?;
    Ok(ActionResult::Forward(DirectPath::new(
        Submission::PREFIX,
        [id],
    )))
}

async fn next(
    cx: &Context,
    submission: Submission,
    _: Arguments,
) -> Result<ActionResult<Submission>> {
    let (id, _) = beside(cx, &submission, 1).await?;
    Ok(ActionResult::Forward(DirectPath::new(
        Submission::PREFIX,
        [id],
    )))
}

/// Returns the id of the work before or behind `submission`, of the student who stands there, and whether that is further in the
/// list: behind the last one comes the first.
async fn beside(cx: &Context, submission: &Submission, step: isize) -> Result<(String, bool)> {
    let assignment = Assignment::find(cx, &submission.assignment_id).await?;
    let works = works(cx, &assignment, MOST, "''").await?.into_iter();
    let own = |it: &Work| it.id.as_ref() == Some(&submission.id);
    let works = works.filter(|it| it.is_submitted || own(it));
    let ids: Vec<String> = works.filter_map(|it| it.id).collect();
    let place = ids.iter().position(|it| *it == submission.id);
    let further = place.and_then(|it| ids.get(it.checked_add_signed(step)?));
    let end = match step {
        1 => ids.first(),
        _ => ids.last(),
    };
    let found = further.or(end).unwrap_or(&submission.id);
    Ok((found.clone(), further.is_some()))
}
