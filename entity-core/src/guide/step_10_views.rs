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
//! # Endpoints
//!
//! This guide does not describe yet how a crate registers an endpoint below `/api`.
