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
//! | permissions | [`Access`], [`Need`], [`Authorizer`](access::Authorizer), [`gate`] |
//! | lists | [`search`], [`Search`], [`Page`] |
//! | the unit of work | [`Context`], [`mod@unit`] |
//! | errors | [`Error`], [`ErrorKind`] |
//! | formats | [`mod@format`], [`reply`] |
//! | tables for spreadsheets | [`sheet`] |
//! | settings of a crate, and what it does at the start | [`mod@setting`], [`register_setting!`], [`register_start!`] |
//! | events of which people are notified | [`Notice`], [`register_notice!`] |
//! | work at a time | [`register_job!`] |
//! | events that recur, and files of events | [`recurrence`], [`ics`] |
//! | random credentials, of which a table keeps a hash | [`token`] |
//! | addresses below `/api` | [`endpoint`], [`mod@view`] |
//!
//! The modules of this crate are floors, from the bottom up: a file imports from its own floor and from those below it.
//! A request passes through these stages: [`DirectPath`](engine::DirectPath) parses the URL, the
//! [`Dispatcher`](engine::Dispatcher) finds the operation of the [`Route`](engine::Route) and opens a unit of work, the
//! [`gate`] loads, checks and acts, and a [`Renderer`](format::Renderer) writes the [`Reply`](reply::Reply). An
//! [`Endpoint`] answers with a [view](mod@view) of entities at an address of its own. This crate is independent of HTTP,
//! and defines no format and no table of its own.
//!
//! The root holds what authors of entity types write. What else belongs to a subject is in its module, and what servers,
//! formats and stores are written with is in [`engine`].
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `sea-orm`, on by default | storage in SQL databases, and what `#[entity(table = …)]` generates |
//! | `testing` | support for tests of providers |

// Some docs link to the module `db`, which is a feature.
#![cfg_attr(not(feature = "sea-orm"), allow(rustdoc::broken_intra_doc_links))]

/// The primitives, which depend on no other floor: errors, paths, texts, credentials, rules of recurrence, the unit of
/// work.
pub mod primitives {
    pub(crate) mod error;
    pub(crate) mod fold;
    pub(crate) mod label;
    pub(crate) mod nearest;
    pub(crate) mod path;
    pub(crate) mod read_budget;
    pub mod recurrence;
    pub(crate) mod reference;
    pub(crate) mod stable_hash;
    pub(crate) mod text;
    pub mod token;
    pub mod typed;
    pub mod unit;
    pub(crate) mod uri;
    pub(crate) mod verb;
    pub(crate) mod version;
    pub(crate) mod web;

    pub use label::label;
    pub use nearest::nearest;
    pub use stable_hash::stable_hash;
    pub use text::plain_text;
    pub use uri::{to_uri, to_uri_part};
    pub use web::is_web_address;
}

/// The description of an entity: its schema, the shape of what is sent, its form on the wire.
mod model {
    pub(crate) mod any_entity;
    #[cfg(feature = "sea-orm")]
    pub(crate) mod archived;
    pub mod choice;
    pub(crate) mod confusables;
    #[cfg(feature = "sea-orm")]
    pub(crate) mod counted;
    pub(crate) mod entity;
    pub mod file;
    pub mod lines;
    pub(crate) mod look;
    pub mod measure;
    #[cfg(feature = "sea-orm")]
    pub(crate) mod migration;
    pub(crate) mod projection;
    pub mod schema;
    pub mod shape;
    #[cfg(feature = "sea-orm")]
    pub(crate) mod table;
    pub(crate) mod value;
    pub mod wire;
}

/// The contract with authors of types, which they implement or are given: capabilities, access, actions, input, search,
/// replies, events, and the gate, through which every call of a provider goes.
mod contract {
    pub mod access;
    pub mod action;
    pub mod blob;
    pub mod catalog;
    pub(crate) mod changed_fields;
    pub mod context;
    pub(crate) mod edge;
    pub mod endpoint;
    pub(crate) mod event;
    pub(crate) mod event_sink;
    pub mod format;
    pub mod gate;
    pub mod html;
    pub mod ics;
    pub(crate) mod input;
    pub(crate) mod job;
    pub(crate) mod kind;
    pub(crate) mod look_up;
    pub(crate) mod name;
    pub(crate) mod named;
    pub(crate) mod notice;
    pub(crate) mod operation;
    pub(crate) mod origin;
    pub(crate) mod patch;
    pub(crate) mod permission;
    pub(crate) mod preconditions;
    pub(crate) mod preparation;
    pub(crate) mod presence;
    pub(crate) mod provider;
    pub(crate) mod reference_preview;
    pub(crate) mod registry;
    pub mod reply;
    pub(crate) mod request;
    pub(crate) mod response_header;
    pub(crate) mod sanitizer;
    pub mod search;
    pub mod setting;
    pub mod sheet;
    pub(crate) mod start;
    pub(crate) mod stream;
    pub mod view;
    pub(crate) mod wall_clock;
    pub(crate) mod write_queue;
}

