//! `/direct/webhook-delivery`: the events that webhooks were sent, or are going to be.
//!
//! A row holds which event is sent, and nothing of its entity: that is read on behalf of the owner of the webhook when
//! it is sent, and on behalf of whoever looks at the row.

use std::collections::BTreeSet;

use entity_core::db::Migration;
use entity_core::engine::read_references;
use entity_core::{
    Access, Action, Actions, Arguments, Context, DateTimeUtc, Entity, Error, Need, Reference,
    Result, Verb, db,
};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde::Serialize;

use super::turn::{TURNS, take_turn};
use super::{MAINTAINS, Webhook};

/// The state of a delivery that is yet to succeed.
pub const PENDING: &str = "pending";
/// The state of a delivery that succeeded.
pub const DELIVERED: &str = "delivered";
/// The state of a delivery that is given up.
pub const DEAD: &str = "dead";

/// Deliveries are made by the service, and read by those who read the webhook.
const ACCESS: Access = Access::new(MAINTAINS, Need::Superuser);

/// An event that a webhook was sent, or is going to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "webhook-delivery", table = "webhook_delivery", access = ACCESS, unarchived)]
#[entity(plural = "Webhook deliveries", complete = Self::complete)]
#[entity(
    verbs(read, list),
    order = "created_desc,id",
    max = 200,
    listed("kind", "state", "attempts", "lastStatus", "created")
)]
pub struct WebhookDelivery {
    /// The id, which is sent as `webhook-id`.
    #[entity(id)]
    pub id: String,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The webhook.
    #[entity(read_only, parent = Webhook, references = "webhook")]
    pub webhook_id: String,
    /// The id of the event, as streams of events tell it.
    #[entity(computed = |it, _| it.sequence.to_string())]
    pub event_id: String,
    /// The kind of the event, such as `annc.new`.
    #[entity(read_only)]
    pub kind: String,
    /// The reference of the entity, such as `/announcement/7`; null if the caller may not read the entity now.
    #[entity(computed)]
    pub reference: Option<String>,
    /// The time of the event.
    #[entity(read_only)]
    pub time: DateTimeUtc,
    /// `pending`, `delivered` or `dead`: given up.
    #[entity(read_only, choices("pending", "delivered", "dead"))]
    pub state: String,
    /// The number of times it was sent since it was first, or last, asked for.
    #[entity(read_only)]
    pub attempts: i64,
    /// When it is sent next; null if it is not.
    #[entity(read_only)]
    pub next_attempt: Option<DateTimeUtc>,
    /// The status of the last answer; null if there was none.
    #[entity(read_only)]
    pub last_status: Option<i64>,
    /// The reason why it was last not delivered.
    #[entity(read_only, max = 200)]
    pub last_error: Option<String>,
    /// When it was first to be sent.
    #[entity(created)]
    pub created: DateTimeUtc,
    /// When it was delivered; null if it was not.
    #[entity(read_only)]
    pub delivered: Option<DateTimeUtc>,
    /// The number of the event.
    #[serde(skip)]
    #[entity(hidden)]
    pub sequence: i64,
    /// The reference of the entity, whoever asks.
    #[serde(skip)]
    #[entity(hidden)]
    pub about: String,
}

entity_core::register!(WebhookDelivery, migrations(TURNS, OF_WEBHOOK, BY_TIME));

/// The deliveries of a webhook are sent in the order of their events.
const OF_WEBHOOK: Migration = Migration::of_tables(
    "webhook_delivery_of_webhook",
    &[
        "CREATE INDEX webhook_delivery_of_webhook ON webhook_delivery (webhook_id, state, sequence)",
        "CREATE INDEX webhook_delivery_by_next ON webhook_delivery (webhook_id, state, next_attempt)",
    ],
);
/// Old deliveries are removed.
const BY_TIME: Migration = Migration::of_tables(
    "webhook_delivery_by_time",
    &["CREATE INDEX webhook_delivery_by_time ON webhook_delivery (created)"],
);

impl WebhookDelivery {
    /// Tells of which entity a delivery is, if the caller may read that now.
    async fn complete(cx: &Context, deliveries: &mut [Self]) -> Result<()> {
        if cx.caller().is_anonymous() {
            return Ok(());
        }
        let texts: BTreeSet<&str> = deliveries.iter().map(|it| &*it.about).collect();
        let references: Vec<Reference> = texts.into_iter().filter_map(Reference::parse).collect();
        let entities = read_references(cx, &references).await?;
        for it in deliveries {
            let is_seen = entities.contains_key(&it.about);
            it.reference = is_seen.then(|| it.about.clone());
        }
        Ok(())
    }

    async fn redeliver(cx: &Context, delivery: Self, _: Arguments) -> Result<Self> {
        use webhook_delivery::Column::{Attempts, Delivered, Id, NextAttempt, State};
        webhook_delivery::Entity::update_many()
            .col_expr(Attempts, Expr::val(0))
            .col_expr(State, Expr::val(PENDING))
            .col_expr(NextAttempt, cx.now().timestamp_millis().into())
            .col_expr(Delivered, Expr::val(None::<i64>))
            .filter(Id.eq(delivery.id.as_str()))
            .exec(cx.db()?)
            .await?;
        take_turn(cx, &delivery.webhook_id).await?;
        let found = db::read(cx, &delivery.id).await?;
        found.ok_or_else(|| Error::internal("a delivery that was just changed is not there"))
    }
}

impl Actions for WebhookDelivery {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::entity(Verb::Post, "redeliver", MAINTAINS, Self::redeliver)
                .done("It is sent again.")
                .doc(
                    "Sends the event again, with the same `webhook-id`, as soon as the webhook is active.",
                ),
        ]
    }
}
