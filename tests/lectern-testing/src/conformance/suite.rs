//! The type under test on a running service: its entities, and the people who ask for them.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use entity_core::encode_segment;
use entity_core::engine::Route;
use entity_core::schema::{self, Field, Kind};
use http::{Method, StatusCode};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::sample::{self, Surroundings};
use crate::app::TestApp;
use crate::client::{Answer, Client};
use crate::database::{Backend, OnBackend};
use crate::role::{OTHER_SITE, Role, SITE};

/// The most entities in one part of a list.
const PART: usize = 100;
const MOST_PARTS: usize = 20;

/// A client with its account.
#[derive(Clone, Debug)]
pub struct Person {
    /// The role.
    pub role: Role,
    /// The client that sends the requests.
    pub client: Client,
    /// The internal id, or nothing for a stranger.
    pub id: Option<String>,
}

/// An entity that was made for the checks.
#[derive(Clone, Debug)]
pub struct Row {
    /// The id.
    pub id: String,
    /// The fields that were sent to make it.
    pub sent: Map<String, Value>,
}

/// The type under test on a running service.
#[derive(Debug)]
pub struct Suite {
    /// The service.
    pub app: TestApp,
    /// The route of the type.
    pub route: Route,
    /// The people, the superuser first and a stranger last.
    pub people: Vec<Person>,
    /// The entities that were made for the checks.
    pub rows: Vec<Row>,
    given: Map<String, Value>,
    groups: Vec<String>,
    /// The number of ids that were chosen so far.
    chosen: AtomicUsize,
}

impl Suite {
    /// Starts a service with all linked types on a database of this kind, and makes entities of the type `prefix`.
    /// Returns `None` where this kind of storage is not installed.
    pub async fn start(
        backend: Backend,
        prefix: &str,
        given: Value,
    ) -> Option<Result<Self, String>> {
        let app = TestApp::on_backend(backend).await?;
        Some(Self::on(app, prefix, given).await)
    }

    /// Makes entities of the type `prefix` on `app`. `given` holds values for the fields for which no generated value
    /// will do.
    ///
    /// # Errors
    /// Returns an error if the type is not registered, or refuses the generated values.
    pub async fn on(app: TestApp, prefix: &str, given: Value) -> Result<Self, String> {
        let found = app.service().dispatcher.registry().route(prefix).cloned();
        let route = found.ok_or_else(|| {
            format!("no type has this prefix: call `entity_core::register!` for `{prefix}`")
        })?;
        let people = people(&app).await;
        let Value::Object(given) = given else {
            return Err("the given values are no object: write {\"field\": value}".to_owned());
        };
        let mut suite = Self {
            groups: app.groups().await,
            app,
            route,
            people,
            rows: Vec::new(),
            given,
            chosen: AtomicUsize::new(0),
        };
        suite.rows = suite.make_rows().await?;
        Ok(suite)
    }

    /// Returns the superuser as one of the people.
    pub(super) fn first(&self) -> &Person {
        self.people.first().expect("a superuser")
    }

    /// Returns the superuser.
    pub fn superuser(&self) -> &Client {
        &self.first().client
    }

    /// Returns whether the type has the capability `name`: `read`, `list`, `create`, `update`, `delete`, `feed` …
    pub fn can(&self, name: &str) -> bool {
        self.route.capabilities().contains(&name)
    }

    /// Returns the path of the type's collection, without a format.
    pub fn path(&self) -> String {
        format!("/direct/{}", self.route.prefix)
    }

    /// Returns the path of the entity `id`, without a format.
    pub fn path_of(&self, id: &str) -> String {
        format!("{}/{}", self.path(), encode_segment(id))
    }

