//! `/direct/chat-channel`: the rooms in which the members of a site talk; their messages are a type of their own.

mod message;

use entity_core::wire::Millis;
use entity_core::{Access, Context, Entity, Error, Need, Result, standard};
use serde::Serialize;

pub use self::message::ChatMessage;

/// The function of those who read rooms and what is said there.
const READ: &str = "chat.read";

const ACCESS: Access = Access {
    read: Need::Site(READ),
    create: Need::Site("chat.new.channel"),
    update: Need::Site("chat.revise.channel"),
    delete: Need::Site("chat.delete.channel"),
};

/// `filterType` of a new room.
const ALL: &str = "SelectAllMessages";
/// The largest number of messages, or of days, that a room asks programs to show.
const MOST_SHOWN: i64 = 1_000;

/// A room of a site, in which its members talk. Its messages end with it.
#[standard(
    version,
    alias(context = site_id),
    constant(
        /// Always null: a room belongs to its site, and to no page of it.
        placement = null,
    ),
)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(maker_pays)]
#[entity(tool = "sakai.chat", layout = thread)]
#[entity(prefix = "chat-channel", table = "chat_channel", access = ACCESS, check = Self::check)]
#[entity(singular = "Chat room", plural = "Chat rooms", listed("description"))]
#[entity(
    verbs(read, list, create, update, delete),
    order = "creationDate,id",
    max = 200
)]
pub struct ChatChannel {
    /// The id, which messages have as `chatChannelId`.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The title.
    #[entity(title, search)]
    pub title: String,
    /// A description, as plain text.
    #[entity(optional, search, max = 2000)]
    pub description: String,
    /// The messages that programs show at first: all, the newest `filterParam` of them, or those of the last `filterParam`
    /// days. The service lists what it is asked for.
    #[entity(
        optional,
        max = 40,
        default = "SelectAllMessages",
        choices("SelectAllMessages" = "All messages", "SelectMessagesByNumber" = "The newest ones", "SelectMessagesByTime" = "Those of the last days")
    )]
    #[entity(label = "Shown at first")]
    pub filter_type: String,
    /// The number of messages or of days that `filterType` speaks of; 0 where it needs none.
    #[entity(optional, label = "How many or how many days")]
    #[entity(hint = "Where `filterType` needs a number.")]
    pub filter_param: i64,
    /// When the room was made.
    #[entity(created, label = "Created")]
    pub creation_date: Millis,
    /// When the room itself last changed.
    #[entity(updated, label = "Last changed")]
    pub modified_date: Millis,
}

entity_core::register!(
    ChatChannel,
    demo = include_str!("../../demo/chat-channel.json")
);

impl ChatChannel {
    fn check(&mut self, _cx: &Context, _before: Option<&Self>) -> Result<()> {
        if self.filter_type.is_empty() {
            ALL.clone_into(&mut self.filter_type);
        }
        let least = i64::from(self.filter_type != ALL);
        if (least..=MOST_SHOWN).contains(&self.filter_param) {
            return Ok(());
        }
        let message = format!("must be from {least} to {MOST_SHOWN}");
        Err(Error::field("filterParam", message))
    }
}
