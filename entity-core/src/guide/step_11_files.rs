//! Step 11: files that people upload and download.
//!
//! A row keeps of a file what identifies its bytes, a [`Blob`](crate::blob::Blob): digest and size. The bytes are in the store
//! of the service, a folder that all its nodes share, and are never in memory as a whole.
//!
//! ```standalone_crate
//! use entity_core::blob::{Blob, Receive, Room, StoredFile, Target};
//! use entity_core::{
//!     Action, ActionResult, Actions, Answers, Arguments, Context, Entity, Error, Need, Result, Verb, db,
//! };
//! # use serde::Serialize;
//!
//! /// A manual of a piece of equipment.
//! #[derive(Clone, Debug, Serialize, Entity)]
//! #[serde(rename_all = "camelCase")]
//! #[entity(prefix = "manual", table = "manual", access = Site("manual"), check = Self::check)]
//! #[entity(verbs(read, list, create, update, delete))]
//! pub struct Manual {
//!     #[entity(id)]
//!     manual_id: String,
//!     #[entity(site)]
//!     site_id: String,
//!     /// The name of the file, unless another title is sent.
//!     #[entity(title, optional)]
//!     name: String,
//!     #[serde(skip)]
//!     #[entity(hidden)]
//!     bytes: Option<Blob>,
//!     #[entity(version)]
//!     version: i64,
//! }
//! entity_core::register!(Manual);
//!
//! impl Receive for Manual {
//!     async fn room(_cx: &Context, _target: Target<'_>) -> Result<Room> {
//!         Ok(Room::of(20 << 20))
//!     }
//! }
//!
//! impl Manual {
//!     fn check(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
//!         if let Some(upload) = cx.uploads().first() {
//!             self.bytes = Some(upload.blob);
//!             if self.name.is_empty() {
//!                 self.name = upload.name.clone().unwrap_or_default();
//!             }
//!         }
//!         Ok(())
//!     }
//! }
//!
//! impl Actions for Manual {
//!     fn actions() -> Vec<Action<Self>> {
//!         vec![
//!             Action::entity(Verb::Get, "file", Need::Session, download)
//!                 .doc("The manual itself.")
//!                 .answers(Answers::Bytes(&["*/*"])),
//!             Action::entity(Verb::Put, "file", Need::Site("manual.revise.any"), replace)
//!                 .doc("Replaces the manual by the body of the request.")
//!                 .receiving(),
//!         ]
//!     }
//! }
//!
//! async fn download(_cx: &Context, manual: Manual, _: Arguments) -> Result<ActionResult<Manual>> {
//!     let bytes = manual.bytes.ok_or_else(Error::not_found)?;
//!     Ok(ActionResult::File(StoredFile::named(bytes, manual.name).inline()))
//! }
//!
//! async fn replace(cx: &Context, manual: Manual, arguments: Arguments) -> Result<Manual> {
//!     let mut changed = manual.clone();
//!     changed.bytes = Some(arguments.upload()?.blob);
//!     db::replace(cx, manual, changed).await
//! }
//! # fn main() {
//! #     entity_core::Registry::from_inventory().unwrap();
//! # }
//! ```
//!
//! # Taking files
//!
//! A type that takes files implements [`Receive`](crate::blob::Receive). From then on,
//!
//! - `POST /manual` and `PUT /manual/ID` also take forms with files, `multipart/form-data`, whose fields are those of
//!   any other form;
//! - an action that is declared [`receiving`](crate::Action::receiving) takes such forms, and takes a body of any other
//!   type as a file. Its name may be in the header `Content-Disposition`.
//!
//! The steps of such a request are these. The permissions are checked, and [`room`](crate::blob::Receive::room) says how many
//! bytes may come, both before the body is read; so the fields that matter for them stand before the first file of a form.
//! The bytes are streamed into the store. Then the unit of work opens, everything is checked again, and the operation
//! finds the files by [`Context::uploads`](crate::Context::uploads) or, in an action, by
//! [`Arguments::upload`](crate::Arguments::upload). If the request is refused in the end, or if the client goes away, no
//! row names the bytes, and they are removed later.
//!
//! The media type of a file follows from its name; its bytes are never looked at. The names are without folders and
//! control characters, and no name is ever a path on the disk.
//!
//! Bytes that the type makes by itself are stored by [`db::blobs::keep`](crate::db::blobs::keep).
//!
//! # Serving files
//!
//! An action that reads answers with a [`StoredFile`](crate::blob::StoredFile), after the gate has checked who may read the
//! entity. The service streams it, with a tag, a date if the file has [one](crate::blob::StoredFile::modified), and answers to
//! requests for a part. A browser saves the file, unless it is declared [`inline`](crate::blob::StoredFile::inline) and of a type
//! that can't run code: the common images, audio, video, PDF and plain text. Several files are one answer as a
//! [`Bundle`](crate::blob::Bundle): a zip archive, which is written while it is sent. Other bytes that are too many for the memory
//! are [`Pieces`](crate::engine::Pieces), each of which is read when the one before it was sent.
//!
//! # Fields
//!
//! A field `Option<Blob>` is declared as `#[serde(skip)]` and `#[entity(hidden)]`, in the type or in one of its children.
//! Clients neither see nor send digests, because whoever could name one could read the file of somebody else. Several rows
//! may name one file; a row is copied with the blob in it.
//!
//! The service removes a file when no row names it for an hour. It looks into the columns `Option<Blob>` of all
//! registered types: a file that is named elsewhere is lost.
