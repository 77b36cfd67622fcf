//! Operations that take files, and the files that they get.

use futures::future::BoxFuture;

use super::Upload;
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::contract::provider::Provider;
use crate::primitives::error::Result;

/// A provider that takes files: with the actions that are declared [`receiving`](crate::Action::receiving), and in the
/// creation and the change of an entity.
///
/// The service asks for the [`room`](Self::room) before it reads the body, once it is clear that the caller may do what
/// the request asks for. Then it stores the files, and then the unit of work opens, in which everything is checked
/// again. The operation finds the files by [`Context::uploads`].
pub trait Receive: Provider {
    /// True if entities are created and changed by forms with files, `multipart/form-data`, besides the other kinds of
    /// bodies.
    const IN_FORMS: bool = true;

    /// The maximum number of files in one request.
    const MOST_FILES: usize = 1;

    /// Returns how many bytes the files of this request may have together, and the site for which they come. The service
    /// has limits of its own for each request and each account, which the result need not take into account.
    ///
    /// # Errors
    /// Returns an error if the request is refused because of the data.
    fn room(cx: &Context, target: Target<'_>) -> impl Future<Output = Result<Room>> + Send;
}

/// The room for the files of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// The maximum number of bytes.
    pub bytes: u64,
    /// The site whose room it is: all uploads for it that are under way share it.
    pub site: Option<String>,
    /// The internal id of the account that sends the files, and the number of bytes that it may have at most besides those
    /// that entities of sites name. The service sets it.
    pub account: Option<(String, u64)>,
}

impl Room {
    /// Creates the room of a type that has a limit for each request.
    pub fn of(bytes: u64) -> Self {
        Self {
            bytes,
            site: None,
            account: None,
        }
    }

    /// Creates the room that `site` has.
    pub fn in_site(site: impl Into<String>, bytes: u64) -> Self {
        Self {
            site: Some(site.into()),
            ..Self::of(bytes)
        }
    }
}

/// The operation that is about to receive files.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The id of the entity; empty for a creation and for an action on the collection.
    pub id: &'a str,
    /// The path segments behind the name of the action, in order.
    pub arguments: &'a [String],
    /// The fields of the form that came before the first file: checked for a creation and a change, as they were sent for
    /// an action.
    pub fields: &'a Fields,
}

/// The way in which an operation takes files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reception {
    /// True if a body that is no form is a file as a whole.
    pub is_whole: bool,
    /// The maximum number of files.
    pub most: usize,
}

/// Returns the room for the files of a request to a provider of any type.
type AskRoom = for<'a> fn(&'a Context, Target<'a>) -> BoxFuture<'a, Result<Room>>;

/// The way in which a provider of any type takes files.
#[derive(derive_more::Debug, Clone, Copy)]
#[debug("ReceiveRoute({})", self.most)]
pub(crate) struct ReceiveRoute {
    pub(crate) in_forms: bool,
    pub(crate) most: usize,
    pub(crate) room: AskRoom,
}

impl ReceiveRoute {
    pub(crate) fn of<P: Receive>() -> Self {
        Self {
            in_forms: P::IN_FORMS,
            most: P::MOST_FILES,
            room: |cx, target| Box::pin(P::room(cx, target)),
        }
    }
}

impl Context {
    /// Returns the files that came with the request.
    pub fn uploads(&self) -> &[Upload] {
        &self.uploads
    }
}
