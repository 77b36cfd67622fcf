//! Canaries: text that a caller may not see is in no answer to that caller.
//!
//! Each type has entities in each state that the policy names. The texts of those that somebody may not read are words
//! that nothing else has, as is what only some answers have of an entity ([`planted`]). Then everything is asked for
//! that there is to ask, by those who may not see it, and no answer may hold one of the words, in whatever form.

mod planted;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use entity_core::engine::{ActionRoute, Route};
use entity_core::schema::{Field, Kind, Role};
use entity_core::{Registry, Verb};
use http::Method;
use sea_orm::ConnectionTrait as _;
use tests::{Answer, Backend, TestApp, both, is_full};

use super::policy::{self, Expected};
use super::requests;
use super::subject::Subject;
use super::world::{Caller, World};

/// The beginning of each word. It stands nowhere else.
const WORD: &str = "kanari";
/// Those who ask: a stranger, a student who is in one of the groups, and somebody who is no member.
const ASKING: [&str; 3] = ["stranger", "student", "other"];
/// The formats in which everything is asked for.
const FORMATS: [&str; 7] = ["json", "xml", "html", "csv", "atom", "rss", "ics"];
/// The names of arguments of actions that stand for a site.
const SITE_ARGUMENTS: [&str; 2] = ["siteId", "context"];
/// One in so many addresses is asked for on SQLite and on PostgreSQL, unless `FULL=1`.
const SAMPLED: [usize; 2] = [4, 16];
/// Types of which there is no text that is hidden from a student, each with the reason.
const NOTHING_TO_HIDE: [(&str, &str); 33] = [
    ("audit", "is for administrators"),
    ("activity", "consists of numbers"),
    ("conversations-agreement", "has no text"),
    ("conversations-mark", "has no text"),
    ("feed", "an account sees its own only, by the token"),
    ("forums-read", "has no text"),
    ("gradebook", "consists of items and scores"),
    (
        "gradebook-category",
        "all members of the site see the names",
    ),
    ("gradebook-change", "repeats what scores have"),
    ("grades", "consists of items and scores"),
    ("group", "is a part of a site"),
    ("invitation", "has no text but addresses of people"),
    ("lesson-progress", "has no text"),
    ("membership", "has no text but names of people"),
    ("notification", "repeats the title of what it is about"),
    ("preference", "an account sees its own only"),
    (
        "profile",
        "everybody sees the name; who sees which other part is tried one by one",
    ),
    ("poll-vote", "has no text but the question"),
    ("presence", "has no text but names of people"),
    ("quiz-attempt", "has no text but answers"),
    ("quiz-extension", "has no text"),
    ("roster-membership", "has no text but names of people"),
    ("server-config", "is public"),
    ("setting", "is for administrators"),
    ("session", "has no text but names of people"),
    (
        "session-event",
        "an account sees its own only, and has no text",
    ),
    ("site", "the title is the id, which addresses have"),
    ("syllabus-redirect", "has no text but an address"),
    ("task", "an account sees its own only"),
    ("term", "everybody sees terms"),
    ("user", "names stand beside what people wrote"),
    (
        "webhook",
        "those who look after the site see the descriptions",
    ),
    ("webhook-delivery", "has no text"),
];

both! {
    async fn authz_3_what_somebody_may_not_see_stands_in_no_answer(app: TestApp) {
        let [on_sqlite, on_postgres] = SAMPLED;
        let stride = match app.database().backend() {
            _ if is_full() => 1,
            Backend::Sqlite => on_sqlite,
            Backend::Postgres => on_postgres,
        };
        let world = World::new(app).await;
        let mut aviary = Aviary::default();
        aviary.fill(&world).await;
        let further = planted::all(&world, &mut aviary).await;
        aviary.is_complete();
        aviary.is_seen(&world).await;
        let mut wrong = Vec::new();
        let mut asked = 0;
        for name in ASKING {
            let caller = world.callers.iter().find(|it| it.name == name).expect("a caller");
            let mut paths = aviary.addresses(&world, caller);
            paths.extend(further.iter().cloned());
            for path in paths.iter().step_by(stride) {
                let answer = caller.client.get(path).await;
                asked += 1;
                if answer.status.is_server_error() {
                    wrong.push(format!("{name} {path}: {}", answer.status));
                }
                for word in words_in(&answer) {
                    let canary = &aviary.canaries[&word];
                    if canary.is_hidden_from(caller) {
                        wrong.push(format!("{name} {path} ({}) tells of {} {}", answer.status, canary.kind, canary.state));
                    }
                }
            }
        }
        wrong.sort();
        wrong.dedup();
        assert!(wrong.is_empty(), "{} of {asked}:\n{}", wrong.len(), wrong.join("\n"));
        assert!(asked > 4_000 / stride, "only {asked} addresses");
    }
}

