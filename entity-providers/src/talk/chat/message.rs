//! `/direct/chat-message`: the messages in the chat rooms of a site.

use entity_core::db::{self, Migration};
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, Entity, Error, ErrorKind, List, Need, Operation, Page, Permit, Result, Search,
    gate, standard,
};
use serde::Serialize;

use super::{ChatChannel, READ};
use crate::base::fields::seen;

/// The function of those who say something.
const NEW: &str = "chat.new";
const DELETE_ANY: &str = "chat.delete.any";
const DELETE_OWN: &str = "chat.delete.own";

/// A message is never changed, only deleted. The permission to write one is decided by [`ChatMessage::decide`]: it
/// names its room, and the site follows from that.
const ACCESS: Access = Access {
    read: Need::Site(READ),
    create: Need::Session,
    update: Need::Superuser,
    delete: Need::SiteOrOwn(DELETE_ANY, DELETE_OWN),
};

/// A message in a chat room, as plain text.
#[standard(
    alias(context = site_id),
    constant(
        /// Always empty: the roster of the site has the external ids, for those who may know them.
        owner_display_id = "",
        /// Always null. What clients send here has no effect: the service tells in a way of its own who sent a form.
        csrftoken = null,
    ),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "chat-message", table = "chat_message", access = ACCESS, version = seen)]
#[entity(singular = "Chat message", plural = "Chat messages", layout = thread)]
#[entity(permits = Self::decide)]
#[entity(settle = Self::settle, complete = Self::complete)]
#[entity(verbs(read, create, delete), listed("body", "messageDate"))]
pub struct ChatMessage {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The room.
    #[entity(on_create, parent = ChatChannel, references = "chat-channel", column = "channel_id", max = 99)]
    #[entity(label = "Room")]
    pub chat_channel_id: String,
    /// The site.
    #[entity(site, read_only, references = "site")]
    pub site_id: String,
    /// The internal id of whoever said it.
    #[entity(owner, column = "owner_id", references = "user", label = "Author")]
    pub owner: String,
    /// The name of whoever said it.
    #[entity(title, author, name_of = owner)]
    pub owner_display_name: String,
    /// When it was said.
    #[entity(created, label = "Said")]
    pub message_date: Millis,
    /// The text.
    #[entity(content, plain, on_create, required, search)]
    pub body: String,
    /// True if the caller may delete it.
    #[entity(computed, for_programs)]
    pub removeable: bool,
}

entity_core::register!(ChatMessage, migrations(INDEX));

/// The newest messages of a room are found among all that was ever said.
const INDEX: Migration = Migration::of_tables(
    "chat_message_of_channel",
    &["CREATE INDEX chat_message_of_channel ON chat_message (channel_id, message_date, id)"],
);

impl ChatMessage {
    /// Finds the site of a new message: that of its room.
    async fn settle(&mut self, cx: &Context, _before: Option<&Self>) -> Result<()> {
        let channel = gate::read::<ChatChannel>(cx, &self.chat_channel_id).await;
        let channel = channel.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::field("chatChannelId", "must be the id of a chat room"),
            _ => error,
        })?;
        self.site_id = channel.site_id;
        Ok(())
    }

    async fn decide(cx: &Context, message: &Self, operation: Operation) -> Result<Permit> {
        match operation {
            Operation::Create if !gate::holds(cx, NEW, &message.site_id).await? => {
                Ok(Permit::Forbidden)
            }
            _ => Ok(Permit::Allowed),
        }
    }

    async fn complete(cx: &Context, messages: &mut [Self]) -> Result<()> {
        let any = cx.authorizer().scope(cx, DELETE_ANY).await?;
        let own = cx.authorizer().scope(cx, DELETE_OWN).await?;
        for it in messages {
            let is_own = cx.caller().user_id() == Some(&it.owner);
            it.removeable = any.contains(&it.site_id) || (is_own && own.contains(&it.site_id));
        }
        Ok(())
    }

    /// Returns `search`, narrowed by the type's own parameters.
    async fn narrow(cx: &Context, search: &Search) -> Result<Search> {
        let mut narrowed = search.clone();
        if let Some(id) = search.parameter("channelId") {
            let channel = gate::read::<ChatChannel>(cx, id).await?;
            narrowed.narrow(Self::FIELD.chat_channel_id.eq(channel.id));
            narrowed.narrow_to_site::<Self>(&channel.site_id)?;
        }
        let items = search.parameter("items").map(|it| {
            let number = it.parse::<u64>();
            number.map_err(|error| {
                Error::field("items", "must be a whole number, 0 or greater").with_source(error)
            })
        });
        match items.transpose()? {
            None | Some(0) => {}
            Some(_) if search.cursor.is_some() => {
                return Err(Error::field(
                    "items",
                    "can't be given together with `_cursor`",
                ));
            }
            Some(items) => narrowed.cut(items),
        }
        Ok(narrowed)
    }
}

impl List for ChatMessage {
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[
        ("channelId", "the chat room"),
        (
            "items",
            "the newest so many, the oldest of them first; 0 for no such limit",
        ),
    ];
    const ORDER: &'static str = "messageDate,id";

    async fn list(cx: &Context, search: &Search) -> Result<Page<Self>> {
        let mut search = Self::narrow(cx, search).await?;
        let is_oldest_first = search.is_ordered_by(&[("messageDate", false), ("id", false)]);
        if search.most.is_none() || !is_oldest_first {
            return db::list(cx, &search).await;
        }
        search.reverse();
        let mut page = db::list(cx, &search).await?;
        page.items.reverse();
        Ok(page)
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        let search = Self::narrow(cx, search).await?;
        let count = db::count::<Self>(cx, &search).await?;
        Ok(Some(search.most.map_or(count, |most| count.min(most))))
    }
}
