//! The entities that the checks make: of generated values, of values that the author gives, or by the author's function.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use entity_core::engine::Route;
use entity_core::schema::{Field, Kind, Role as FieldRole};
use futures::future::BoxFuture;
use http::StatusCode;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::sample::{self, Surroundings};
use super::suite::Suite;
use crate::app::TestApp;
use crate::client::{Answer, Client};
use crate::role::{OTHER_SITE, Role, SITE};

/// A function that returns the fields of the new entity of this number in a site, for which it may make other things.
pub type Make = for<'a> fn(&'a TestApp, &'a str, usize) -> BoxFuture<'a, Value>;

/// The part of the entities that comes from the author of the type.
#[derive(Clone, Debug)]
pub enum Given {
    /// The values of some fields, for which no generated ones will do.
    Values(Value),
    /// The function that makes the fields of each entity.
    Entities(Make),
}

impl From<Value> for Given {
    fn from(values: Value) -> Self {
        Self::Values(values)
    }
}

/// The ids of entities of other types, by type and site, each with the number of its uses.
pub(super) type Others = BTreeMap<(&'static str, String), (String, usize)>;

/// The most entities that belong to one of another type, which may have no room for more.
const MOST_USES: usize = 40;

/// An entity that was made for the checks.
#[derive(Clone, Debug)]
pub struct Row {
    /// The id.
    pub id: String,
    /// The site in which it is, if it is in one.
    pub site: Option<String>,
    /// The fields that were sent to make it.
    pub sent: Map<String, Value>,
}

impl Row {
    /// Returns whether the entity is in another site than `site`, if that is one.
    pub(super) fn is_beyond(&self, site: Option<&str>) -> bool {
        site.is_some_and(|site| self.site.as_deref().is_some_and(|own| own != site))
    }
}

impl Suite {
    /// Returns whether entities are made by the author's function.
    pub(super) fn has_make(&self) -> bool {
        matches!(self.given, Given::Entities(_))
    }

    fn given(&self, field: &Field) -> Option<&Value> {
        match &self.given {
            Given::Values(values) => values.get(field.name),
            Given::Entities(_) => None,
        }
    }

    pub(super) fn is_given(&self, field: &Field) -> bool {
        self.given(field).is_some()
    }

    /// Returns a number that was never returned before.
    fn next(&self) -> usize {
        self.made.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the surroundings of an entity of the type behind `route` in `site`, where there are the entities `own`.
    fn around(&self, route: &Route, site: &str, own: &[Row]) -> Surroundings {
        // An entity of a site names members of it.
        let roles = match site {
            OTHER_SITE => [Role::OtherStudent, Role::Outsider, Role::OtherStudent],
            _ => [Role::Student, Role::OtherStudent, Role::Instructor],
        };
        let id = |role| self.people.iter().find(|it| it.role == role)?.id.clone();
        let has_groups = route.table.is_some_and(|it| it().groups.is_some());
        let is_of_groups =
            |it: &&Field| it.kind == Kind::List && it.name.to_lowercase().contains("group");
        let mut fields = route.schema.writable(true).filter(|_| has_groups);
        Surroundings {
            site: site.to_owned(),
            users: roles.into_iter().filter_map(id).collect(),
            groups: self.groups.clone(),
            groups_field: fields.find(is_of_groups).map(|it| it.name),
            own: own.iter().map(|it| it.id.clone()).collect(),
            prefix: route.prefix,
            schema: route.schema,
            now: self.app.service().now(),
            number: self.next(),
        }
    }

    /// Returns values of `field` that entities may differ in: the given one or, without it, the generated ones.
    pub(super) fn variants(&self, field: &Field) -> Vec<Value> {
        self.variants_among(field, &self.rows)
    }

    fn variants_among(&self, field: &Field, own: &[Row]) -> Vec<Value> {
        match self.given(field) {
            Some(given) => vec![given.clone()],
            None => sample::variants(field, &self.around(&self.route, SITE, own)),
        }
    }

    /// Returns `value` as a further entity may have it: an id that clients choose, and what is unique, is another one
    /// each time, and so is a text that may be any.
    pub(super) fn unused(&self, field: &Field, value: &Value) -> Value {
        let is_generated = !self.is_given(field) && sample::is_free(field);
        let is_text = matches!(field.kind, Kind::Text(_)) && field.role != Some(FieldRole::Site);
        match is_unique(&self.route, field) || is_generated && is_text {
            true => sample::varied(field, value, self.next()),
            false => value.clone(),
        }
    }

    /// Returns the fields of a new plain entity in `site`, in which no other has the same texts.
    pub(super) async fn fresh(&self, site: &str) -> Result<Map<String, Value>, String> {
        let Given::Entities(make) = &self.given else {
            return self.generated(&self.route, site).await;
        };
        match make(&self.app, site, self.next()).await {
            Value::Object(fields) => Ok(fields),
            other => Err(format!(
                "`make` returns {other}: let it return the fields of an entity as an object"
            )),
        }
    }

    fn generated<'a>(
        &'a self,
        route: &'a Route,
        site: &'a str,
    ) -> BoxFuture<'a, Result<Map<String, Value>, String>> {
        Box::pin(async move {
            let around = self.around(route, site, &self.rows);
            let is_own = route.prefix == self.route.prefix;
            let mut fields = Map::new();
            for field in route.schema.writable(true) {
                let given = self.given(field).filter(|_| is_own);
                let is_wanted = field.is_required || !field.is_nullable && field.default.is_none();
                if given.is_none() && (!is_wanted || self.is_left_out(route, field)) {
                    continue;
                }
                let is_site = field.role == Some(FieldRole::Site);
                // Formats differ in how they write lists, so that plain entities have none unless they must.
                let is_list = matches!(field.kind, Kind::List | Kind::Object) && !field.is_required;
                let value = match (
                    given.filter(|_| !is_site && !is_list),
                    self.other(route, field),
                ) {
                    (Some(given), _) if is_unique(route, field) => {
                        Some(sample::varied(field, given, around.number))
                    }
                    (Some(given), _) => Some(given.clone()),
                    (None, Some(other)) => {
                        let may_be_known = !is_unique(route, field);
                        Some(self.other_entity(other, site, may_be_known).await?.into())
                    }
                    (None, None) => {
                        // Texts have the number of the entity anyway.
                        let is_varied =
                            is_unique(route, field) && !matches!(field.kind, Kind::Text(_));
                        sample::plain(field, &around).map(|it| match is_varied {
                            true => sample::varied(field, &it, around.number),
                            false => it,
                        })
                    }
                };
                fields.extend(value.map(|it| (field.name.to_owned(), it)));
            }
            Ok(fields)
        })
    }

    /// Returns the route of the type that `field` refers to, if an entity of it can be made.
    fn other(&self, route: &Route, field: &Field) -> Option<&Route> {
        let is_there = |it: &&str| !["user", "site", route.prefix].contains(it);
        let prefix = field.references.filter(is_there)?;
        let other = self.app.service().dispatcher.registry().route(prefix)?;
        other.capabilities().contains(&"create").then_some(other)
    }

    /// Returns the id of an entity of the type behind `route` in `site`, which is made unless it `may_be_known` and is.
    async fn other_entity(
        &self,
        route: &Route,
        site: &str,
        may_be_known: bool,
    ) -> Result<String, String> {
        let key = (route.prefix, site.to_owned());
        if let Some((id, uses)) = self.others().get_mut(&key)
            && may_be_known
            && *uses < MOST_USES
        {
            *uses += 1;
            return Ok(id.clone());
        }
        let path = format!("/direct/{}.json", route.prefix);
        let answer = loop {
            let fields = self.generated(route, site).await?;
            let answer = self.superuser().post(&path, &Value::Object(fields)).await;
            if !self.leaves_out(route, &answer) {
                break answer;
            }
        };
        let made = id_of(&answer).filter(|_| answer.status == StatusCode::CREATED);
        let id = made.ok_or_else(|| {
            format!(
                "an entity of the type needs one of `{}`, of which the generated values are refused with {}: {}\n\
                 Make it yourself: conformance!(Type, make = function)",
                route.prefix,
                answer.status,
                answer.text()
            )
        })?;
        self.others().insert(key, (id.clone(), 0));
        Ok(id)
    }

    fn others(&self) -> MutexGuard<'_, Others> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_left_out(&self, route: &Route, field: &Field) -> bool {
        let left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        !field.is_required && left_out.contains(&(route.prefix, field.name))
    }

    /// Leaves out of further entities the fields that need not be sent and that `answer` refuses. Returns whether there are
    /// any more of them than before.
    fn leaves_out(&self, route: &Route, answer: &Answer) -> bool {
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let refused = body["error"]["fields"].as_array().into_iter().flatten();
        let refused: Vec<_> = refused.filter_map(|it| it["name"].as_str()).collect();
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        let before = left_out.len();
        for field in route.schema.fields.iter().filter(|it| !it.is_required) {
            if refused.contains(&field.name) && left_out.insert((route.prefix, field.name)) {
                eprintln!(
                    "`{}` of `{}`: left out of most entities, because its rules refuse a generated value",
                    field.name, route.prefix
                );
            }
        }
        left_out.len() > before
    }

    /// Sends `fields` as a new entity.
    pub(super) async fn post(&self, who: &Client, fields: &Map<String, Value>) -> Answer {
        let path = format!("{}.json", self.path());
        who.post(&path, &Value::Object(fields.clone())).await
    }

    /// Makes a plain entity in `site` as the superuser.
    pub(super) async fn make(&self, site: &str) -> Result<Row, String> {
        let fields = self.fresh(site).await?;
        let answer = self.post(self.superuser(), &fields).await;
        self.row(&answer, site, fields)
            .ok_or_else(|| refused(&answer))
    }

    /// Returns the entity that was made for `site` of the fields `sent`, if it was.
    pub(super) fn row(&self, answer: &Answer, site: &str, sent: Map<String, Value>) -> Option<Row> {
        let id = id_of(answer).filter(|_| answer.status == StatusCode::CREATED)?;
        let mut fields = self.route.schema.writable(true);
        let site = match fields.find(|it| it.role == Some(FieldRole::Site)) {
            Some(field) => sent.get(field.name).and_then(Value::as_str),
            None => Some(site),
        };
        let site = site.map(ToOwned::to_owned);
        Some(Row { id, site, sent })
    }

    /// Returns whether entities of the type are in sites.
    pub(super) fn has_sites(&self) -> bool {
        let schema = self.route.schema;
        schema.role(FieldRole::Site).is_some() || schema.has_site
    }

    /// Makes entities that differ in what rules may look at: site, author, and the value of each field.
    pub(super) async fn make_rows(&self) -> Result<Vec<Row>, String> {
        if !self.can("create") {
            return Ok(Vec::new());
        }
        let first = loop {
            let fields = self.fresh(SITE).await?;
            let answer = self.post(self.superuser(), &fields).await;
            // A rule may refuse what need not be sent.
            if self.has_make() || !self.leaves_out(&self.route, &answer) {
                break self
                    .row(&answer, SITE, fields)
                    .ok_or_else(|| refused(&answer))?;
            }
        };
        let mut rows = vec![first];
        if self.has_sites() {
            rows.push(self.make(OTHER_SITE).await?);
        }
        for role in [Role::Instructor, Role::Student] {
            let fields = self.fresh(SITE).await?;
            if let Some(who) = self.people.iter().find(|it| it.role == role) {
                rows.extend(self.row(&self.post(&who.client, &fields).await, SITE, fields));
            }
        }
        if self.has_make() {
            rows.push(self.make(SITE).await?);
            return Ok(rows);
        }
        // References among entities of the type itself come last, when there are entities to refer to.
        let is_own = |it: &&Field| it.references == Some(self.route.prefix);
        let (own, others): (Vec<_>, Vec<_>) = self.fields().partition(is_own);
        for field in others.into_iter().chain(own) {
            for value in self.variants_among(field, &rows) {
                let mut fields = self.fresh(SITE).await?;
                let value = match is_unique(&self.route, field) {
                    true => self.unused(field, &value),
                    false => value,
                };
                fields.insert(field.name.to_owned(), value);
                let answer = self.post(self.superuser(), &fields).await;
                rows.extend(self.row(&answer, SITE, fields));
            }
        }
        Ok(rows)
    }
}

/// Returns whether no two entities have the same value of `field`, as far as it is declared.
fn is_unique(route: &Route, field: &Field) -> bool {
    let unique = route.table.map_or(&[][..], |it| it().unique);
    field.role == Some(FieldRole::Id) || unique.iter().any(|it| it.field == field.name)
}

/// Returns the id of the entity that `answer` is about, which its header has percent-encoded.
pub(super) fn id_of(answer: &Answer) -> Option<String> {
    let id = percent_decode_str(answer.header("EntityId")?).decode_utf8();
    id.ok().map(Cow::into_owned)
}

fn refused(answer: &Answer) -> String {
    format!(
        "the generated values are refused with {}: {}\nIf they are right to be, give others in place of them: \
         conformance!(Type, {{\"field\": value}}), or make entities yourself: conformance!(Type, make = function)",
        answer.status,
        answer.text()
    )
}
