//! For this crate's tests: the demo university in a database file of its own, asked through the whole pipeline.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use entity_core::blob::{Blob, BlobStore, BlobWriter, Blobs, Opened};
use entity_core::context::Shared;
use entity_core::db::Db;
use entity_core::db::attached::AttachedFileService;
use entity_core::engine::{DirectPath, Dispatcher, Request};
use entity_core::reply::{Body, Effect, Item};
use entity_core::testing::{KeptEvents, origin, shared};
use entity_core::unit::{Mode, Store};
use entity_core::{Caller, Context, DateTimeUtc, IfMatch, Input, Registry, Result, Verb};
use futures::future::BoxFuture;
use sea_orm::{EntityTrait, IntoActiveModel};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::base::limits::Limits;
use crate::courses::content::Attached;
use crate::face::demo::{self, Summary};
use crate::face::webhook::{WebhookRules, WebhookService};
use crate::people::authorizer::RoleAuthorizer;
use crate::people::user::{Guess, PasswordService, Passwords, Tries, TryService};
use crate::storage::db::realm_grant;
use crate::storage::{db, migration};

/// Turns passwords around: quick, and enough to see that they were not stored as they are.
#[derive(Debug)]
struct Backwards;

#[async_trait]
impl Passwords for Backwards {
    async fn hash(&self, password: &str) -> Result<String> {
        Ok(password.chars().rev().collect())
    }

    async fn verify(&self, password: &str, stored: &str) -> Result<bool> {
        Ok(self.hash(password).await? == stored)
    }
}

/// Keeps no bytes.
#[derive(Debug)]
struct Nowhere;

#[async_trait]
impl BlobStore for Nowhere {
    async fn begin(&self) -> Result<Box<dyn BlobWriter>> {
        Ok(Box::new(Self))
    }

    async fn open(&self, _blob: &Blob, _range: Range<u64>) -> Result<Option<Opened>> {
        Ok(None)
    }

    async fn delete(&self, _blob: &Blob) -> Result<()> {
        Ok(())
    }

    async fn list(&self, _: Option<&Blob>, _most: usize, _age: Duration) -> Result<Vec<Blob>> {
        Ok(Vec::new())
    }

    async fn clean(&self, _age: Duration) -> Result<()> {
        Ok(())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }

    async fn owner(&self) -> Result<Option<String>> {
        Ok(None)
    }

    async fn set_owner(&self, _owner: &str) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl BlobWriter for Nowhere {
    async fn write(&mut self, _bytes: Bytes) -> Result<()> {
        Ok(())
    }

    async fn finish(&mut self) -> Result<()> {
        Ok(())
    }

    async fn keep(self: Box<Self>, _blob: &Blob) -> Result<()> {
        Ok(())
    }
}

/// Counts nothing.
#[derive(Debug)]
struct Patient;

impl Tries for Patient {
    fn ask(&self, _guess: Guess, _account: &str, _now: DateTimeUtc) -> Result<()> {
        Ok(())
    }
}

/// Sends to every address, with a secret that is none.
struct Anywhere;

impl WebhookRules for Anywhere {
    fn host(&self, url: &str) -> std::result::Result<String, String> {
        Ok(url.to_owned())
    }

    fn secret(&self) -> Result<String> {
        Ok(String::new())
    }
}

/// A service on a database file that goes away with it.
pub(crate) struct Testbed {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) db: Db,
    authorizer: Arc<RoleAuthorizer>,
    summary: Option<Summary>,
    _directory: TempDir,
}

impl Testbed {
    /// One with tables and nothing else.
    pub(crate) async fn empty() -> Self {
        Self::hashing(Arc::new(Backwards)).await
    }

    /// The same, with another way to turn passwords into what is stored.
    pub(crate) async fn hashing(passwords: Arc<dyn Passwords>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("test.db");
        let db = db::connect(&format!("sqlite://{}", path.display()))
            .await
            .unwrap();
        db::migrate(&db, migration::migrations).await.unwrap();
        let registry = Arc::new(Registry::from_inventory().unwrap());
        db::ensure_tables(&db, &registry).await.unwrap();
        let authorizer = Arc::new(RoleAuthorizer::new());
        let mut shared: Shared = shared(RoleAuthorizer::new());
        shared.authorizer = authorizer.clone();
        shared.services.insert(authorizer.clone());
        shared.services.insert(Arc::clone(&registry));
        shared.services.insert(Arc::new(PasswordService(passwords)));
        shared.services.insert(Arc::new(Limits::default()));
        shared.services.insert(Arc::new(Blobs::new(Nowhere)));
        let attached = AttachedFileService(Arc::new(Attached));
        shared.services.insert(Arc::new(attached));
        let rules = WebhookService(Arc::new(Anywhere));
        shared.services.insert(Arc::new(rules));
        let tries = TryService(Arc::new(Patient));
        shared.services.insert(Arc::new(tries));
        let sink = Arc::new(KeptEvents::default());
        let dispatcher = Dispatcher::new(registry, Arc::new(db.clone()), sink, shared);
        Self {
            dispatcher,
            db,
            authorizer,
            summary: None,
            _directory: directory,
        }
    }

