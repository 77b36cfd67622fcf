//! Step 3: functions of the type's own, and the roles that hold them.
//!
//! A *function* is a named permission, such as `loan.read`. Roles hold functions in a site. The part of the name before
//! the first dot is the *stem*.
//!
//! # The functions that a type asks for
//!
//! `access` declares the requirements of the four operations:
//!
//! | `access =` | read and list | create | update | delete |
//! |---|---|---|---|---|
//! | `Public` | everybody | super users | super users | super users |
//! | `Session` | everybody with a session | super users | super users | super users |
//! | `Superuser` | super users | super users | super users | super users |
//! | `Site("loan")` | `loan.read` | `loan.new` | `loan.revise.any`; the owner: also `loan.revise.own` | `loan.delete.any`; the owner: also `loan.delete.own` |
//! | `PublicSite("loan")` | `loan.read`; without a session: `loan.read` of the public in that site | as above | as above | as above |
//! | a constant of the type [`Access`](crate::Access) | as it says | as it says | as it says | as it says |
//!
//! All functions are looked up in the site of the entity. For an entity without a site, a requirement in a site means
//! that the caller must be a super user. An anonymous caller of a `PublicSite` finds a list only by naming the site,
//! and gets 401 for an entity that the public may not see, whether it exists or not.
//!
//! ```
//! use entity_core::{Access, Need};
//!
//! /// Everybody in the site reads; whoever may lend writes.
//! const ACCESS: Access = Access::new(Need::Site("loan.read"), Need::Site("loan.lend"));
//! ```
//!
//! Such a constant is named in capitals: `access = ACCESS`.
//!
//! # The roles that hold them
//!
//! `register!` declares the functions, each with the roles that hold it by default:
//!
//! ```standalone_crate
//! # use entity_core::db::{PolicyInputs, RowPolicy};
//! # use entity_core::{DateTimeUtc, Entity};
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
//! entity_core::register!(
//!     Loan,
//!     grants(
//!         "loan.read" = "amsti",
//!         "loan.read.any" = "mti",
//!         "loan.new" = "mi",
//!         "loan.revise.any" = "mi",
//!         "loan.revise.own" = "",
//!         "loan.delete.any" = "mi",
//!         "loan.delete.own" = "",
//!     )
//! );
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! | letter | role |
//! |---|---|
//! | `a` | `access`, in a plain site and in the site of an account |
//! | `m` | `maintain`, in the same sites |
//! | `s` | `Student`, in a course; also `Learner` in a site that an LTI platform created |
//! | `t` | `Teaching Assistant`, in the same sites |
//! | `i` | `Instructor`, in the same sites; also `Administrator`, `ContentDeveloper`, `Faculty` and `Staff` in those of LTI |
//! | `p` | everybody, in a site that is open to public view |
//!
//! Letters have an effect only for roles of the templates of sites. The database can grant or deny a function to a role
//! of a template, and a site can change what its own roles hold (`setPerms`); both win over the letters. A type that
//! declares any function declares all that its `access`, its actions and its `sight` ask for, otherwise the service
//! does not start; `""` declares a function that no role holds by default. A function that the code asks the
//! [`Authorizer`](crate::access::Authorizer) for is not checked and should be declared too.
//!
//! # Without declared functions
//!
//! A function whose stem occurs in no role follows the rights on the site: a name that ends with `.read` means
//! `site.visit`, and every other name means `site.upd`. This is enough for a type that all members of a site read and
//! its maintainers write, as in step 1. It has three limits:
//!
//! - `loan.read.any` does not end with `.read`, so it means `site.upd`.
//! - A site can't grant such a function to a role of its own.
//! - The service itself grants functions of many stems by default, such as `poll`, `chat` and `content`
//!   (`entity-providers/src/storage/migration/default_grants.rs`). A type with one of these stems has no fallback: its
//!   functions are held only if they are in that table or declared.
