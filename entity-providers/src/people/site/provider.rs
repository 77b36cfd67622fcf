//! The provider of sites: what may be done with them, and by whom.

use entity_core::db::archive::Archived;
use entity_core::db::{self, Counted};
use entity_core::{
    Access, Action, Actions, Context, Create, Delete, Fields, List, Need, Operation, Page, Permit,
    Provider, Read, Result, Search, Update, gate,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _};

use super::{
    GRANT, GROUP, SITE, Site, Sites, actions, archive, find, groups, info, list, parts, roles,
    site, write,
};

entity_core::register!(Sites);

impl Provider for Sites {
    type Entity = Site;
    const PREFIX: &'static str = "site";
    const ACCESS: Access = Access {
        read: Need::PublicView("site.visit", &Need::Session),
        create: Need::Account("site.add"),
        update: Need::Site("site.upd"),
        delete: Need::Site("site.del"),
    };
    const COUNTED: &'static [Counted] = &[SITE, GROUP, GRANT];
    const ARCHIVED: &'static [Archived] = archive::TABLES;

    /// Whoever may visit it reads it, and whoever may join it.
    async fn permits(cx: &Context, site: &Site, operation: Operation) -> Result<Permit> {
        if operation != Operation::Read || (site.joinable && site.published) {
            return Ok(Permit::Allowed);
        }
        match gate::holds(cx, "site.visit", &site.id).await? {
            true => Ok(Permit::Allowed),
            false => Ok(Permit::Forbidden),
        }
    }
}

impl Read for Sites {
    async fn read(cx: &Context, id: &str) -> Result<Option<Site>> {
        let mut found = find(cx, id).await?;
        // Whoever may join a site sees it, and so does the public, but not who works with whom in it.
        if let Some(site) = found.as_mut().filter(|it| !it.site_groups.is_empty())
            && (cx.caller().is_anonymous() || !gate::holds(cx, "site.visit", id).await?)
        {
            site.site_groups.clear();
        }
        Ok(found)
    }

    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Site>> {
        let named = site::Entity::find().filter(site::Column::Id.is_in(ids));
        let mut sites = db::load(cx, named).await?;
        parts::complete(cx, &mut sites).await?;
        Ok(sites)
    }
}

impl List for Sites {
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[
        (
            "select",
            "which sites: access (default), update, joinable, pubView, or any for administrators",
        ),
        ("selectionType", "the same as `select`"),
        ("search", "words in the titles and short descriptions"),
        ("criteria", "the same as `search`"),
    ];
    const MAX: u64 = 500;
    const ORDER: &'static str = "title,id";

    async fn list(cx: &Context, search: &Search) -> Result<Page<Site>> {
        list::list(cx, search).await
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        list::count(cx, search).await
    }
}

impl Create for Sites {
    type Draft = Fields;

    fn site(_draft: &Fields) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, draft: Fields) -> Result<Site> {
        write::create(cx, draft).await
    }
}

impl Update for Sites {
    type Changes = Fields;

    async fn update(cx: &Context, current: Site, changes: Fields) -> Result<Site> {
        write::update(cx, current, changes).await
    }
}

impl Delete for Sites {
    async fn delete(cx: &Context, current: Site) -> Result<()> {
        write::delete(cx, current).await
    }
}

impl Actions for Sites {
    fn actions() -> Vec<Action<Self>> {
        let all = [
            actions::all(),
            groups::actions(),
            info::actions(),
            roles::actions(),
        ];
        all.into_iter().flatten().collect()
    }
}
