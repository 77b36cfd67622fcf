//! The notifications of the demo university: the members of the first site are told of its announcements.

use entity_core::{Context, Demo, Entity as _, Event, Provider as _, Reference, Result, db};
use serde_json::Map;

use super::follow;
use crate::courses::announcement::Announcement;

/// The maximum number of people who are told of an announcement.
const MOST_PEOPLE: usize = 200;

/// Tells of the announcements as the service would have, and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let Some(site) = demo.sites.first() else {
        return Ok(0);
    };
    let announcements = db::load_by::<Announcement>(cx, "site_id", site.as_str()).await?;
    for announcement in &announcements {
        let event = Event {
            kind: "annc.new".to_owned(),
            reference: Reference::entity(Announcement::PREFIX, announcement.id()).to_string(),
            actor: Some(announcement.created_by.clone()),
            site: Some(site.clone()),
            time: announcement.created_on.0,
            details: Map::new(),
        };
        follow(cx, &event, "", MOST_PEOPLE).await?;
    }
    Ok(announcements.len())
}