    /// Returns the fields that clients may write in a creation, but for the site.
    pub(super) fn fields(&self) -> impl Iterator<Item = &'static Field> {
        let fields = self.route.schema.writable(true);
        fields.filter(|it| it.role != Some(schema::Role::Site))
    }

    /// Returns the fields by which lists can be filtered and ordered.
    pub(super) fn columns(&self) -> impl Iterator<Item = &'static Field> {
        let is_long = |kind| matches!(kind, Kind::Html(_) | Kind::List | Kind::Object);
        let fields = self.route.schema.fields.iter();
        fields.filter(move |it| it.column.is_some() && !is_long(it.kind))
    }

    fn around(&self, site: &str, number: usize, own: &[Row]) -> Surroundings {
        // An entity of a site names members of it.
        let roles = match site {
            OTHER_SITE => [Role::OtherStudent, Role::Outsider, Role::OtherStudent],
            _ => [Role::Student, Role::OtherStudent, Role::Instructor],
        };
        let id = |role| self.people.iter().find(|it| it.role == role)?.id.clone();
        let table = self.route.table.map(|it| it());
        let has_groups = table.is_some_and(|it| it.groups.is_some());
        let is_of_groups =
            |it: &&Field| it.kind == Kind::List && it.name.to_lowercase().contains("group");
        let groups_field = self.fields().find(is_of_groups).filter(|_| has_groups);
        Surroundings {
            site: site.to_owned(),
            users: roles.into_iter().filter_map(id).collect(),
            groups: self.groups.clone(),
            groups_field: groups_field.map(|it| it.name),
            own: own.iter().map(|it| it.id.clone()).collect(),
            prefix: self.route.prefix,
            now: self.app.service().now(),
            number,
        }
    }

    /// Returns the internal ids of those whom entities of `site` name.
    pub(super) fn named(&self, site: &str) -> Vec<String> {
        self.around(site, 0, &[]).users
    }

    /// Returns values of `field` that entities may differ in: the given one or, without it, the generated ones.
    pub(super) fn variants(&self, field: &Field) -> Vec<Value> {
        self.variants_among(field, 0, &self.rows)
    }

    fn variants_among(&self, field: &Field, number: usize, own: &[Row]) -> Vec<Value> {
        match self.given.get(field.name) {
            Some(given) => vec![given.clone()],
            None => sample::variants(field, &self.around(SITE, number, own)),
        }
    }

    /// Returns `value` as a creation may send it for `field`: an id that clients choose is another one each time.
    pub(super) fn unused(&self, field: &Field, value: &Value) -> Value {
        match (field.role, value.as_str()) {
            (Some(schema::Role::Id), Some(id)) => {
                let number = self.chosen.fetch_add(1, Ordering::Relaxed);
                format!("{id} {number}").into()
            }
            _ => value.clone(),
        }
    }

    /// Returns the fields of a plain entity in `site`.
    pub(super) fn plain(&self, site: &str, number: usize) -> Map<String, Value> {
        let around = self.around(site, number, &self.rows);
        let wanted = self.route.schema.writable(true).filter(|it| {
            it.is_required || !it.is_nullable && it.default.is_none() || self.is_given(it)
        });
        let values = wanted.filter_map(|field| {
            let given = self.given.get(field.name).cloned();
            let is_site = field.role == Some(schema::Role::Site);
            // Formats differ in how they write lists, so that plain entities have none unless they must.
            let is_list = matches!(field.kind, Kind::List | Kind::Object) && !field.is_required;
            let value = given.filter(|_| !is_site && !is_list);
            let value = value.or_else(|| sample::plain(field, &around))?;
            Some((field.name.to_owned(), self.unused(field, &value)))
        });
        values.collect()
    }

    pub(super) fn is_given(&self, field: &Field) -> bool {
        self.given.contains_key(field.name)
    }

    /// Sends `fields` as a new entity.
    pub(super) async fn post(&self, who: &Client, fields: &Map<String, Value>) -> Answer {
        who.post(
            &format!("{}.json", self.path()),
            &Value::Object(fields.clone()),
        )
        .await
    }

    /// Makes an entity of `fields` as the superuser.
    pub(super) async fn make(&self, fields: Map<String, Value>) -> Result<Row, String> {
        let answer = self.post(self.superuser(), &fields).await;
        made(&answer, fields).ok_or_else(|| refused(&answer))
    }

    /// Makes entities that differ in what rules may look at: site, author, and the value of each field.
    async fn make_rows(&self) -> Result<Vec<Row>, String> {
        if !self.can("create") {
            return Ok(Vec::new());
        }
        let mut rows = vec![self.make(self.plain(SITE, 0)).await?];
        if self.route.schema.role(schema::Role::Site).is_some() {
            rows.push(self.make(self.plain(OTHER_SITE, 1)).await?);
        }
        for role in [Role::Instructor, Role::Student] {
            let who = self.people.iter().find(|it| it.role == role);
            let fields = self.plain(SITE, rows.len());
            if let Some(who) = who {
                rows.extend(made(&self.post(&who.client, &fields).await, fields));
            }
        }
        // References among entities of the type itself come last, when there are entities to refer to.
        let is_own = |it: &&Field| it.references == Some(self.route.prefix);
        let (own, others): (Vec<_>, Vec<_>) = self.fields().partition(is_own);
        for field in others.into_iter().chain(own) {
            for value in self.variants_among(field, rows.len(), &rows) {
                let mut fields = self.plain(SITE, rows.len());
                fields.insert(field.name.to_owned(), value);
                rows.extend(made(&self.post(self.superuser(), &fields).await, fields));
            }
        }
        Ok(rows)
    }

    /// Returns whether `who` gets the entity `id`.
    pub(super) async fn sees(&self, who: &Person, id: &str) -> Result<bool, String> {
        let path = format!("{}.json", self.path_of(id));
        let answer = who.client.get(&path).await;
        match answer.status {
            StatusCode::OK => Ok(true),
            status if is_refusal(status) => Ok(false),
            status => Err(format!(
                "{} gets {status} from {path}: {}",
                who.role,
                answer.text()
            )),
        }
    }

    /// Returns the ids of the made entities that `who` gets one by one.
    pub(super) async fn seen(&self, who: &Person) -> Result<BTreeSet<String>, String> {
        let mut seen = BTreeSet::new();
        for row in &self.rows {
            if self.sees(who, &row.id).await? {
                seen.insert(row.id.clone());
            }
        }
        Ok(seen)
    }

    /// Returns the entities in the list that `who` gets for `query`, from its beginning to its end, and how many there
    /// are in all according to the service; `None` if `who` gets no list.
    pub(super) async fn list(&self, who: &Person, query: &str) -> Result<Option<Listed>, String> {
        let mut listed = Listed::default();
        for part in 0..MOST_PARTS {
            let path = format!(
                "{}.json?_count=exact&_limit={PART}&_start={}{query}",
                self.path(),
                part * PART
            );
            let answer = who.client.get(&path).await;
            if is_refusal(answer.status) {
                return Ok(None);
            }
            if answer.status != StatusCode::OK {
                let (role, status) = (who.role, answer.status);
                return Err(format!(
                    "{role} gets {status} from {path}: {}",
                    answer.text()
                ));
            }
            listed.total = answer
                .header("x-total-count")
                .and_then(|it| it.parse().ok());
            let name = format!("{}_collection", self.route.prefix);
            let items = answer.json()[&name].as_array().cloned().unwrap_or_default();
            let is_end = items.len() < PART.min(usize::try_from(self.route.max).unwrap_or(PART));
            listed.items.extend(items);
            if is_end {
                break;
            }
        }
        Ok(Some(listed))
    }

    /// Sends `body` to `path` as the superuser.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        media_type: &str,
        body: String,
    ) -> Answer {
        let superuser = self.superuser();
        superuser.send(method, path, media_type, body.into()).await
    }
}

