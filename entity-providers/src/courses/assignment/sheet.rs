//! The grades of an assignment as a table, to spreadsheets and back.

use std::collections::{HashMap, HashSet};

use entity_core::schema::Field;
use entity_core::sheet::{self, CsvTable, Faults, Line, Report};
use entity_core::wire::iso;
use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Data, Error, Input, Need, Preconditions,
    Result, Verb, gate,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Assignment, GRADE, Submission};
use crate::base::parameters;
use crate::base::search::all;
use crate::people::membership::named::members_named;

/// The title of the column with the external ids, by which an import finds students.
const STUDENT: &str = "Student ID";
/// The title of the column with the grades, which an import reads.
const GRADES: &str = "Grade";
/// The titles of the further columns, which an import pays no heed to.
const FURTHER: [&str; 4] = ["Student Name", "Submitted", "Late", "Returned"];
/// The maximum number of grades that one import changes.
const MOST_CHANGES: usize = 1_000;

/// The fields for which pages ask before grades are imported.
const TABLE: &[Field] = &[
    parameters::table("The table, copied from a spreadsheet that was saved as CSV."),
    parameters::PREVIEW,
];

/// Returns the actions that write and read tables.
pub(super) fn actions() -> Vec<Action<Assignment>> {
    vec![
        Action::entity(Verb::Get, "export", Need::Site(GRADE), export)
            .doc("The grades of an assignment as a table for spreadsheets: a line for each piece of work.")
            .answers(Answers::Bytes(&[sheet::CSV])),
        Action::entity(Verb::Post, "import", Need::Site(GRADE), import)
            .label("Import grades")
            .asks(TABLE)
            .doc(
                "Grades work from `csv`, the text of a table with the columns `Student ID` and `Grade`, as `export` \
                 writes it: all of it or nothing. Empty cells leave the grade as it is, and students see new grades \
                 once they are returned. With `preview`, nothing changes, and the answer tells what would, and which \
                 cells are wrong.",
            )
            .parameters(&[("preview", "whether to tell only what would change")]),
    ]
}

/// The change of one grade.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "GradeChange")]
struct Changed {
    /// The number of the line.
    line: u64,
    /// The internal id of the student.
    student_id: String,
    /// The grade before; null for none.
    before: Option<String>,
    /// The grade afterwards.
    after: Option<String>,
}

async fn export(
    cx: &Context,
    assignment: Assignment,
    _: Arguments,
) -> Result<ActionResult<Assignment>> {
    let mut sheet = CsvTable::new(cx.answer_bytes());
    sheet.row([STUDENT, GRADES].into_iter().chain(FURTHER))?;
    let work = work(cx, &assignment).await?;
    let yes = |is: bool| if is { "yes" } else { "" }.to_owned();
    for it in work {
        let name = it.submitters.first().map(|it| it.sort_name.clone());
        sheet.row([
            it.submitter_eid,
            it.grade.unwrap_or_default(),
            name.unwrap_or_default(),
            it.date_submitted.map(iso).unwrap_or_default(),
            yes(it.late),
            yes(it.returned),
        ])?;
    }
    let file = sheet.into_bytes(&format!("grades-{}.csv", assignment.id))?;
    Ok(ActionResult::Bytes(file))
}

/// Returns all work for the assignment that the caller sees.
async fn work(cx: &Context, assignment: &Assignment) -> Result<Vec<Submission>> {
    all(cx, &Submission::FIELD.assignment_id.eq(&assignment.id)).await
}

async fn import(
    cx: &Context,
    assignment: Assignment,
    arguments: Arguments,
) -> Result<Data<Report<Changed>>> {
    let is_preview = parameters::truth(&arguments, "preview")?;
    let lines = sheet::read(&parameters::whole(&arguments, "csv")?)?;
    let mut faults = Faults::default();
    let changes = changes(cx, &assignment, &lines, &mut faults).await?;
    if changes.len() > MOST_CHANGES {
        let message = format!("must not change more than {MOST_CHANGES} grades at once");
        return Err(Error::field("csv", message));
    }
    let report = Report::of(is_preview, changes.clone(), faults)?;
    if !is_preview {
        for change in changes {
            grade(cx, &assignment, change).await?;
        }
    }
    Ok(Data(report))
}

/// Returns what the lines change.
async fn changes(
    cx: &Context,
    assignment: &Assignment,
    lines: &[Line],
    faults: &mut Faults,
) -> Result<Vec<Changed>> {
    let Some((head, lines)) = lines.split_first() else {
        return Err(Error::field("csv", "must not be empty"));
    };
    let place = |title| head.cells().position(|it| it == title);
    let (Some(of_students), Some(of_grades)) = (place(STUDENT), place(GRADES)) else {
        let message = format!("must be a title: the columns `{STUDENT}` and `{GRADES}` are needed");
        faults.add(head, 0, message);
        return Ok(Vec::new());
    };
    let eids: Vec<&str> = lines.iter().map(|it| it.cell(of_students)).collect();
    let students = Students::of(cx, assignment, &eids).await?;
    let (mut seen, mut changes) = (HashSet::new(), Vec::new());
    for line in lines {
        let Some((student, before)) = students.find(line.cell(of_students)) else {
            faults.add(
                line,
                of_students,
                "must be the external id of a member of the site",
            );
            continue;
        };
        if !seen.insert(student) {
            faults.add(line, of_students, "must not be there twice");
        }
        match assignment.scale().receive(Some(line.cell(of_grades))) {
            Ok(after) if after.is_some() && after != before => changes.push(Changed {
                line: line.number,
                student_id: student.to_owned(),
                before,
                after,
            }),
            Ok(_same) => {}
            Err(error) => faults.add_error(line, of_grades, &error),
        }
    }
    Ok(changes)
}

/// The members of the site that a table names, with the grades that they have.
struct Students {
    by_eid: HashMap<String, String>,
    grades: HashMap<String, Option<String>>,
}

impl Students {
    async fn of(cx: &Context, assignment: &Assignment, eids: &[&str]) -> Result<Self> {
        let by_eid = members_named(cx, &assignment.site_id, eids).await?;
        let work = work(cx, assignment).await?.into_iter();
        let grades = work.map(|it| (it.submitter, it.grade)).collect();
        Ok(Self { by_eid, grades })
    }

    /// Returns the internal id and the grade of the member with this external id.
    fn find(&self, eid: &str) -> Option<(&str, Option<String>)> {
        let id = self.by_eid.get(eid)?;
        Some((id, self.grades.get(id).cloned().flatten()))
    }
}

/// Grades the work of one student; without work, an empty one.
async fn grade(cx: &Context, assignment: &Assignment, change: Changed) -> Result<()> {
    let own = Submission::of(cx, assignment, &change.student_id).await?;
    let work = match own {
        Some(work) => work,
        None => super::actions::add_blank(cx, assignment, &change.student_id).await?,
    };
    let input = Input::from_iter([("grade", change.after)]);
    gate::update::<Submission>(cx, &work.id, &input, &Preconditions::default()).await?;
    Ok(())
}
