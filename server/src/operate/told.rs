//! The events that a user receives: those of entities of their sites which they may read now. Streams and webhooks send
//! the same.

use entity_core::engine::{Event, ReferencePreview, read_references};
use entity_core::{Context, Reference, Registry, Result, Scope, gate, wire};
use serde::Serialize;

/// The permission in a site whose events a caller follows.
const VISIT: &str = "site.visit";

/// An event as clients read it. The actor is left out: it may be a secret.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Told {
    id: String,
    kind: String,
    reference: String,
    url: String,
    title: Option<String>,
    site_id: Option<String>,
    time: String,
}

/// Returns those of `events` that are about entities of the caller's sites which the caller may read now, each with its
/// number.
pub(crate) async fn to_caller(cx: &Context, events: &[(i64, Event)]) -> Result<Vec<(i64, Told)>> {
    let scope = cx.authorizer().scope(cx, VISIT).await?;
    let is_in_scope = |event: &Event| match (&scope, &event.site) {
        (_, None) => false,
        (Scope::Everything, Some(_)) => true,
        (Scope::Sites(sites), Some(site)) => sites.contains(site),
    };
    let near = events.iter().filter(|it| is_in_scope(&it.1));
    let near = without_unheld(cx, near.collect()).await?;
    let references = near
        .iter()
        .filter_map(|it| Reference::parse(&it.1.reference));
    let references: Vec<_> = references.collect();
    let found = read_references(cx, &references).await?;
    let told = near.into_iter().filter_map(|(number, event)| {
        let entity = found.get(&event.reference)?;
        Some((*number, told(cx, *number, event, entity)))
    });
    Ok(told.collect())
}

/// Leaves out the events of kinds that are for those who hold the function of this name, where the caller does not.
async fn without_unheld<'a>(
    cx: &Context,
    events: Vec<&'a (i64, Event)>,
) -> Result<Vec<&'a (i64, Event)>> {
    let registry = cx.service::<Registry>()?;
    let mut kept = Vec::with_capacity(events.len());
    for it in events {
        let event = &it.1;
        let route = Reference::parse(&event.reference).and_then(|it| registry.route(&it.prefix));
        let is_for_holders = route.is_some_and(|it| it.for_holders.contains(&event.kind.as_str()));
        let site = event.site.as_deref().unwrap_or_default();
        if !is_for_holders || gate::holds(cx, &event.kind, site).await? {
            kept.push(it);
        }
    }
    Ok(kept)
}

fn told(cx: &Context, number: i64, event: &Event, entity: &ReferencePreview) -> Told {
    Told {
        id: number.to_string(),
        kind: event.kind.clone(),
        reference: event.reference.clone(),
        url: format!("{}/direct{}", cx.base_url(), entity.path),
        title: entity.title.clone(),
        site_id: event.site.clone(),
        time: wire::iso(event.time),
    }
}
