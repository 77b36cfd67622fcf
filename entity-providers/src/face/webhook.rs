//! `/direct/webhook`: addresses elsewhere to which the service sends the events of a site, signed.
//!
//! A webhook is sent what its owner may read when the event is sent. So its owner alone says where that goes. The secret
//! with which the service signs is told once, when it is made, and is in no other answer.

mod delivery;
mod kinds;
mod turn;

use std::sync::Arc;

use entity_core::db::{self, Secret};
use entity_core::{
    Access, Action, Actions, Arguments, Context, Create, DateTimeUtc, Entity, Error, Fields, Need,
    Result, Verb, standard,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};
use serde::Serialize;

use crate::base::limits;

pub use self::delivery::{DEAD, DELIVERED, PENDING, WebhookDelivery};
pub use self::kinds::Kinds;
pub use self::turn::{sweep, take_turn};

/// Webhooks are for those who look after the site.
const ACCESS: Access = Access::new(MAINTAINS, MAINTAINS);
const MAINTAINS: Need = Need::Site("site.upd");

/// The maximum number of webhooks of a site.
const MOST_PER_SITE: u64 = 100;

/// The part of the service that knows addresses and makes secrets.
pub trait WebhookRules: Send + Sync {
    /// Returns the host of the address.
    ///
    /// # Errors
    /// Returns a message about the address if nothing may be sent there: it continues the name of the field.
    fn host(&self, url: &str) -> Result<String, String>;

    /// Makes a secret.
    ///
    /// # Errors
    /// Returns an error if the machine has no random bytes.
    fn secret(&self) -> Result<String>;
}

/// The [`WebhookRules`] of the service.
#[derive(derive_more::Debug, Clone)]
#[debug("WebhookService")]
pub struct WebhookService(pub Arc<dyn WebhookRules>);

/// An address elsewhere to which the events of a site are sent, signed as the Standard Webhooks specification says.
#[standard(version)]
#[derive(Clone, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "webhook", table = "webhook", access = ACCESS, unarchived)]
#[entity(settle = Self::settle, told_once = Self::tells_secret)]
#[entity(
    verbs(read, list, update, delete),
    order = "created,id",
    max = 200,
    listed("url", "active", "created")
)]
#[derive(derive_more::Debug)]
// Leaves out the secret, and the address, which may hold one.
#[debug("Webhook {{ id: {:?}, site_id: {:?} }}", self.id, self.site_id)]
pub struct Webhook {
    /// The id.
    #[entity(id)]
    pub id: String,
    /// The site whose events are sent.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// A description, for people.
    #[entity(title, search)]
    pub description: Option<String>,
    /// The address to which events are sent, which begins with `https://`. Only the owner may change it.
    #[entity(address, max = 2000)]
    pub url: String,
    /// The kinds of events that are sent, such as `annc.new`; empty for all.
    #[entity(kind = List, sent = Vec<String>)]
    #[entity(hint = "What is sent, one on each line, such as annc.new; empty for all.")]
    pub kinds: Kinds,
    /// True if events are sent. What happens while it is not is never sent.
    #[entity(default = "true")]
    pub active: bool,
    /// The internal id of the user whose permissions decide what is sent.
    #[entity(owner, person, references = "user")]
    pub owner: String,
    /// When it was created.
    #[entity(created)]
    pub created: DateTimeUtc,
    /// When it last changed.
    #[entity(updated)]
    pub updated: DateTimeUtc,
    /// The secret with which deliveries are signed. Told only in the answer that makes it, and never again.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(computed)]
    pub secret: Option<String>,
    /// The secret, as it is kept.
    #[serde(skip)]
    #[entity(hidden)]
    pub key: Secret,
    /// The host of the address.
    #[serde(skip)]
    #[entity(hidden)]
    pub host: String,
}

entity_core::register!(Webhook, demo = include_str!("../../demo/webhook.json"));

impl Webhook {
    fn tells_secret(&self) -> bool {
        self.secret.is_some()
    }

    async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let is_moved = before.is_none_or(|it| it.url != self.url);
        if is_moved {
            let host = rules(cx)?.0.host(&self.url);
            self.host = host.map_err(|message| Error::field("url", message))?;
        }
        let Some(before) = before else {
            return self.demand_room(cx).await;
        };
        match is_moved && before.owner != cx.user_id()? {
            true => Err(Error::field(
                "url",
                "can be changed by the owner alone: make a webhook of your own",
            )),
            false => Ok(()),
        }
    }

    async fn demand_room(&self, cx: &Context) -> Result<()> {
        limits::lock_site(cx, &self.site_id).await?;
        let of_site = webhook::Column::SiteId.eq(self.site_id.as_str());
        let count = webhook::Entity::find().filter(of_site).count(cx.db()?);
        match count.await? >= MOST_PER_SITE {
            true => Err(Error::limit_reached(format!(
                "a site has at most {MOST_PER_SITE} webhooks: delete one first"
            ))),
            false => Ok(()),
        }
    }

    async fn rotate(cx: &Context, webhook: Self, _: Arguments) -> Result<Self> {
        let secret = rules(cx)?.0.secret()?;
        let changed = Self {
            key: Secret::new(secret.as_str()),
            ..webhook.clone()
        };
        let stored = db::store(cx, webhook, changed).await?;
        Ok(Self {
            secret: Some(secret),
            ..stored
        })
    }
}

impl Create for Webhook {
    type Draft = Fields;

    fn site(draft: &Fields) -> Option<&str> {
        draft.text("siteId")
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Self> {
        let secret = rules(cx)?.0.secret()?;
        let mut made = <Self as db::Record>::make(cx, draft)?;
        made.key = Secret::new(secret.as_str());
        let stored = db::add(cx, made).await?;
        Ok(Self {
            secret: Some(secret),
            ..stored
        })
    }
}

impl Actions for Webhook {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "rotate", MAINTAINS, Self::rotate)
                .done("There is a new secret; the old one no longer counts.")
                .doc(
                    "Replaces the secret by a new one, which is told in the answer; the old one signs nothing any \
                     more.",
                ),
        ]
    }
}

fn rules(cx: &Context) -> Result<Arc<WebhookService>> {
    cx.service()
}