/// A word, and where it stands.
#[derive(Debug)]
pub(super) struct Canary {
    kind: String,
    state: String,
    /// The expected answers to a read of the entity, one for each column of the policy.
    expected: Vec<Expected>,
    subject: Subject,
}

impl Canary {
    fn is_hidden_from(&self, caller: &Caller) -> bool {
        let expected = self.expected[caller.column];
        matches!(expected, Expected::Refusal(_) | Expected::Outside)
    }
}

/// All canaries, by word.
#[derive(Debug, Default)]
pub(super) struct Aviary {
    canaries: BTreeMap<String, Canary>,
}

impl Aviary {
    /// A new word, which is hidden from everybody but those who may change things in the site.
    pub(super) fn word(&mut self, kind: &str, state: &str) -> String {
        let expected = policy::COLUMNS.map(|it| match it {
            "instructor" | "admin" => Expected::Success,
            _ => Expected::Refusal(404),
        });
        self.add(kind, state, &expected, Subject::default())
    }

    fn add(&mut self, kind: &str, state: &str, expected: &[Expected], subject: Subject) -> String {
        let word = format!("{WORD}{:05}", self.canaries.len());
        let canary = Canary {
            kind: kind.to_owned(),
            state: state.to_owned(),
            expected: expected.to_vec(),
            subject,
        };
        self.canaries.insert(word.clone(), canary);
        word
    }

    /// Makes an entity in each state of the policy that is not the caller's own, with a word for its texts.
    async fn fill(&mut self, world: &World) {
        let caller = &world.callers[3];
        for line in policy::lines() {
            if !line.operations.contains(&"read") {
                continue;
            }
            let is_ours = |it: &&&str| **it != "unknown" && !it.starts_with("own");
            for state in line.states.iter().filter(is_ours) {
                let subject = world.lasting(line.kind, state, caller).await;
                let id = subject.id.clone();
                let canary = self.add(line.kind, state, &line.expected, subject);
                if !write(world, line.kind, &id, &canary).await {
                    self.canaries.remove(&canary);
                }
            }
        }
    }

    /// Each type has a state that is hidden from students, and a canary in it.
    fn is_complete(&self) {
        let column = |it: &str| policy::COLUMNS.iter().position(|name| *name == it);
        let student = column("student").expect("a column");
        let hidden = self.canaries.values();
        let hidden = hidden.filter(|it| matches!(it.expected[student], Expected::Refusal(_)));
        let kinds: BTreeSet<_> = hidden.map(|it| it.kind.as_str()).collect();
        for route in registry().routes() {
            let is_without = NOTHING_TO_HIDE.iter().any(|it| it.0 == route.prefix);
            assert!(
                kinds.contains(route.prefix) || is_without,
                "{} has no canary: let the policy name a state that students do not see",
                route.prefix
            );
        }
    }

    /// Asserts that the administrator sees the words, so that they are planted.
    async fn is_seen(&self, world: &World) {
        let admin = world.callers.last().expect("an administrator");
        let mut wrong = Vec::new();
        for (word, canary) in &self.canaries {
            let Canary { kind, subject, .. } = canary;
            if subject.id.is_empty() || canary.is_hidden_from(admin) {
                continue;
            }
            let path = format!("/direct/{kind}/{}.json", subject.id);
            let answer = admin.client.get(&path).await;
            if !answer.text().contains(word) {
                wrong.push(format!("{path}: {}", answer.status));
            }
        }
        assert!(wrong.is_empty(), "not planted:\n{}", wrong.join("\n"));
    }

