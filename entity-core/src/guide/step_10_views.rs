//! Step 10: views, and endpoints below `/api`.
//!
//! `/direct` shows entities as they are. A *view* is a struct of its own, made from one type or several for one
//! purpose, such as the page of a portal. It reads entities through the [`gate`](crate::gate), with the permissions of
//! the caller:
//!
//! ```
//! use entity_core::{Context, Need, Result, Search, gate, schemars};
//! # use entity_core::{DateTimeUtc, Entity};
//! # use serde::Serialize;
//! # /// A piece of equipment that somebody has borrowed.
//! # #[derive(Clone, Debug, Serialize, Entity)]
//! # #[serde(rename_all = "camelCase")]
//! # #[entity(prefix = "loan", table = "loan", access = Site("loan"), verbs(read, list, create, update, delete))]
//! # pub struct Loan {
//! #     #[entity(id)]
//! #     loan_id: String,
//! #     #[entity(site)]
//! #     site_id: String,
//! #     #[entity(title, search)]
//! #     item: String,
//! #     due: DateTimeUtc,
//! # }
//!
//! /// What is lent in the sites of the caller.
//! #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
//! pub struct Lent {
//!     /// The names of the equipment.
//!     pub items: Vec<String>,
//! }
//!
//! pub async fn lent(cx: &Context) -> Result<Lent> {
//!     gate::demand_in_site(cx, Need::Session, None).await?;
//!     let mut search = Search::all();
//!     search.narrow_to_sites::<Loan>(cx.authorizer().own_sites(cx).await?)?;
//!     let page = gate::list::<Loan>(cx, search).await?;
//!     let page = page.map(|it| it.item).within(cx.answer_bytes())?;
//!     Ok(Lent { items: page.items })
//! }
//! ```
//!
//! The doc comments and the [`JsonSchema`](crate::schemars::JsonSchema) of the struct describe the answer to clients.
//!
//! A view of one entity says with `#[derive(View)]` which field comes from which, and what is computed from the entity and
//! from what is known beside it, such as what the caller may do: see [`derive(View)`](macro@crate::View).
//!
//! # Endpoints
//!
//! An endpoint is declared beside its handler, and registers as a type does. The handler of the view above, at an
//! address of its own:
//!
//! ```
//! use entity_core::endpoint::{Call, Endpoint};
//! use entity_core::{Context, Result, schemars};
//! # /// The equipment that is lent.
//! # #[derive(Debug, serde::Serialize, schemars::JsonSchema)]
//! # pub struct Lent {
//! #     /// The names of the equipment.
//! #     pub items: Vec<String>,
//! # }
//! # async fn lent(_cx: &Context) -> Result<Lent> {
//! #     Ok(Lent { items: Vec::new() })
//! # }
//!
//! const LENT: Endpoint = Endpoint::get("/api/users/me/loans", "listMyLoans")
//!     .doc("The equipment that is lent in the caller's sites.")
//!     .answers::<Lent>(&handle);
//! entity_core::register_endpoint!(LENT);
//!
//! async fn handle(cx: &Context, _call: Call) -> Result<Lent> {
//!     lent(cx).await
//! }
//! # assert!(LENT.fault().is_none());
//! ```
//!
//! Callers without a session get 401, unless the endpoint is declared [`open`](crate::endpoint::Endpoint::open). An
//! endpoint for another verb than `GET` runs in one unit of work, which is committed before the answer is sent. The
//! OpenAPI document describes every endpoint. Two endpoints that claim one address or one operation id stop the start.
//! Where clients know one answer by two addresses, `register_endpoint!(LENT, also("/api/loans", "listLoans"))` registers
//! both.
