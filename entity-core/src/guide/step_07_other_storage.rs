//! Step 7: types whose data are stored elsewhere.
//!
//! A type whose entities are not rows of one table, such as the devices of an inventory system, implements the traits
//! of the capabilities itself: [`Read`](crate::Read), [`List`](crate::List), [`Create`](crate::Create),
//! [`Update`](crate::Update) and [`Delete`](crate::Delete), each only if the type has the capability. `prefix` and
//! `access` without a `table` make the struct its own [`Provider`](crate::Provider):
//!
//! ```standalone_crate
//! use std::collections::BTreeMap;
//! use std::sync::{Mutex, MutexGuard, PoisonError};
//!
//! use entity_core::search::select;
//! use entity_core::{
//!     Context, Create, Delete, Entity, Error, List, Page, Read, Result, Search, Update,
//! };
//! use serde::{Deserialize, Serialize};
//!
//! /// A device that can be borrowed.
//! #[derive(Clone, Debug, Serialize, Entity)]
//! #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "device", access = Site("device"))]
//! pub struct Device {
//!     #[entity(id, column)]
//!     device_id: String,
//!     #[entity(site, column, required, on_create)]
//!     site_id: String,
//!     #[entity(title, column, search, required, writable)]
//!     name: String,
//! }
//! entity_core::register!(Device);
//!
//! /// Stands for the client of another system.
//! static INVENTORY: Mutex<BTreeMap<String, Device>> = Mutex::new(BTreeMap::new());
//!
//! fn inventory() -> MutexGuard<'static, BTreeMap<String, Device>> {
//!     INVENTORY.lock().unwrap_or_else(PoisonError::into_inner)
//! }
//!
//! impl Read for Device {
//!     async fn read(_cx: &Context, id: &str) -> Result<Option<Self>> {
//!         Ok(inventory().get(id).cloned())
//!     }
//! }
//!
//! impl List for Device {
//!     async fn list(_cx: &Context, search: &Search) -> Result<Page<Self>> {
//!         let devices = inventory().values().cloned().collect();
//!         select(devices, search)
//!     }
//! }
//!
//! #[derive(Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! pub struct Draft {
//!     site_id: String,
//!     name: String,
//! }
//!
//! impl Create for Device {
//!     type Draft = Draft;
//!
//!     fn site(draft: &Draft) -> Option<&str> {
//!         Some(&draft.site_id)
//!     }
//!
//!     async fn create(cx: &Context, draft: Draft) -> Result<Self> {
//!         let mut inventory = inventory();
//!         let is_taken = |it: &Self| it.site_id == draft.site_id && it.name == draft.name;
//!         if inventory.values().any(is_taken) {
//!             return Err(Error::taken("name", "is the name of another device of the site"));
//!         }
//!         let device = Self { device_id: cx.new_id(), site_id: draft.site_id, name: draft.name };
//!         inventory.insert(device.device_id.clone(), device.clone());
//!         Ok(device)
//!     }
//! }
//!
//! #[derive(Deserialize)]
//! pub struct Changes {
//!     name: Option<String>,
//! }
//!
//! impl Update for Device {
//!     type Changes = Changes;
//!
//!     async fn update(_cx: &Context, mut current: Self, changes: Changes) -> Result<Self> {
//!         if let Some(name) = changes.name {
//!             current.name = name;
//!         }
//!         inventory().insert(current.device_id.clone(), current.clone());
//!         Ok(current)
//!     }
//! }
//!
//! impl Delete for Device {
//!     async fn delete(_cx: &Context, current: Self) -> Result<()> {
//!         inventory().remove(&current.device_id);
//!         Ok(())
//!     }
//! }
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! Without a table, a field is writable only if it says so, is required only if it says so, and can be filtered and
//! ordered by only if it is declared as `column`. Lists without a declared order are ordered by the id if it is a
//! `column`.
//!
//! # What the gate does
//!
//! Providers are called only by the [`gate`](crate::gate), which does the following for every type alike:
//!
//! - It checks the fields that were sent against the schema, sanitises HTML, and decodes the rest into `Draft` or
//!   `Changes`.
//! - It checks `access`: before a creation in the site that [`Create::site`](crate::Create::site) names, before a
//!   change or a deletion with the present state, and after a creation or a change with the new state.
//! - It calls [`Provider::permits`](crate::Provider::permits) for each entity that is returned or written. The derived
//!   provider of a type without a table permits everything. For a rule about single entities, leave out `prefix` and
//!   `access`, and implement `Provider` and the capabilities for another struct, such as `struct Devices;`, whose
//!   [`Entity`](crate::Provider::Entity) is `Device`.
//! - It leaves entities out of lists that the caller may not read, evaluates `If-Match`, skips updates that change
//!   nothing, and emits the event.
//!
//! # What the author does
//!
//! - [`List::list`](crate::List::list) finds only entities within [`Search::scope`](crate::Search::scope).
//!   [`search::select`](crate::search::select()) does this for entities in memory, together with filters, words, order
//!   and page. Entities that `permits` hides should be left out already here, so that pages are full.
//! - A missing entity is `Ok(None)` and no error.
//! - A provider whose clients choose ids calls [`check_name`](crate::check_name) for them, because some names have
//!   another meaning in URLs.
//! - [`List::count`](crate::List::count) returns the number if it is known without looking at each entity.
//! - A type to which others refer overrides [`Read::read_many`](crate::Read::read_many) to avoid a query for each
//!   entity.
//! - A write to another system is not part of the transaction. It is not undone if the request fails later, as when
//!   `permits` refuses the new state or the request was a dry run, and it may run several times if the transaction is
//!   run again. Such a write must therefore be idempotent and harmless, or be done
//!   afterwards by a program that follows the events.
//!
//! A type whose rows come from several tables of the service's database declares the query that returns them:
//! `#[entity(table = "…", source = QUERY)]` without a `prefix`. [`db::list`](crate::db::list),
//! [`db::count`](crate::db::count) and [`db::find`](crate::db::find) read its rows as those of a table; they are written
//! by statements that [`Session::sql`](crate::db::Session::sql) builds.
//!
//! Clients and settings that the provider needs are found by [`Context::service`](crate::Context::service) where the
//! service is put together in code. A program that calls `server::run` can't add services, so the provider keeps them
//! in a `static`, as above.
//!
//! # One verb by hand
//!
//! A type with a table can implement a single capability by hand, if that is left out of `verbs(…)`. It calls the
//! function of [`db`](crate::db) that the derive would have called:
//!
//! ```standalone_crate
//! # use entity_core::{Context, Create, Entity, Error, Fields, Result, db};
//! # use serde::Serialize;
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, update, delete))]
//! pub struct Loan {
//!     // …
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//! #     #[entity(title, search)]
//! #     item: String,
//! }
//!
//! impl Create for Loan {
//!     type Draft = Fields;
//!
//!     fn site(draft: &Fields) -> Option<&str> {
//!         draft.text("siteId")
//!     }
//!
//!     async fn create(cx: &Context, draft: Fields) -> Result<Self> {
//!         let loan: Self = db::create(cx, draft).await?;
//!         cx.add_header("x-loan-desk", "second floor");
//!         Ok(loan)
//!     }
//! }
//! # entity_core::register!(Loan);
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