    /// One with the demo university in it.
    pub(crate) async fn demo() -> Self {
        Self::empty().await.filled().await
    }

    /// The same with the demo university in it.
    pub(crate) async fn filled(mut self) -> Self {
        self.summary = self.fill().await.unwrap();
        self
    }

    /// Fills in the demo university, if there is nothing yet.
    pub(crate) async fn fill(&self) -> Result<Option<Summary>> {
        let filled = demo::fill(&self.dispatcher, &origin(Caller::anonymous()), "no hash").await;
        self.authorizer.forget();
        filled
    }

    /// Returns the demo university that was filled in.
    pub(crate) fn summary(&self) -> &Summary {
        self.summary.as_ref().unwrap()
    }

    /// The internal id of the user `eid`.
    pub(crate) fn id(&self, eid: &str) -> &str {
        &self.summary().cast.person(eid).unwrap().id
    }

    /// The id of the group `title`.
    pub(crate) fn group(&self, title: &str) -> &str {
        let groups = &self.summary().groups;
        &groups.iter().find(|it| it.0 == title).unwrap().1
    }

    /// The user `eid` as a caller; nobody is empty.
    pub(crate) fn caller(&self, eid: &str) -> Caller {
        match eid {
            "" => Caller::anonymous(),
            eid => Caller::user(self.id(eid), eid),
        }
    }

    /// Makes the authorizer forget what it knew, as after a commit.
    pub(crate) fn forget(&self) {
        self.authorizer.forget();
    }

    /// Lets `role` do `function` in `site`.
    pub(crate) async fn grant(&self, site: &str, role: &str, function: &str) {
        let row = realm_grant::Model {
            realm: format!("/site/{site}"),
            role: role.to_owned(),
            function: function.to_owned(),
            is_granted: true,
        };
        realm_grant::Entity::insert(row.into_active_model())
            .exec_without_returning(&self.db.writer)
            .await
            .unwrap();
        self.authorizer.forget();
    }

    /// A context that reads for `eid`.
    pub(crate) async fn reader(&self, eid: &str) -> Context {
        let unit = self.db.begin(Mode::Read).await.unwrap();
        let shared = self.dispatcher.shared().clone();
        Context::new(shared, origin(self.caller(eid)), unit)
    }

    /// Runs `work` for `caller` and commits it.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        caller: Caller,
        work: impl for<'a> Fn(&'a Context) -> BoxFuture<'a, Result<T>> + Send + Sync,
    ) -> Result<T> {
        let done = self
            .dispatcher
            .write(&origin(caller), |cx| {
                let work = work(cx);
                Box::pin(async move { Ok((work.await?, Effect::Read)) })
            })
            .await;
        self.authorizer.forget();
        done
    }

    /// Returns the answer of `GET path` to the user `eid`.
    pub(crate) async fn get(&self, eid: &str, path: &str) -> Result<Value> {
        self.send(eid, Verb::Get, path, &Value::Null).await
    }

    /// Returns the answer of `verb path` with a body to the user `eid`: an object, an array of objects, or null.
    pub(crate) async fn send(
        &self,
        eid: &str,
        verb: Verb,
        path: &str,
        body: &Value,
    ) -> Result<Value> {
        self.send_if(eid, verb, path, body, None).await
    }

    /// The same, under a condition.
    pub(crate) async fn send_if(
        &self,
        eid: &str,
        verb: Verb,
        path: &str,
        body: &Value,
        if_match: Option<IfMatch>,
    ) -> Result<Value> {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let query = query.split('&').filter_map(|it| it.split_once('='));
        let request = Request {
            path: DirectPath::parse(&format!("/{path}"), |_| false)?,
            verb,
            query: query
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            input: Input {
                fields: body.as_object().cloned().unwrap_or_else(Map::new),
                ..Input::default()
            },
            preconditions: if_match.into(),
            is_dry_run: false,
            wants_allowed_actions: false,
            origin: origin(self.caller(eid)),
        };
        let reply = self.dispatcher.dispatch(&request).await;
        if !verb.is_safe() {
            self.authorizer.forget();
        }
        Ok(match reply?.body {
            Body::Entity(item) => to_json(&item),
            Body::Collection(it) => it.items.iter().map(to_json).collect(),
            Body::Value(value) => json!(&*value.data),
            _ => Value::Null,
        })
    }
}

fn to_json(item: &Item) -> Value {
    json!(item.data())
}

/// The texts of one key, in order.
pub(crate) fn texts<'a>(list: &'a Value, key: &str) -> Vec<&'a str> {
    let items = list.as_array().unwrap().iter();
    items.map(|it| it[key].as_str().unwrap()).collect()
}
