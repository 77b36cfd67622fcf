//! Webhooks and their deliveries in each state that the policy names.

use chrono::TimeDelta;
use entity_core::db::Secret;
use entity_providers::face::webhook::{Webhook, WebhookDelivery};
use serde_json::{Value, json};

use super::rows::Rows;
use super::subject::Subject;
use super::world::{World, made};

impl World {
    /// A webhook, or a delivery to one. The word to look for is the description, or the kind of the event.
    pub(super) async fn webhook(&self, kind: &str, state: &str) -> Subject {
        let marker = self.new_marker();
        if state == "-" {
            return Subject {
                marker,
                ..Subject::default()
            };
        }
        let place = state.trim_start_matches("in-");
        let is_made = place != "unknown" && !state.starts_with("in-");
        let mut rows = Rows::default();
        // A site has few of them.
        let site = match is_made {
            true => self.plan_site(place, &mut rows),
            false => self.sites[place].clone(),
        };
        let (hook, id) = (format!("{marker}-hook"), format!("{marker}-id"));
        let made = made().0;
        if is_made {
            rows.add(Webhook {
                id: hook.clone(),
                site_id: site.clone(),
                description: Some(marker.clone()),
                url: "https://hooks.example/".to_owned(),
                host: "hooks.example".to_owned(),
                owner: self.people["author"].id.clone(),
                created: made,
                updated: made,
                key: Secret::new("whsec_AAAA"),
                version: 1,
                ..Webhook::default()
            });
            rows.add(WebhookDelivery {
                id: id.clone(),
                site_id: site.clone(),
                webhook_id: hook.clone(),
                kind: format!("{marker}.new"),
                time: made,
                state: "dead".to_owned(),
                attempts: 10,
                created: made + TimeDelta::seconds(1),
                about: format!("/site/{site}"),
                sequence: 1,
                ..WebhookDelivery::default()
            });
        }
        self.store(rows).await;
        Subject {
            id: if kind == "webhook" { hook } else { id },
            site,
            marker,
            ..Subject::default()
        }
    }
}

/// Returns whether it is one of the types.
pub(super) fn is_one(kind: &str) -> bool {
    kind.starts_with("webhook")
}

/// A new webhook.
pub(super) fn draft(subject: &Subject) -> Value {
    json!({"siteId": subject.site, "description": subject.marker, "url": "https://hooks.example/new", "active": false})
}
