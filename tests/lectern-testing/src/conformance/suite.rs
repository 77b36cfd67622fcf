//! The type under test on a running service: its entities, and the people who ask for them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use entity_core::encode_segment;
use entity_core::engine::Route;
use entity_core::schema::{self, Field, Kind};
use http::{Method, StatusCode};
use serde_json::Value;

use super::making::{Given, Others, Row};
use crate::app::TestApp;
use crate::client::{Answer, Client};
use crate::database::{Backend, OnBackend};
use crate::role::Role;

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
    pub(super) given: Given,
    pub(super) groups: Vec<String>,
    /// The number of entities and values that were made so far.
    pub(super) made: AtomicUsize,
    /// The entities of other types that those of this type need.
    pub(super) others: Mutex<Others>,
    /// The fields that need not be sent and that a rule refuses in a plain entity: type and name.
    pub(super) left_out: Mutex<BTreeSet<(&'static str, &'static str)>>,
}

impl Suite {
    /// Starts a service with all linked types on a database of this kind, and makes entities of the type `prefix`.
    /// Returns `None` where this kind of storage is not installed.
    pub async fn start(
        backend: Backend,
        prefix: &str,
        given: impl Into<Given>,
    ) -> Option<Result<Self, String>> {
        let app = TestApp::on_backend(backend).await?;
        Some(Self::on(app, prefix, given).await)
    }

    /// Makes entities of the type `prefix` on `app`. `given` holds values for the fields for which no generated value
    /// will do, or is the function that makes them.
    ///
    /// # Errors
    /// Returns an error if the type is not registered, or refuses the generated values.
    pub async fn on(app: TestApp, prefix: &str, given: impl Into<Given>) -> Result<Self, String> {
        let given = given.into();
        let found = app.service().dispatcher.registry().route(prefix).cloned();
        let route = found.ok_or_else(|| {
            format!("no type has this prefix: call `entity_core::register!` for `{prefix}`")
        })?;
        let people = people(&app).await;
        let clients = people.iter().map(|it| (it.role, it.client.clone()));
        app.keep(clients.collect());
        if matches!(&given, Given::Values(it) if !it.is_object()) {
            return Err("the given values are no object: write {\"field\": value}".to_owned());
        }
        let mut suite = Self {
            groups: app.groups().await,
            app,
            route,
            people,
            rows: Vec::new(),
            given,
            made: AtomicUsize::new(0),
            others: Mutex::default(),
            left_out: Mutex::default(),
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

    /// Returns the entity `id` as `who` gets it, if so.
    pub(super) async fn get(&self, who: &Person, id: &str) -> Result<Option<Value>, String> {
        let path = format!("{}.json", self.path_of(id));
        let answer = who.client.get(&path).await;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.json())),
            status if is_refusal(status) => Ok(None),
            status => Err(format!(
                "{} gets {status} from {path}: {}",
                who.role,
                answer.text()
            )),
        }
    }

    /// Returns whether `who` gets the entity `id`.
    pub(super) async fn sees(&self, who: &Person, id: &str) -> Result<bool, String> {
        Ok(self.get(who, id).await?.is_some())
    }

    /// Returns the made entities by their ids, as `who` gets them one by one.
    pub(super) async fn shown(&self, who: &Person) -> Result<BTreeMap<String, Value>, String> {
        let mut shown = BTreeMap::new();
        for row in &self.rows {
            let entity = self.get(who, &row.id).await?;
            shown.extend(entity.map(|it| (row.id.clone(), it)));
        }
        Ok(shown)
    }

    /// Returns the ids of the made entities that `who` gets one by one.
    pub(super) async fn seen(&self, who: &Person) -> Result<BTreeSet<String>, String> {
        Ok(self.shown(who).await?.into_keys().collect())
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

/// Returns the JSON at `path`.
pub(super) async fn get_json(who: &Client, path: &str) -> Result<Value, String> {
    let answer = who.get(path).await;
    match answer.status {
        StatusCode::OK => Ok(answer.json()),
        status => Err(format!("{path} answers {status}: {}", answer.text())),
    }
}