/// A list as somebody gets it.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    pub(super) items: Vec<Value>,
    /// The total according to the service.
    pub(super) total: Option<usize>,
}

impl Listed {
    pub(super) fn ids(&self) -> BTreeSet<String> {
        let ids = self.items.iter().filter_map(|it| it["entityId"].as_str());
        ids.map(ToOwned::to_owned).collect()
    }
}

async fn people(app: &TestApp) -> Vec<Person> {
    let mut people = Vec::new();
    for role in Role::ALL {
        let client = app.role(role).await;
        let session = client.get("/direct/session/current.json").await;
        let id = match role {
            Role::Stranger => None,
            _ => session.json()["userId"].as_str().map(ToOwned::to_owned),
        };
        people.push(Person { role, client, id });
    }
    people
}

/// Returns whether the status tells that there is nothing for the caller.
pub(super) fn is_refusal(status: StatusCode) -> bool {
    [
        StatusCode::UNAUTHORIZED,
        StatusCode::FORBIDDEN,
        StatusCode::NOT_FOUND,
    ]
    .contains(&status)
}

fn made(answer: &Answer, sent: Map<String, Value>) -> Option<Row> {
    let id = id_of(answer)?;
    (answer.status == StatusCode::CREATED).then_some(Row { id, sent })
}

/// Returns the id of the entity that `answer` is about, which its header has percent-encoded.
pub(super) fn id_of(answer: &Answer) -> Option<String> {
    let id = percent_decode_str(answer.header("EntityId")?).decode_utf8();
    id.ok().map(Cow::into_owned)
}

fn refused(answer: &Answer) -> String {
    format!(
        "the generated values are refused with {}: {}\nIf they are right to be, give others in place of them: \
         conformance!(Type, {{\"field\": value}})",
        answer.status,
        answer.text()
    )
}

/// Returns the JSON at `path`.
pub(super) async fn get_json(who: &Client, path: &str) -> Result<Value, String> {
    let answer = who.get(path).await;
    match answer.status {
        StatusCode::OK => Ok(answer.json()),
        status => Err(format!("{path} answers {status}: {}", answer.text())),
    }
}
