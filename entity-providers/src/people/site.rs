//! `/direct/site`: courses and projects, with their pages, groups and permissions.

mod actions;
pub mod activity;
pub(crate) mod address;
pub mod archive;
mod groups;
mod id;
mod info;
mod list;
pub(crate) mod parts;
mod permissions;
mod pinned;
mod roles;
mod write;

use std::collections::BTreeMap;

use entity_core::db::Counted;
use entity_core::db::archive::Archived;
use entity_core::wire::{Millis, Moment};
use entity_core::{
    Access, Action, Actions, Content, Context, Create, Delete, Entity, FeedEntry, Fields, List,
    Need, Operation, Page, Permit, Provider, Read, Result, Search, Update, Version, gate,
};
use serde::Serialize;

use crate::people::authorizer;
use crate::storage::db::site as table;

pub(crate) use id::claim_ids;
pub use parts::{Group, Owner, PageReference};
pub(crate) use pinned::write_placement;
pub use pinned::{OwnSites, PinnedSites, SiteName};

/// The provider of sites.
#[derive(Clone, Copy, Debug)]
pub struct Sites;

entity_core::register!(Sites);

/// A site counts in itself, and for whom it belongs to.
const SITE: Counted = Counted::new(
    "site",
    &[
        "title",
        "type",
        "short_description",
        "description",
        "contact_name",
        "contact_email",
        "joiner_role",
        "skin",
        "term",
        "term_eid",
    ],
)
.owned_by("owner_id")
.within("id");
/// The changes that a site makes to the rights of its roles count in it.
const GRANT: Counted =
    Counted::new("realm_grant", &["role", "function"]).within_path("realm", authorizer::OF_SITE);
const GROUP: Counted = Counted::new("site_group", &["title", "description"]).within("site_id");

/// A place where people of a course or a project work together.
#[expect(
    clippy::struct_excessive_bools,
    reason = "these are the fields that clients read"
)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(version = Self::to_version, feed = Self::to_feed, icon = "home")]
pub struct Site {
    /// The id. Whoever creates a site may choose it.
    #[entity(id, site, on_create, max = 99, column)]
    #[entity(hint = "A short word for addresses, such as biology-101, which never changes.")]
    pub id: String,
    /// The title.
    #[entity(title, required, writable, search, max = 99, column)]
    pub title: String,
    /// `course`, `project`, or nothing.
    #[entity(on_create, max = 99, column, choices("course" = "Course", "project" = "Project"))]
    #[entity(label = "Kind")]
    pub r#type: Option<String>,
    /// The description.
    #[entity(writable, content, html, column)]
    pub description: Option<String>,
    /// One plain line about it.
    #[entity(
        writable,
        search,
        max = 400,
        column = "short_description",
        label = "In short",
        fact
    )]
    pub short_description: Option<String>,
    /// The description once more.
    #[entity(for_programs)]
    pub html_description: Option<String>,
    /// One line about it, as HTML.
    #[entity(for_programs)]
    pub html_short_description: Option<String>,
    /// Whom to ask.
    #[entity(writable, max = 200, label = "Whom to ask", fact = "Questions: {}")]
    pub contact_name: Option<String>,
    /// How to reach whom to ask.
    #[entity(writable, email, max = 254, label = "E-mail for questions")]
    pub contact_email: Option<String>,
    /// True if users may join by themselves.
    #[entity(writable, column = "is_joinable", label = "Open to join")]
    pub joinable: bool,
    /// The role of those who join by themselves.
    #[entity(writable, max = 99, label = "Role of those who join", offered = "role")]
    pub joiner_role: Option<String>,
    /// The role of those who look after it.
    #[entity(for_programs)]
    pub maintain_role: String,
    /// The internal id of the user whom it belongs to.
    #[entity(references = "user", for_programs)]
    pub owner: Option<String>,
    /// The user whom it belongs to.
    #[entity(for_programs)]
    pub site_owner: Owner,
    /// `term` and `term_eid`, where it belongs to a term.
    #[entity(kind = Object, writable, for_programs)]
    pub props: BTreeMap<String, String>,
    /// The group of the student system that fills it.
    #[entity(for_programs)]
    pub provider_group_id: Option<String>,
    /// True if its members may come in.
    #[entity(
        writable,
        column = "is_published",
        default = "true",
        label = "Open to its members"
    )]
    pub published: bool,
    /// True if strangers may look at it.
    #[entity(writable, column = "is_pub_view", label = "Open to the public")]
    pub pub_view: bool,
    /// Its look.
    #[entity(writable, max = 99, for_programs)]
    pub skin: Option<String>,
    /// The address of its icon.
    #[entity(for_programs)]
    pub icon_url: Option<String>,
    /// The address of its icon, absolute.
    #[entity(for_programs)]
    pub icon_url_full: Option<String>,
    /// Nothing.
    #[entity(for_programs)]
    pub info_url: Option<String>,
    /// Nothing.
    #[entity(for_programs)]
    pub info_url_full: Option<String>,
    /// The reference.
    #[entity(for_programs)]
    pub reference: String,
    /// When it last changed.
    #[entity(for_programs)]
    pub last_modified: Millis,
    /// When it came into being.
    #[entity(for_programs, label = "Created")]
    pub created_date: Millis,
    /// When it came into being.
    #[entity(for_programs)]
    pub created_time: Moment,
    /// When it last changed.
    #[entity(for_programs, label = "Last changed")]
    pub modified_date: Millis,
    /// When it last changed.
    #[entity(for_programs)]
    pub modified_time: Moment,
    /// Always false.
    #[entity(for_programs)]
    pub softly_deleted: bool,
    /// Nothing.
    #[entity(for_programs)]
    pub softly_deleted_date: Option<Millis>,
    /// Always false.
    #[entity(for_programs)]
    pub empty: bool,
    /// Always false.
    #[entity(for_programs)]
    pub active_edit: bool,
    /// True if somebody put the pages in order: always true.
    #[entity(for_programs)]
    pub custom_page_ordered: bool,
    /// The roles that members may have.
    #[entity(label = "Roles")]
    pub user_roles: Vec<String>,
    /// The groups, for those who may visit the site; in lists there are none.
    #[entity(label = "Groups")]
    pub site_groups: Vec<Group>,
    /// The pages, in order.
    #[entity(for_programs, label = "Pages")]
    pub site_pages: Vec<PageReference>,
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) row_version: i64,
}