    /// All addresses at which something might be told of the canaries.
    fn addresses(&self, world: &World, caller: &Caller) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let operations = operations();
        let mut sites = BTreeSet::from([world.sites["course"].clone()]);
        for canary in self
            .canaries
            .values()
            .filter(|it| !it.subject.id.is_empty())
        {
            let Canary { kind, subject, .. } = canary;
            sites.insert(subject.site.clone());
            for operation in &operations[kind.as_str()] {
                for question in requests::of(kind, operation, subject, caller) {
                    if question.method == Method::GET {
                        paths.extend(question.paths);
                    }
                }
            }
            paths.insert(format!("/direct/batch.json?_refs=/{kind}/{}", subject.id));
        }
        sites.remove("");
        for route in registry()
            .routes()
            .filter(|it| it.capabilities().contains(&"list"))
        {
            paths.extend(of_lists(route, &sites));
        }
        for site in &sites {
            paths.extend(of_site(site));
        }
        paths.extend(
            [
                "/portal",
                "/portal/favorites/list",
                "/api/users/me/dashboard",
                "/api/users/me/calendar",
            ]
            .map(ToOwned::to_owned),
        );
        paths
    }
}

/// The addresses of the lists of a type, in each site.
fn of_lists(route: &Route, sites: &BTreeSet<String>) -> Vec<String> {
    let prefix = route.prefix;
    let site = route.schema.role(Role::Site).map_or("siteId", |it| it.name);
    let names = |is_meant: fn(&&Field) -> bool| {
        let fields = route.schema.fields.iter().filter(is_meant);
        let names: Vec<_> = fields.map(|it| it.name).take(5).collect();
        names.join(",")
    };
    let expanded = names(|it| it.references.is_some());
    let ordered = names(|it| it.column.is_some() && it.role == Some(Role::Title));
    let mut paths = Vec::new();
    for format in FORMATS {
        paths.push(format!("/direct/{prefix}.{format}"));
    }
    for id in sites {
        paths.push(format!("/direct/{prefix}.json?{site}={id}&_count=exact"));
        paths.push(format!("/direct/{prefix}.html?{site}={id}"));
        if !expanded.is_empty() {
            paths.push(format!(
                "/direct/{prefix}.json?{site}={id}&_expand={expanded}"
            ));
        }
        if !ordered.is_empty() {
            paths.push(format!(
                "/direct/{prefix}.json?{site}={id}&_order={ordered}&_fields=entityId,{ordered}"
            ));
        }
    }
    paths
}

/// Further addresses that tell of a site.
fn of_site(site: &str) -> Vec<String> {
    let endpoints =
        server::web::api::Endpoints::from_inventory().expect("endpoints that go together");
    let endpoints = endpoints
        .iter()
        .filter(|it| it.verb.is_safe())
        .map(|it| it.path);
    let own = server::pages::portal::ADDRESSES
        .iter()
        .filter(|it| it.verb.is_safe());
    let patterns = endpoints.chain(own.map(|it| it.path));
    let places = [
        ("{siteId}", site),
        ("{userId}", "me"),
        ("{pageId}", "x"),
        ("{placementId}", "x"),
    ];
    let mut paths: Vec<String> = patterns
        .map(|it| {
            let end = format!("/group/{site}/");
            let path = it.replace("/{*path}", &end);
            places
                .iter()
                .fold(path, |path, (name, value)| path.replace(name, value))
        })
        .filter(|it| !it.contains('{') && !it.contains("logout"))
        .collect();
    for route in registry().routes() {
        paths.extend(of_actions(route, site));
    }
    paths.push(format!(
        "/direct/content/resources/group/{site}.json?depth=all"
    ));
    paths
}

