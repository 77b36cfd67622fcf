//! The notifications of the demo university: the members of the first site are told of its announcements.

use entity_core::engine::Event;
use entity_core::{Context, Demo, Entity as _, Provider as _, Reference, Result, db};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};
use serde_json::Map;

use super::follow;
use crate::courses::announcement::{Announcement, announcement};

/// The maximum number of people who are told of an announcement.
const MOST_PEOPLE: usize = 200;

/// Tells of the announcements as the service would have, and returns their number.
pub(super) async fn fill(cx: &Context, demo: &Demo) -> Result<usize> {
    let Some(site) = demo.sites.first() else {
        return Ok(0);
    };
    let of_site = announcement::Column::SiteId.eq(site.as_str());
    let announcements = announcement::Entity::find().filter(of_site);
    let announcements: Vec<Announcement> = db::load(cx, announcements).await?;
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
