//! The crate of a type, the program that links it, its tables, and the errors that stop it at the start.
//!
//! # The crate and the program
//!
//! A type is part of a library. The service with this type is a program of its own, which links the library and calls
//! `server::run`:
//!
//! ```toml
//! [package]
//! name = "my-crate"
//! edition = "2024"
//!
//! [dependencies]
//! entity-core = { path = "../lectern/entity-core", features = ["sea-orm"] }
//! serde = { version = "1", features = ["derive"] }
//! server = { path = "../lectern/server" }
//! ```
//!
//! ```ignore
//! // src/main.rs
//! use my_crate as _;
//!
//! fn main() -> std::process::ExitCode {
//!     server::run()
//! }
//! ```
//!
//! The line `use my_crate as _;` is necessary: types register themselves when the program is linked, and a library that
//! the program does not mention is not linked. Without the line the program works and lacks the type. The program has
//! the command line and the settings of `lectern`; `cargo run -- --demo` serves the demo data with the type. Several
//! crates are linked by one such line each.
//!
//! # Where tables come from
//!
//! The service creates and changes the table that a type names with `table = "loan"`, at each start and by
//! `lectern migrate`. It is created with one column for each stored field, a column with folded text for each field with
//! `search`, an index by site and id, and a foreign key by which rows are deleted with their site. A field that is
//! added to the struct later becomes a column with the empty value of its type in the rows that exist: an empty text, 0
//! (for instants: 1970), `false`, or null for an `Option`.
//!
//! The type declares the facts that the service can't know:
//!
//! - `was = "item"` on a field: the column had this name in a former version, and is renamed.
//! - `dropped("hint")` on the type: the column is removed with what is in it.
//! - `migrations(…)` in [`register!`](crate::register!): statements that change rows, or that make further
//!   indexes. Each [`Migration`](crate::db::Migration) runs once, when the columns of the tables were
//!   renamed and added, and before columns are removed. So a column changes its type by way of a new one: a field with
//!   another `column`, `Migration::of_rows` that fills it from the old one, and `dropped` for the old one. A migration of
//!   rows is passed over where the type's own table has just been created, whatever other tables the same version adds;
//!   one that changes the rows of children says so with
//!   [`in_table`](crate::db::Migration::in_table), and is passed over where theirs has. `lectern migrate --again CRATE
//!   MIGRATION` runs one that was noted once more.
//!
//! A start is refused, and `lectern doctor` says so before, if data would be lost or hidden or rows could not be read or
//! written: a column is left over while another one is new, a column has another type than its field, or a field and
//! its column disagree about null.
//!
//! On PostgreSQL the columns of text have the collation `"C"`, so that both databases order alike. Instants are integers,
//! in milliseconds since 1970.
//!
//! # Settings, and what happens at the start
//!
//! A crate declares its own settings; operators set them in the file, as `ext.my-crate.days = 7`, or in the environment, as
//! `LECTERN_EXT_MY_CRATE_DAYS=7`, and `lectern doctor` lists them. An operation reads one with
//! [`Context::setting`](crate::Context::setting). What a type needs besides the database, such as a client of another
//! service, is made once at the start and found by its type:
//!
//! ```
//! use std::sync::Arc;
//!
//! use entity_core::{Context, Result, Start};
//!
//! entity_core::register_setting! {
//!     /// The maximum number of days that a loan takes.
//!     pub static DAYS: u32 = "days", "14";
//! }
//!
//! entity_core::register_setting! {
//!     /// The address of the catalogue of the equipment.
//!     static CATALOGUE: String = "catalogue", "https://catalogue.example";
//! }
//!
//! struct Catalogue {
//!     url: String,
//! }
//!
//! async fn open_catalogue(start: &mut Start) -> Result<()> {
//!     let url = start.setting(&CATALOGUE)?;
//!     start.provide(Arc::new(Catalogue { url }))
//! }
//! entity_core::register_start!(open_catalogue);
//!
//! fn used_in_an_operation(cx: &Context) -> Result<(u32, String)> {
//!     Ok((cx.setting(&DAYS)?, cx.service::<Catalogue>()?.url.clone()))
//! }
//! ```
//!
//! # Demo data
//!
//! `register!(Loan, demo = include_str!("demo.json"))` names a file with the requests that make the type's entities in the
//! demo database, each as somebody sent it some time ago:
//!
//! ```json
//! [
//!   {"as": "instructor1", "ago": "10d", "send": "POST loan", "name": "microscope",
//!    "body": {"siteId": "biology-101", "title": "A microscope", "due": "{now 4d}"}},
//!   {"as": "student1", "ago": "30h", "send": "POST loan/{microscope}/renew"}
//! ]
//! ```
//!
//! They go through the gate as all requests do, so that what is refused stops the filling with a message. The module
//! [`demo`](crate::engine::demo) describes the form.
//!
//! # What the compiler refuses
//!
//! `#[derive(Entity)]` refuses a struct without an id, a prefix without `access`, attributes that it does not know,
//! fields that can't be columns, a `hidden` field that serde would write, `verbs` without a `table`, a `sight` without a field declared as `facts`, and a
//! composed id that does not end with the key. `register!` refuses a type that is no [`Provider`](crate::Provider). It
//! does not notice missing capabilities: a type without `verbs(…)` is registered without operations.
//!
//! # What stops the start
//!
//! The [`Registry`](crate::Registry) checks all types before the service answers requests. The program then ends with
//! the exit code 1 and one line, such as ``lectern: the type `loan` of the crate `my-crate` has a prefix that is
//! reserved``:
//!
//! | message | cause |
//! |---|---|
//! | ``the prefix `loan` is claimed by the crates `a` and `b` …`` | two types have one prefix |
//! | `… has a prefix that is reserved` | the prefix is `batch` or `describe` |
//! | `… has an illegal prefix …` | the prefix has characters other than `a`–`z`, `0`–`9`, `-` and `_`, or does not begin with a letter |
//! | `… declares no order of its lists: …` | `order` names a field that lists can't be ordered by |
//! | ``… has a field `x` whose declared default is none of its values`` | `default` does not fit the kind or the `choices` |
//! | ``… has a field `xEntity`, which is what the entity of another field is called …`` | `x` is a reference, which `_expand` shows under that name |
//! | ``… has a column `x_folded`, which is where the folded text of another field is …`` | `x` is declared as `search` |
//! | ``… has a rule about who sees an entity that asks for …`` | the `sight` asks for an owner, groups or a field that the type lacks |
//! | ``the table `x` is claimed by the type `a` …`` | two types have one table |
//! | ``… claims `site`, a table of the service …`` | the name of the type's table is taken |
//! | ``… has no field for the column `x.y` …``, ``… reads the column `x.y` as another type …`` | the table does not fit the type: see above |
//! | ``… asks for the function `x` in the site of the entity …`` | the type asks for functions of sites and has no field declared as `site` |
//! | ``… asks for `Need::SiteOrOwn` …`` | ownership counts for single entities only, not for lists and not for actions on the collection |
//! | ``… declares the function `x` …`` | the name of a function has no dot, or has illegal characters |
//! | ``… grants `x` to `y` …`` | a letter in `grants(…)` stands for no role |
//! | ``… asks for the function `x` and does not declare it …`` | the type declares functions, but not all |
//! | ``… has an action with the reserved name `edit` `` | the name of an action is `describe`, `new`, `edit` or `delete` |
//! | ``… has the action `x` twice`` | two actions have the same name, verb and target |
//! | ``… has an action `x` with an argument of the illegal name `y` …`` | an argument's name is `id`, or has characters other than letters and digits |
//! | ``… has an action `x` with two arguments `y` `` | two arguments of an action have one name |
//! | ``… has an action `x` whose argument `y` must be there, behind one that need not`` | a required argument follows an optional one |
//! | ``the crate `x` can't start: …`` | a function of `register_start!` failed |
//! | ``ext.x.y: is not a setting of a linked crate …`` | the configuration names a setting that no linked crate declares |
//! | ``the format `x` is claimed by the crates `a` and `b` …`` | two formats have one name |
//! | ``the format `x` of the crate `a` has an illegal name …`` | the name of a format has characters other than `a`–`z` and `0`–`9` |
//! | ``the database was changed by a newer version of …`` | a newer program or a newer version of a crate has migrated the database |
//!
//! The registry does not look into SQL: a wrong join or a wrong `sql` expression stops the start with the error of the
//! database.
