//! The cases: the requests, the users who send them, and the number of times.

use entity_providers::face::demo::scale::Part;

use crate::bench::data::{Sample, Size};

/// The rows that are asked for: few enough that they are written in a moment, and more in a site than a list shows.
pub(super) const SIZE: Size = Size {
    sites: 50,
    in_site: 100,
};
/// A university beside them, in which each student is in 40 courses.
pub(super) const UNIVERSITY: Part = Part {
    first: 0,
    students: 100,
    instructors: 1,
    first_course: 0,
    courses: 40,
    courses_of_student: 40,
    announcements: 10,
    assignments: 4,
    files: 50,
};
/// The number of different things that are asked for: not always the same, and all of them before anything is counted.
const DIFFERENT: usize = 5;
/// The number of samples of each case. The least of them is the cost when nothing else happens meanwhile: now and then
/// the service looks after what it remembers, which belongs to the time that passes and not to a request.
pub(super) const SAMPLES: usize = match cfg!(debug_assertions) {
    // These programs need several times as many instructions, of which the same few are others each time.
    true => 3,
    false => 11,
};

/// The server that answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contender {
    /// The least that can serve the same rows.
    Bare,
    /// The service.
    Lectern,
    /// The service when all its places are taken: it refuses.
    Full,
}

impl Contender {
    /// The status of its answers.
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Bare | Self::Lectern => "200",
            Self::Full => "503",
        }
    }
}

/// The user who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// `student1`, who is in the sites with announcements.
    Student,
    /// The first student of the university.
    Member,
    /// A teacher of those sites.
    Instructor,
}

/// Requests that are alike.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) contender: Contender,
    pub(super) who: Who,
    pub(super) name: &'static str,
    /// The name of the case of the bare handler that this one is compared with.
    pub(super) yardstick: &'static str,
    /// The paths that are asked for in turn.
    pub(super) paths: Vec<String>,
    /// The number of times that each of them is asked for in a sample.
    pub(super) rounds: usize,
}

const ONE: &str = "one";
const LIST: &str = "list of 50";
const SITES: &str = "/api sites, 40";
const DASHBOARD: &str = "/api dashboard";
/// The newer two thirds of a site, in an order that no index has: the statement runs where scans run.
const FILTER: &str = "createdOn[gt]=2026-01-03T00:00:00Z&_order=title";

/// The cases that `contender` answers, in their order.
pub(super) fn of(contender: Contender) -> impl Iterator<Item = Case> {
    let all = all().into_iter();
    all.filter(move |it| it.contender == contender)
}

/// All cases in the order in which they are counted: first those of the bare handler, beside which nothing runs.
pub(super) fn all() -> Vec<Case> {
    let sample = Sample::of(SIZE);
    let ones = || sample.ones.iter().take(DIFFERENT).cloned().collect();
    let lists = |end: &str| -> Vec<String> {
        let paths = sample.lists.iter().take(DIFFERENT);
        paths.map(|it| it.replace(".json", end)).collect()
    };
    let bare = |name, paths, rounds| Case {
        contender: Contender::Bare,
        who: Who::Student,
        name,
        yardstick: name,
        paths,
        rounds,
    };
    let lectern = |name, yardstick, paths, rounds| Case {
        contender: Contender::Lectern,
        who: Who::Student,
        name,
        yardstick,
        paths,
        rounds,
    };
    let filtered = lists(".json");
    let filtered = filtered.iter().map(|it| format!("{it}&{FILTER}")).collect();
    let fixed = |path: &str| vec![path.to_owned()];
    let sites = fixed("/direct/site.json");
    let user = fixed("/direct/user/current.json");
    let of_member = |case: Case| Case {
        who: Who::Member,
        ..case
    };
    let portal = [(SITES, "sites"), (DASHBOARD, "dashboard")];
    let portal = portal.map(|(name, path)| (name, fixed(&format!("/api/users/me/{path}"))));
    let mut cases = vec![bare(ONE, ones(), 6), bare(LIST, lists(".json"), 1)];
    cases.extend(
        portal
            .iter()
            .map(|(name, path)| of_member(bare(name, path.clone(), 1))),
    );
    cases.extend([
        lectern(ONE, ONE, ones(), 6),
        lectern(LIST, LIST, lists(".json"), 1),
        lectern("filtered list of 50", LIST, filtered, 1),
        lectern("Atom of 50", LIST, lists(".atom"), 1),
        lectern("XML of 50", LIST, lists(".xml"), 1),
        lectern("HTML of 50", LIST, lists(".html"), 1),
        lectern("site.json", LIST, sites, 3),
        lectern("user/current", ONE, user, 30),
    ]);
    cases.extend(
        portal
            .into_iter()
            .map(|(name, path)| of_member(lectern(name, name, path, 1))),
    );
    cases.extend(course_lists());
    cases.push(Case {
        contender: Contender::Full,
        who: Who::Student,
        name: "refused for want of room",
        yardstick: ONE,
        paths: ones(),
        rounds: 6,
    });
    cases
}

/// The lists of a course, each asked for by who reads it most.
fn course_lists() -> impl Iterator<Item = Case> {
    // The course that the only instructor teaches.
    let teacher = UNIVERSITY.first + UNIVERSITY.students;
    let course = Part::course(UNIVERSITY.first_course + teacher % UNIVERSITY.courses);
    let lists = [
        (Who::Member, "assignment/site/{}.json"),
        (Who::Member, "calendar/site/{}.json"),
        (Who::Member, "content/site/{}.json?_limit=50"),
        (Who::Member, "gradebook/site/{}.json"),
        (
            Who::Instructor,
            "assignment-submission.json?context={}&_limit=50",
        ),
        (Who::Instructor, "gradebook-score.json?siteId={}&_limit=50"),
        (Who::Student, "lessons/site/biology-101.json"),
        (Who::Student, "sam_pub/context/biology-101.json"),
        (Who::Student, "syllabus/site/biology-101.json"),
    ];
    lists.into_iter().map(move |(who, name)| Case {
        contender: Contender::Lectern,
        who,
        name,
        yardstick: LIST,
        paths: vec![format!("/direct/{}", name.replace("{}", &course))],
        rounds: 1,
    })
}