impl Site {
    /// The site in `row`, for a service at `base_url`; its parts are added by [`parts::complete`].
    pub(crate) fn new(row: table::Model, base_url: &str) -> Self {
        let created = crate::storage::db::instant(row.created);
        let modified = crate::storage::db::instant(row.modified);
        let props = [("term", row.term), ("term_eid", row.term_eid)];
        Self {
            html_description: row.description.clone(),
            html_short_description: row
                .short_description
                .as_deref()
                .map(crate::base::html::escape),
            maintain_role: maintain_role(row.r#type.as_deref()).to_owned(),
            site_owner: Owner::default(),
            props: props
                .into_iter()
                .filter_map(|(key, text)| Some((key.to_owned(), text?)))
                .collect(),
            icon_url_full: row.icon_url.as_ref().map(|it| absolute(it, base_url)),
            info_url: None,
            info_url_full: None,
            reference: format!("/site/{}", row.id),
            last_modified: Millis(modified),
            created_date: Millis(created),
            created_time: created.into(),
            modified_date: Millis(modified),
            modified_time: modified.into(),
            softly_deleted: false,
            softly_deleted_date: None,
            empty: false,
            active_edit: false,
            custom_page_ordered: true,
            user_roles: Vec::new(),
            site_groups: Vec::new(),
            site_pages: Vec::new(),
            row_version: row.version,
            id: row.id,
            title: row.title,
            r#type: row.r#type,
            description: row.description,
            short_description: row.short_description,
            contact_name: row.contact_name,
            contact_email: row.contact_email,
            joinable: row.is_joinable,
            joiner_role: row.joiner_role,
            owner: row.owner_id,
            provider_group_id: row.provider_group_id,
            published: row.is_published,
            pub_view: row.is_pub_view,
            skin: row.skin,
            icon_url: row.icon_url,
        }
    }

    /// Besides the site itself, what comes from other tables may change.
    fn to_version(&self) -> Version {
        Version::of(&(
            &self.id,
            self.row_version,
            &self.site_owner,
            &self.user_roles,
            &self.site_groups,
            &self.site_pages,
        ))
    }

    fn to_feed(&self) -> FeedEntry {
        let mut entry = FeedEntry::new(self.title.clone(), self.modified_date.0);
        entry.published = Some(self.created_date.0);
        entry.author = Some(self.site_owner.user_display_name.clone()).filter(|it| !it.is_empty());
        entry.content = self.description.clone().map(Content::Html);
        entry.categories = self.r#type.iter().cloned().collect();
        entry
    }
}

/// The role that looks after sites of the type `kind`.
pub fn maintain_role(kind: Option<&str>) -> &'static str {
    match kind {
        Some("course" | "lti") => "Instructor",
        _ => "maintain",
    }
}

/// The role of those who join a site of the type `kind` by themselves, if it names no other.
pub fn joiner_role(kind: Option<&str>) -> &'static str {
    match kind {
        Some("course" | "lti") => "Student",
        _ => "access",
    }
}

fn absolute(url: &str, base_url: &str) -> String {
    match url.starts_with('/') {
        true => format!("{base_url}{url}"),
        false => url.to_owned(),
    }
}

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
        list::by_ids(cx, ids).await
    }
}

/// The site `id` with all its parts, whoever asks.
pub async fn find(cx: &Context, id: &str) -> Result<Option<Site>> {
    use sea_orm::EntityTrait;
    let row: Option<table::Model> = cx.db()?.first(table::Entity::find_by_id(id)).await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let mut sites = [Site::new(row, cx.base_url())];
    parts::complete(cx, &mut sites).await?;
    let [mut site] = sites;
    site.site_groups = parts::groups(cx, id).await?;
    Ok(Some(site))
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
        write::create(cx, &draft).await
    }
}

impl Update for Sites {
    type Changes = Fields;

    async fn update(cx: &Context, current: Site, changes: Fields) -> Result<Site> {
        write::update(cx, &current, &changes).await
    }
}

impl Delete for Sites {
    async fn delete(cx: &Context, current: Site) -> Result<()> {
        write::delete(cx, &current).await
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

#[cfg(test)]
mod tests;
