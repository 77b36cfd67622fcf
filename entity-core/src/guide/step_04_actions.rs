//! Step 4: actions, which are named operations on an entity or on the collection.
//!
//! An action is an `async fn` and an [`Action`](crate::Action) that declares its verb, its name and its requirement.
//! The type below has one of each kind: `POST /loan/ID/return`, `GET /loan/statistics/SITE` and
//! `GET /loan/overdue/SITE`.
//!
//! ```standalone_crate
//! use entity_core::db::{self, PolicyInputs, RowPolicy};
//! use entity_core::{
//!     Action, Actions, Arguments, Context, Data, DateTimeUtc, Entity, Error, Need, Provider as _, Reference, Result,
//!     Search, Verb, gate,
//! };
//! # use serde::Serialize;
//! # const SIGHT: RowPolicy = RowPolicy::Any(&[RowPolicy::Own, RowPolicy::Holds("loan.read.any")]);
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! # #[entity(sight = SIGHT)]
//! # pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//! #     #[entity(owner, on_create, references = "user")]
//! #     borrower: String,
//! #     #[entity(title, search)]
//! #     item: String,
//! #     due: DateTimeUtc,
//! #     #[entity(read_only)]
//! #     returned: Option<DateTimeUtc>,
//! #     #[entity(version)]
//! #     version: i64,
//! #     #[serde(skip)]
//! #     #[entity(facts)]
//! #     facts: PolicyInputs,
//! # }
//! # entity_core::register!(Loan);
//!
//! impl Actions for Loan {
//!     fn actions() -> Vec<Action<Self>> {
//!         vec![
//!             Action::entity(Verb::Post, "return", Need::Site("loan.revise.any"), give_back)
//!                 .doc("Notes that the equipment came back."),
//!             Action::collection(Verb::Get, "statistics", Need::Site("loan.read.any"), statistics)
//!                 .doc("The number of loans of a site.")
//!                 .argument("siteId", "The site."),
//!             Action::list("overdue", Self::ACCESS.read, overdue)
//!                 .doc("The loans of a site that should have come back.")
//!                 .argument("siteId", "The site."),
//!         ]
//!     }
//! }
//!
//! async fn give_back(cx: &Context, loan: Loan, _: Arguments) -> Result<Loan> {
//!     if loan.returned.is_some() {
//!         return Err(Error::conflict("the equipment is back already"));
//!     }
//!     let returned = Loan {
//!         returned: Some(cx.now()),
//!         ..loan.clone()
//!     };
//!     let returned = db::replace(cx, loan, returned).await?;
//!     let reference = Reference::entity(Loan::PREFIX, returned.id());
//!     cx.emit("loan.return", reference.to_string(), returned.site());
//!     Ok(returned)
//! }
//!
//! async fn statistics(cx: &Context, arguments: Arguments) -> Result<Data<u64>> {
//!     let mut search = Search::all();
//!     search.narrow_to_site::<Loan>(arguments.argument("siteId")?)?;
//!     let count = gate::count::<Loan>(cx, search).await?;
//!     Ok(Data(count.unwrap_or_default()))
//! }
//!
//! async fn overdue(cx: &Context, arguments: Arguments) -> Result<Search> {
//!     let mut search = arguments.search()?.clone();
//!     search.narrow_to_site::<Loan>(arguments.argument("siteId")?)?;
//!     search.narrow(Loan::FIELD.due.lt(cx.now()));
//!     search.narrow(Loan::FIELD.returned.is_null());
//!     Ok(search)
//! }
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! # The three kinds
//!
//! | constructor | address | before the function is called | the function gets |
//! |---|---|---|---|
//! | [`Action::entity`](crate::Action::entity) | `/loan/ID/name` | the entity is loaded; the caller may read it and meets the need in its site; `If-Match` holds, if the verb writes | the entity |
//! | [`Action::collection`](crate::Action::collection) | `/loan/name` | the caller meets the need; a need in a site applies to the site that the first path argument names | the arguments |
//! | [`Action::list`](crate::Action::list) | `/loan/name` | the same | the parsed query of the type's lists, which it narrows |
//!
//! - `register!` finds the actions by itself, because the type implements [`Actions`](crate::Actions). The trait
//!   requires [`Read`](crate::Read).
//! - A need in a site on the collection requires a path argument: without one the request is refused with 400.
//! - [`Need::SiteOrOwn`](crate::Need::SiteOrOwn) lets owners run an action on their entities. An action on the
//!   collection can't ask for it: the service does not start.
//! - An action with `Verb::Get` runs in a session that can't write.
//! - Nobody checks the permission to update around an action that writes: its need is the permission.
//! - [`db::replace`](crate::db::replace) runs `check` and `settle`, counts the version up and refuses to overwrite a
//!   concurrent change. It emits no event; the action does that by [`Context::emit`](crate::Context::emit).
//! - The function may run again in a new transaction if the transaction loses a race. It must not have effects outside
//!   of the database.
//!
//! # Answers
//!
//! The type that the function returns tells clients and the negotiation of formats what the action answers:
//!
//! | returned | answer |
//! |---|---|
//! | the entity | the entity |
//! | [`Created`](crate::Created)`(entity)` | the same, with the status 201 |
//! | a [`Search`](crate::Search) | the list that it asks for, with the permissions, the page and the count of the type's own list |
//! | [`Data`](crate::Data)`(value)` | data that is no entity |
//! | `()` | nothing, with the status 204 |
//! | [`Done`](crate::Done) | nothing, with the status 200, where existing clients expect that |
//! | an [`ActionResult`](crate::ActionResult) | whatever the function decides, such as a file; the action declares it by [`answers`](crate::Action::answers) |
//!
//! Entities are checked like those of a read, so that a caller gets no entity that the caller may not read.
//!
//! An action that answers with a table for spreadsheets, or takes one, uses [`sheet`](crate::sheet): cells are never
//! formulas, faults name their line and column, and a [`Report`](crate::sheet::Report) tells as a preview what an import
//! would change.
//!
//! Further path segments are declared by [`argument`](crate::Action::argument), and query parameters by
//! [`parameters`](crate::Action::parameters). The body is in [`Arguments::input`](crate::Arguments::input), as it was
//! sent and not checked against the schema.
