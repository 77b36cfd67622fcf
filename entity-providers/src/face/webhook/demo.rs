//! The webhook of the demo university. It is switched off: nothing is sent unless somebody switches it on.

use entity_core::db::Secret;
use entity_core::{Context, Demo, Result, db};

use super::{Kinds, Webhook};
use crate::base::university::BIOLOGY;

/// Adds the webhook. Its secret is known to nobody: whoever uses it makes a new one.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let webhook = Webhook {
        id: cx.new_id(),
        site_id: BIOLOGY.to_owned(),
        description: Some("Notices on the screen in the hall".to_owned()),
        url: "https://screens.example/lectern".to_owned(),
        kinds: Kinds::parse("annc.new"),
        active: false,
        owner: demo.person("instructor1")?.to_owned(),
        created: cx.now(),
        updated: cx.now(),
        key: Secret::default(),
        host: "screens.example".to_owned(),
        version: 1,
        secret: None,
    };
    db::insert(cx, &webhook).await?;
    Ok(1)
}
