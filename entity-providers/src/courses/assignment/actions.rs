//! The addresses of assignments besides those that every type has.

use entity_core::db;
use entity_core::schema::{Field, Kind};
use entity_core::{
    Action, Actions, Arguments, Context, Data, Error, Input, Need, Preconditions, Result, Search,
    Submit, Verb, View, gate, lines,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::hand_in::ONE_FILE;
use super::link::{VIEWS, deep_link, deep_link_for};
use super::{Assignment, GRADE, READ, SUBMIT, Submission, marking, overview, sheet};
use crate::{base::parameters, courses::content, people::authorizer};

/// The parameters that name work: the assignment, and whose work it is.
const WORK: &[(&str, &str)] = &[
    ("gradableId", "the assignment"),
    ("submissionId", "the work"),
    (
        "studentId",
        "the internal id of whoever hands in, instead of the work",
    ),
];

impl Actions for Assignment {
    fn actions() -> Vec<Action<Self>> {
        let mut actions = by_path();
        actions.extend(of_work());
        actions.extend(sheet::actions());
        actions.push(overview::action());
        actions.extend(marking::actions());
        actions
    }
}

/// Returns an action that answers with a link.
fn link(name: &'static str) -> Action<Assignment> {
    Action::collection(Verb::Get, name, Need::Session, deep_link)
        .argument("siteId", "The site.")
        .argument("assignmentId", "The assignment.")
}

/// The fields for which the page of an assignment asks before work is handed in.
const WORK_FIELDS: &[Field] = &[
    Field::new(
        "submittedText",
        Kind::Html(100_000),
        "The text. An empty box leaves what is stored as it is.",
    )
    .label("Your text")
    .hint("An empty box leaves what is stored as it is."),
    Field::new("submittedAttachments", Kind::List, "The files so far.")
        .label("Files so far")
        .for_programs(),
];

/// The buttons of that form.
const BUTTONS: &[Submit] = &[
    Submit {
        field: ("draft", "true"),
        label: "Save draft",
        done: "Your draft for {} is saved. It is not handed in yet.",
    },
    Submit {
        field: ("draft", "false"),
        label: "Hand in",
        done: "Your work on {} is handed in.",
    },
];

/// Returns the actions that read assignments.
fn by_path() -> Vec<Action<Assignment>> {
    vec![
        Action::list("site", Need::Session, of_one_site)
            .doc("The assignments of a site, by the instant at which they are due.")
            .argument("siteId", "The site."),
        Action::list("my", Need::Session, of_own_sites).doc(
            "The assignments of all sites of the caller, by the instant at which they are due.",
        ),
        Action::collection(Verb::Get, "item", Need::Session, item)
            .doc("One assignment.")
            .argument("assignmentId", "The assignment."),
        link("deepLink").doc("What is needed for a link to an assignment."),
        link("annc").doc("What an announcement needs for a link to an assignment."),
        Action::collection(
            Verb::Get,
            "deepLinkWithPermissions",
            Need::Session,
            deep_link_for,
        )
        .doc("What is needed for a link to an assignment, to the page that the parameters say.")
        .argument("siteId", "The site.")
        .argument("assignmentId", "The assignment.")
        .parameters(VIEWS),
    ]
}

/// Returns the actions about what was handed in.
fn of_work() -> Vec<Action<Assignment>> {
    vec![
            Action::collection(Verb::Get, "gradable", Need::Session, gradable)
                .doc("One assignment for graders, with the work that the parameters name or with all of it.")
                .parameters(WORK),
            Action::collection(Verb::Get, "fullSubmissions", Need::Session, full_submissions)
                .doc("One assignment, with those pieces of work that the parameters name and that the caller may read.")
                .parameters(&[
                    ("gradableId", "the assignment"),
                    ("submissionIds", "the pieces of work, with commas between them"),
                ]),
            Action::collection(Verb::Get, "itemSubmission", Need::Session, item_submission)
                .doc("One assignment, with the work that the parameters name or with the caller's own.")
                .parameters(WORK),
            Action::collection(Verb::Get, "getGrade", Need::Session, get_grade)
                .doc("The grade and feedback of the work that the parameters name.")
                .parameters(WORK),
            Action::collection(Verb::Post, "setGrade", Need::Session, set_grade)
                .doc(
                    "Grades the work that `gradableId` and `submissionId` or `studentId` in the body name, by the fields \
                     of `assignment-submission`, and answers the assignment with that work.",
                )
                .parameters(WORK),
            Action::entity(Verb::Post, "submit", Need::Site(SUBMIT), submit)
                .receiving_in_forms()
                .label("Hand in")
                .asks(WORK_FIELDS)
                .filled_from("/submissions/0")
                .submits(BUTTONS)
                .open()
                .offered_unless(Assignment::closedness)
                .withheld_from(GRADE)
                .doc(
                    "Hands in the caller's work, or keeps it as a draft if `draft` is true. What is not sent stays as it \
                     is; files of a form are added, or take the place of the only one where one is asked for. Programs \
                     take the text or the files away with null or an empty value.",
                ),
        ]
}

async fn of_one_site(cx: &Context, arguments: Arguments) -> Result<Search> {
    let site = arguments.argument("siteId")?;
    match gate::holds(cx, READ, site).await? {
        true => arguments.search_in_site::<Assignment>(site),
        false => Err(Error::not_found()),
    }
}

async fn of_own_sites(cx: &Context, arguments: Arguments) -> Result<Search> {
    let mut search = arguments.search()?.clone();
    search.narrow_to_sites::<Assignment>(cx.authorizer().own_sites(cx).await?)?;
    Ok(search)
}

async fn item(cx: &Context, arguments: Arguments) -> Result<Assignment> {
    let id = arguments.argument("assignmentId")?;
    let found = gate::read::<Assignment>(cx, id).await;
    found.map_err(Error::hide)
}

/// The names of work, out of a query or a body.
struct Named {
    gradable: String,
    submission: Option<String>,
    student: Option<String>,
}

impl Named {
    fn of(text: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let text = |name| text(name).filter(|it| !it.is_empty());
        let gradable = text("gradableId");
        Ok(Self {
            gradable: gradable.ok_or_else(|| Error::field("gradableId", "is required"))?,
            submission: text("submissionId"),
            student: text("studentId"),
        })
    }

    fn of_query(arguments: &Arguments) -> Result<Self> {
        Self::of(|name| arguments.parameter(name).map(ToOwned::to_owned))
    }

    /// Returns the assignment, if the caller sees it.
    async fn assignment(&self, cx: &Context) -> Result<Assignment> {
        Assignment::find(cx, &self.gradable).await
    }

    /// Returns the assignment, if the caller grades it.
    async fn to_grade(&self, cx: &Context) -> Result<Assignment> {
        let assignment = self.assignment(cx).await?;
        gate::demand_in_site(cx, Need::Site(GRADE), Some(&assignment.site_id)).await?;
        Ok(assignment)
    }

    /// Returns the work, if there is some that the caller sees; the caller's own if neither work nor student is named.
    async fn work(&self, cx: &Context, assignment: &Assignment) -> Result<Option<Submission>> {
        let Some(id) = &self.submission else {
            let student = self.student.as_deref().map_or_else(|| cx.user_id(), Ok)?;
            return Submission::of(cx, assignment, student).await;
        };
        let found = gate::read::<Submission>(cx, id).await?;
        if found.assignment_id == assignment.id {
            Ok(Some(found))
        } else {
            Err(Error::not_found())
        }
    }

    /// Returns the work, which must be there. Graders have none of their own: they are told what to name.
    async fn demand_work(&self, cx: &Context, assignment: &Assignment) -> Result<Submission> {
        if let Some(work) = self.work(cx, assignment).await? {
            return Ok(work);
        }
        let is_unnamed = self.submission.is_none() && self.student.is_none();
        match is_unnamed && gate::holds(cx, GRADE, &assignment.site_id).await? {
            true => Err(Error::field(
                "studentId",
                "is required unless `submissionId` is sent",
            )),
            false => Err(Error::not_found()),
        }
    }
}

async fn gradable(cx: &Context, arguments: Arguments) -> Result<Assignment> {
    let named = Named::of_query(&arguments)?;
    let mut assignment = named.to_grade(cx).await?;
    if named.submission.is_none() && named.student.is_none() {
        assignment.add_submissions(cx).await?;
    } else {
        assignment.submissions = Vec::from_iter(named.work(cx, &assignment).await?);
    }
    Ok(assignment)
}

async fn full_submissions(cx: &Context, arguments: Arguments) -> Result<Assignment> {
    let id = parameters::required(&arguments, "gradableId")?;
    let ids = parameters::texts(&arguments, "submissionIds")?.unwrap_or_default();
    if ids.is_empty() {
        return Err(Error::field("submissionIds", "is required"));
    }
    let mut assignment = Assignment::find(cx, &id).await?;
    let mut found = gate::read_many::<Submission>(cx, &ids).await?;
    found.retain(|it| it.assignment_id == assignment.id);
    assignment.submissions = found;
    Ok(assignment)
}

async fn item_submission(cx: &Context, arguments: Arguments) -> Result<Assignment> {
    let named = Named::of_query(&arguments)?;
    let mut assignment = named.assignment(cx).await?;
    assignment.submissions = vec![named.demand_work(cx, &assignment).await?];
    Ok(assignment)
}

/// A grade with its feedback.
#[derive(Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[view(of = Submission)]
struct Mark {
    /// The work.
    #[view(of = id)]
    submission_id: String,
    /// The internal id of whoever hands in.
    #[view(of = submitter)]
    student_id: String,
    /// The grade; null until it is returned, except for graders.
    grade: Option<String>,
    /// The text with remarks in it.
    feedback_text: Option<String>,
    /// A comment.
    feedback_comment: Option<String>,
    /// True if it is shown to whoever handed in.
    returned: bool,
}

async fn get_grade(cx: &Context, arguments: Arguments) -> Result<Data<Mark>> {
    let named = Named::of_query(&arguments)?;
    let assignment = named.assignment(cx).await?;
    let work = named.demand_work(cx, &assignment).await?;
    Ok(Data(Mark::of(work)))
}

async fn set_grade(cx: &Context, arguments: Arguments) -> Result<Assignment> {
    let sent = |name: &str| arguments.input.fields.get(name)?.as_str();
    let named = |name: &str| sent(name).or_else(|| arguments.parameter(name));
    let named = Named::of(|name| named(name).map(ToOwned::to_owned))?;
    let mut input = arguments.input;
    for name in ["gradableId", "submissionId", "studentId"] {
        input.fields.remove(name);
    }
    if named.submission.is_none() && named.student.is_none() {
        return Err(Error::field("submissionId", "is required"));
    }
    let mut assignment = named.to_grade(cx).await?;
    let work = if let Some(work) = named.work(cx, &assignment).await? {
        work
    } else {
        let student = named.student.as_deref().unwrap_or_default();
        add_blank(cx, &assignment, student).await?
    };
    let graded =
        gate::update::<Submission>(cx, &work.id, &input, &Preconditions::default()).await?;
    assignment.submissions = vec![graded];
    Ok(assignment)
}

/// Adds work of `student`, who has handed in nothing, so that it can be graded.
pub(super) async fn add_blank(
    cx: &Context,
    assignment: &Assignment,
    student: &str,
) -> Result<Submission> {
    let subject = authorizer::of(cx)?.subject(cx, student).await?;
    if subject.role_in(&assignment.site_id).is_none() {
        return Err(Error::field("studentId", "must be a member of the site"));
    }
    db::add(cx, Submission::blank(cx.new_id(), assignment, student)).await
}

async fn submit(cx: &Context, assignment: Assignment, arguments: Arguments) -> Result<Assignment> {
    let mut input: Input = arguments.input;
    input.fields.entry("draft").or_insert(Value::Bool(false));
    let is_blank = |it: &Value| it.as_str().is_some_and(|it| it.trim().is_empty());
    if input.is_form && input.fields.get("submittedText").is_some_and(is_blank) {
        input.fields.remove("submittedText");
    }
    let own = Submission::of(cx, &assignment, cx.user_id()?).await?;
    let uploads = std::mem::take(&mut input.uploads);
    if !uploads.is_empty() {
        let new = content::attach_uploads(cx, &assignment.site_id, &uploads).await?;
        let kept = match input.fields.remove("submittedAttachments") {
            _ if assignment.submission_type == ONE_FILE => Value::Null,
            Some(Value::Array(sent)) => lines::read_items(&sent),
            Some(sent) => sent,
            None => serde_json::to_value(own.as_ref().map(|it| &it.submitted_attachments))
                .map_err(Error::internal)?,
        };
        let files = format!("{}\n{new}", lines::write(&kept));
        input
            .fields
            .insert("submittedAttachments".to_owned(), files.into());
    }
    if let Some(own) = own {
        let (id, conditions) = (&own.id, Preconditions::default());
        gate::update::<Submission>(cx, id, &input, &conditions).await?;
    } else {
        let of = [
            ("gradableId", &assignment.id),
            ("context", &assignment.site_id),
        ];
        for (name, value) in of {
            let value = Value::from(value.as_str());
            input.fields.insert(name.to_owned(), value);
        }
        gate::create::<Submission>(cx, &input).await?;
    }
    gate::read::<Assignment>(cx, &assignment.id).await
}