/// Storage in SQL databases, which a type with a table gets from its declaration.
#[cfg(feature = "sea-orm")]
pub mod db;

/// The engine, which runs a request: routes, transactions with their events, batches, forms.
///
/// Servers, formats and stores are written with it, not entity types. It is no part of the stable interface: any of it may
/// change with any version.
pub mod engine {
    pub(crate) mod atomic;
    pub(crate) mod builder;
    #[cfg(feature = "sea-orm")]
    pub mod demo;
    pub(crate) mod dispatch;
    pub(crate) mod expand;
    pub(crate) mod given_back;
    pub mod leads;
    pub mod menu;
    pub(crate) mod offer;
    pub mod options;
    #[doc(hidden)]
    pub mod probe;
    pub(crate) mod rehearsal;
    pub(crate) mod route;
    pub(crate) mod write_timeout;
    pub mod zone;

    pub use crate::contract::edge::{Edge, Work};
    pub use crate::contract::event::Event;
    pub use crate::contract::event_sink::{Audit, EventSink};
    pub use crate::contract::job::{Job, JobHook};
    pub use crate::contract::look_up::look_up;
    pub use crate::contract::notice::NoticeRegistration;
    pub use crate::contract::operation::{
        Content, action, allowed, content, is_shown, is_told_done, media_types, reception, sample,
    };
    pub use crate::contract::origin::Origin;
    pub use crate::contract::patch::Patch;
    pub use crate::contract::preconditions::{Freshness, State, Versions};
    pub use crate::contract::preparation::{Made, Preparation};
    pub use crate::contract::presence::{PresenceTracker, Visit, note_visit};
    pub use crate::contract::reference_preview::{ReferencePreview, read_references};
    pub use crate::contract::registry::{
        ActionRoute, DefaultGrant, RESERVED_PREFIXES, Registration, RegistryError, Route,
    };
    pub use crate::contract::request::Request;
    pub use crate::contract::start::{StartHook, StartRegistration};
    pub use crate::contract::stream::{Piece, Pieces, Streaming};
    pub use crate::contract::write_queue::{WritePermit, WriteQueue};
    pub use crate::model::projection::{EXPANDED, Projection};
    pub use crate::primitives::error::{OUTCOME_UNKNOWN, PARTLY_SAVED, QUOTA_EXCEEDED};
    pub use crate::primitives::path::{DirectPath, MAX_PATH, MAX_SEGMENT, MAX_SEGMENTS};
    pub use crate::primitives::read_budget::{LargeResponsePermit, ReadBudget, SMALL};
    pub use atomic::Atomic;
    pub use builder::RouteBuilder;
    pub use dispatch::{Dispatcher, Finish};
    pub use given_back::given_back;
    pub use write_timeout::{Holders, Timer, WriteLimit};
}

pub use contract::{
    access, action, blob, catalog, context, endpoint, format, gate, html, ics, reply, search,
    setting, sheet, view,
};
#[doc(hidden)]
pub use engine::probe;
pub use engine::{leads, menu, options, zone};
#[doc(hidden)]
pub use model::choice;
pub use model::{file, lines, measure, schema, shape, wire};
pub use primitives::{recurrence, token, unit};

#[cfg(feature = "sea-orm")]
pub mod guide;
#[cfg(feature = "testing")]
pub mod testing;

/// An instant, in UTC.
pub type DateTimeUtc = chrono::DateTime<chrono::Utc>;

#[doc(hidden)]
pub use inventory;
pub use schemars;
#[cfg(feature = "sea-orm")]
pub use sea_orm;
#[doc(hidden)]
pub use serde;
#[doc(hidden)]
pub use serde_json;

pub use contract::access::{Access, Caller, Decision, Need, Operation, Permit, Scope};
pub use contract::action::{Action, ActionResult, Answers, Arguments, Created, Data, Done, Submit};
pub use contract::context::Context;
pub use contract::endpoint::Endpoint;
pub use contract::input::{Fields, Input};
pub use contract::name::check_name;
pub use contract::notice::{Audience, Notice, PERSON};
pub use contract::preconditions::{IfMatch, Preconditions};
pub use contract::provider::{Actions, Create, Delete, List, Provider, Read, Update};
pub use contract::registry::Registry;
pub use contract::search::{Page, Search, Window};
pub use contract::start::Start;
pub use entity_core_derive::{Choice, Entity, View, standard};
pub use model::choice::Choice;
pub use model::entity::{
    Content, Enclosure, Entity, EventEntry, EventStatus, FeedEntry, Occurrence,
};
pub use model::value::flag;
pub use primitives::error::{Error, ErrorKind, FieldError, Result};
pub use primitives::path::encode_segment;
pub use primitives::reference::Reference;
pub use primitives::verb::Verb;
pub use primitives::version::Version;
