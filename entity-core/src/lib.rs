//! The core framework of Lectern: entity types that register themselves, and one pipeline from request to reply.
//!
//! An entity type is a struct. This complete example has a table, search, forms and feeds:
//!
//! ```
//! use entity_core::{DateTimeUtc, Entity};
//!
//! /// A note that the members of a site share.
//! #[derive(Clone, Debug, serde::Serialize, serde::Deserialize, Entity)]
//! #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "note", table = "note", access = Site("note"), verbs(read, list, create, update, delete))]
//! pub struct Note {
//!     #[entity(id)]
//!     note_id: String,
//!     #[entity(site)]
//!     site_id: String,
//!     /// The subject line.
//!     #[entity(title, search, required)]
//!     subject: String,
//!     #[entity(updated)]
//!     modified: DateTimeUtc,
//! }
//! entity_core::register!(Note);
//! ```
//!
//! The service creates the table. The struct's fields are the schema: `GET /direct/note` lists notes, `POST` creates
//! one, and `_search`, filters and orders work by the declared columns. Reading requires the function `note.read` in
//! the site of the note, creating `note.new`, and so on. As long as no role knows these functions, whoever may visit
//! the site reads its notes, and whoever may change the site writes them.
#![cfg_attr(
    feature = "sea-orm",
    doc = "
# For authors of entity types

The module [`guide`] explains in steps what else a type may have, how a program is made with it, and what a
provider must do whose data are stored elsewhere. [`derive(Entity)`](macro@Entity) lists all attributes.
"
)]
//! # Overview
//!
//! | subject | where |
//! |---|---|
//! | an instance of a type, and its schema | [`Entity`], [`schema`] |
//! | a type with its capabilities | [`Provider`], [`Read`], [`List`], [`Create`], [`Update`], [`Delete`], [`Actions`] |
//! | registration, and the checks at the start | [`register!`], [`Registry`] |
//! | who may do what | [`Access`], [`Need`], [`Authorizer`], [`gate`] |
//! | lists | [`search`], [`Search`], [`Page`] |
//! | the unit of work | [`Context`], [`mod@unit`] |
//! | errors | [`Error`], [`ErrorKind`] |
//! | formats | [`mod@format`], [`reply`] |
//! | tables for spreadsheets | [`sheet`] |
//! | settings of a crate, and what it does at the start | [`mod@setting`], [`register_setting!`], [`register_start!`] |
//! | events of which people are notified | [`Notice`], [`register_notice!`] |
//! | events that recur, and files of events | [`recurrence`], [`ics`] |
//! | random credentials, of which a table keeps a hash | [`token`] |
//! | addresses below `/api` | [`endpoint`], [`mod@view`] |
//!
//! A request passes through these stages: [`DirectPath`] parses the URL, [`Dispatcher`] finds the operation of the
//! [`Route`] and opens a unit of work, the [`gate`] loads, checks and acts, and a [`Renderer`](format::Renderer) writes
//! the [`Reply`]. An [`Endpoint`] answers with a [view](mod@view) of entities at an address of its own. This crate is
//! independent of HTTP, and defines no format and no table of its own.
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `sea-orm`, on by default | storage in SQL databases, and what `#[entity(table = …)]` generates |
//! | `testing` | support for tests of providers |

// Some docs link to the module `db`, which is a feature.
#![cfg_attr(not(feature = "sea-orm"), allow(rustdoc::broken_intra_doc_links))]

pub mod access;
pub mod action;
mod atomic;
pub mod blob;
pub mod catalog;
pub mod context;
#[cfg(feature = "sea-orm")]
pub mod db;
mod demo;
mod dispatch;
pub mod endpoint;
mod entity;
mod error;
mod event;
mod expand;
pub mod file;
pub mod format;
pub mod gate;
#[cfg(feature = "sea-orm")]
pub mod guide;
mod hold;
pub mod html;
pub mod ics;
mod input;
mod label;
mod large;
pub mod leads;
pub mod lines;
mod name;
mod notice;
mod offer;
mod operation;
mod patch;
mod path;
mod preconditions;
mod prepare;
#[doc(hidden)]
pub mod probe;
mod projection;
mod provider;
pub mod recurrence;
mod registry;
mod repetition;
pub mod reply;
mod request;
mod route;
mod scatter;
pub mod schema;
pub mod search;
pub mod setting;
pub mod shape;
pub mod sheet;
mod sighted;
mod signs;
mod start;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod text;
pub mod token;
mod turn;
pub mod unit;
mod uri;
mod value;
pub mod view;
mod visits;
mod wall_clock;
mod web;
pub mod wire;

/// An instant, in UTC.
pub type DateTimeUtc = chrono::DateTime<chrono::Utc>;

#[doc(hidden)]
pub use inventory;
pub use schemars;
#[cfg(feature = "sea-orm")]
#[doc(hidden)]
pub use sea_orm;
#[doc(hidden)]
pub use serde_json;

pub use access::{Access, Authorizer, Caller, Decision, Need, Operation, Permit, Scope, User};
pub use action::{Action, Answers, Argument, Arguments, Outcome, Rest};
pub use atomic::Atomic;
pub use blob::{Blob, Blobs, Bundle, Receive, Reception, StoredFile, Upload};
pub use context::{Clock, Context, Ids, Services, Shared};
pub use demo::{Demo, FillDemo};
pub use dispatch::{Dispatcher, Finish, look_up};
pub use endpoint::Endpoint;
pub use entity::{Enclosure, Entity, EventEntry, FeedEntry, Occurrence, Version};
pub use entity_core_derive::{Entity, View, standard};
pub use error::{Error, ErrorKind, FieldError, OUTCOME_UNKNOWN, QUOTA_EXCEEDED, Result};
pub use event::{Audit, Event, EventSink};
pub use hold::{Timer, WriteLimit};
pub use input::{Fields, Input};
pub use label::label;
pub use large::{LargeAnswer, Reading, SMALL};
pub use name::check_name;
pub use notice::{Audience, Notice, NoticeRegistration, PERSON};
pub use operation::{
    Content, allowed, content, is_shown, is_told_done, media_types, reception, sample,
};
pub use patch::Patch;
pub use path::{DirectPath, MAX_PATH, MAX_SEGMENT, MAX_SEGMENTS, encode_segment};
pub use preconditions::{Freshness, IfMatch, Preconditions, State, Versions};
pub use prepare::{Preparation, Prepare};
pub use projection::{EXPANDED, Projection};
pub use provider::{Actions, Create, Delete, List, Provider, Read, Update};
pub use registry::{
    ActionRoute, Grant, RESERVED_PREFIXES, Registration, Registry, RegistryError, Route,
    RouteBuilder,
};
pub use reply::{
    Abilities, Body, Bytes, Choice, Collection, Effect, Form, FormPurpose, Item, Offer, Prompt,
    Questionnaire, Reference, Refusal, Remark, Reply, Sending,
};
pub use request::{Origin, Request, Verb};
pub use scatter::scattered;
pub use search::{Filter, MAX_LIMIT, Operator, Order, Page, Search, Window};
pub use setting::{Setting, SettingRegistration, Settings};
pub use sighted::{Sighted, read_references};
pub use start::{Start, StartHook, StartRegistration};
pub use stream::{Piece, Pieces, Streaming};
pub use text::plain_text;
pub use turn::{Right, Turn, Turns};
pub use uri::{to_uri, to_uri_part};
pub use value::flag;
pub use visits::{Visit, Visits, note_visit};
pub use web::is_web_address;