/// The addresses at which a type tells of a site, or of all sites of the caller, besides its lists.
fn of_actions(route: &Route, site: &str) -> Vec<String> {
    let is_read = |it: &&ActionRoute| it.verb == Verb::Get && !it.is_on_entity;
    let mut paths = Vec::new();
    for action in route.actions.iter().filter(is_read) {
        let arguments = action.arguments.iter().filter(|it| it.is_required);
        let end: Option<String> = arguments
            .map(|it| {
                SITE_ARGUMENTS
                    .contains(&it.name)
                    .then(|| format!("/{site}"))
            })
            .collect();
        let Some(end) = end else {
            continue;
        };
        for format in FORMATS {
            paths.push(format!(
                "/direct/{}/{}{end}.{format}",
                route.prefix, action.name
            ));
        }
    }
    paths
}

/// The operations by which each type is read.
fn operations() -> BTreeMap<&'static str, BTreeSet<&'static str>> {
    let mut all: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for line in policy::lines() {
        let read = line.operations.into_iter();
        let read = read.filter(|it| !requests::is_write(it) && !it.starts_with("GET:/portal"));
        all.entry(line.kind).or_default().extend(read);
    }
    all
}

fn registry() -> Registry {
    Registry::from_inventory().expect("types that go together")
}

/// Returns whether a word may stand in the field without the row becoming wrong.
fn is_free(field: &Field) -> bool {
    let is_text = matches!(field.kind, Kind::Text(20..));
    let is_prose = [
        "description",
        "comment",
        "text",
        "feedback",
        "notes",
        "location",
        "reason",
    ];
    let is_named = is_prose
        .iter()
        .any(|it| field.name.to_lowercase().contains(it));
    let is_plain =
        field.choices.is_empty() && field.references.is_none() && field.meaning.is_none();
    let is_title = matches!(field.role, Some(Role::Title | Role::Content));
    matches!(field.kind, Kind::Html(_))
        || (is_text && is_plain && (is_title || is_named || field.is_searchable))
}

/// Writes `word` into the texts of a row, past the service, and returns whether there is a text.
async fn write(world: &World, kind: &str, id: &str, text: &str) -> bool {
    let registry = registry();
    let route = registry.route(kind).expect("a type");
    let Some(table) = route.table.map(|it| it()) else {
        return false;
    };
    let is_column = |field: &Field, column: &str| {
        let plain = column.replace('_', "");
        field.column == Some(column) || field.name.eq_ignore_ascii_case(&plain)
    };
    let is_set = |column: &&&str| {
        let mut fields = route.schema.fields.iter();
        **column != table.key
            && fields.any(|it| is_free(it) && it.sql.is_none() && is_column(it, column))
    };
    let columns: Vec<_> = table.written.iter().filter(is_set).collect();
    if columns.is_empty() {
        return false;
    }
    let value = |column: &&&str| format!("\"{column}\" = '{text}'");
    let values: Vec<_> = columns.iter().map(value).collect();
    let sql = format!(
        "UPDATE \"{}\" SET {} WHERE \"{}\" = '{id}'",
        table.name,
        values.join(", "),
        table.key
    );
    let writer = &world.app.service().storage.content.writer;
    let done = writer.execute_unprepared(&sql).await.expect("a row");
    done.rows_affected() == 1
}

/// The words in an answer, as they are, and in whatever is encoded in it.
fn words_in(answer: &Answer) -> BTreeSet<String> {
    let mut text = String::from_utf8_lossy(&answer.body).into_owned();
    for value in answer.headers.values() {
        text.push(' ');
        text.push_str(&String::from_utf8_lossy(value.as_bytes()));
    }
    let mut words = plain_words(&text.to_lowercase());
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || "+/-_".contains(c));
    for token in text.split(is_other).filter(|it| it.len() >= 12) {
        for start in 0..4 {
            let token = token.get(start..).unwrap_or_default();
            let token = token.get(..token.len() / 4 * 4).unwrap_or_default();
            for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                let bytes = engine.decode(token).unwrap_or_default();
                words.extend(plain_words(&String::from_utf8_lossy(&bytes).to_lowercase()));
            }
        }
    }
    words
}

fn plain_words(text: &str) -> BTreeSet<String> {
    let rest = text.split(WORD).skip(1);
    let digits = rest.filter_map(|it| it.get(..5));
    digits
        .filter(|it| it.bytes().all(|it| it.is_ascii_digit()))
        .map(|it| format!("{WORD}{it}"))
        .collect()
}
