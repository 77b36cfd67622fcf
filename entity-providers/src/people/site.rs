//! `/direct/site`: courses and projects, with their pages, groups and permissions.

mod actions;
pub mod activity;
pub(crate) mod address;
pub mod archive;
mod copy;
pub(crate) mod groups;
pub mod id;
mod info;
mod list;
pub(crate) mod parts;
mod permissions;
mod pinned;
mod provider;
mod roles;
mod write;

use std::collections::BTreeMap;

use entity_core::db::{self, Counted};
use entity_core::wire::{Millis, Moment};
use entity_core::{Content, Context, Entity, FeedEntry, Result, Version, standard};
use sea_orm::{EntityTrait as _, QuerySelect as _};
use serde::Serialize;

use crate::base::fields::Properties;
use crate::base::html::escape;
use crate::people::authorizer;

pub(crate) use id::claim_ids;
pub(crate) use list::has_any;
pub use parts::{Group, Owner, PageReference};
pub(crate) use pinned::write_placement;
pub use pinned::{OwnSites, PinnedSites, SiteName};

/// The provider of sites.
#[derive(Clone, Copy, Debug)]
pub struct Sites;

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
#[standard(version)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(table = "site", version = Self::to_version, feed = Self::to_feed, icon = "home")]
#[entity(check = Self::check)]
pub struct Site {
    /// The id. Whoever creates a site may choose it.
    #[entity(id, site, on_create, max = 99)]
    #[entity(hint = "A short word for addresses, such as biology-101, which never changes.")]
    pub id: String,
    /// The title.
    #[entity(title, search, max = 99)]
    pub title: String,
    /// `course`, `project`, or nothing.
    #[entity(on_create, max = 99, choices("course" = "Course", "project" = "Project"))]
    #[entity(label = "Kind")]
    pub r#type: Option<String>,
    /// The description.
    #[entity(content, html)]
    pub description: Option<String>,
    /// One plain line about it.
    #[entity(search, max = 400, label = "In short", fact)]
    pub short_description: Option<String>,
    /// The description once more.
    #[entity(computed = |it, _| it.description.clone(), for_programs)]
    pub html_description: Option<String>,
    /// One line about it, as HTML.
    #[entity(computed = |it, _| it.short_description.as_deref().map(escape), for_programs)]
    pub html_short_description: Option<String>,
    /// Whom to ask.
    #[entity(uncompared, max = 200, label = "Whom to ask", fact = "Questions: {}")]
    pub contact_name: Option<String>,
    /// The address of the contact person.
    #[entity(uncompared, email, max = 254, label = "E-mail for questions")]
    pub contact_email: Option<String>,
    /// True if users may join by themselves.
    #[entity(column = "is_joinable", label = "Open to join")]
    pub joinable: bool,
    /// The role of those who join by themselves.
    #[entity(
        uncompared,
        max = 99,
        label = "Role of those who join",
        offered = "role"
    )]
    pub joiner_role: Option<String>,
    /// The role of those who look after it.
    #[entity(computed = |it, _| maintain_role(it.r#type.as_deref()).to_owned(), for_programs)]
    pub maintain_role: String,
    /// The internal id of the user whom it belongs to.
    #[entity(
        column = "owner_id",
        read_only,
        uncompared,
        references = "user",
        for_programs
    )]
    pub owner: Option<String>,
    /// The user whom it belongs to.
    #[entity(computed, for_programs)]
    pub site_owner: Owner,
    /// `term` and `term_eid`, where it belongs to a term.
    #[entity(kind = Object, writable, sent = BTreeMap<String, String>)]
    #[entity(computed = Self::to_props, for_programs)]
    pub props: Properties,
    /// The group of the student system that fills it.
    #[entity(read_only, uncompared, for_programs)]
    pub provider_group_id: Option<String>,
    /// True if its members may come in.
    #[entity(
        column = "is_published",
        default = "true",
        label = "Open to its members"
    )]
    pub published: bool,
    /// True if strangers may look at it.
    #[entity(column = "is_pub_view", label = "Open to the public")]
    pub pub_view: bool,
    /// Its look.
    #[entity(uncompared, max = 99, for_programs)]
    pub skin: Option<String>,
    /// The address of its icon.
    #[entity(read_only, uncompared, for_programs)]
    pub icon_url: Option<String>,
    /// The address of its icon, absolute.
    #[entity(computed = Self::to_icon_url_full, for_programs)]
    pub icon_url_full: Option<String>,
    /// Nothing.
    #[entity(computed, for_programs)]
    pub info_url: Option<String>,
    /// Nothing.
    #[entity(computed, for_programs)]
    pub info_url_full: Option<String>,
    /// The reference.
    #[entity(computed = |it, _| format!("/site/{}", it.id), for_programs)]
    pub reference: String,
    /// When it last changed.
    #[entity(computed = |it, _| it.modified_date, for_programs)]
    pub last_modified: Millis,
    /// When it came into being.
    #[entity(
        column = "created",
        read_only,
        uncompared,
        for_programs,
        label = "Created"
    )]
    pub created_date: Millis,
    /// When it came into being.
    #[entity(computed = |it, _| it.created_date.0.into(), for_programs)]
    pub created_time: Moment,
    /// When it last changed.
    #[entity(
        column = "modified",
        read_only,
        uncompared,
        for_programs,
        label = "Last changed"
    )]
    pub modified_date: Millis,
    /// When it last changed.
    #[entity(computed = |it, _| it.modified_date.0.into(), for_programs)]
    pub modified_time: Moment,
    /// Always false.
    #[entity(computed, for_programs)]
    pub softly_deleted: bool,
    /// Nothing.
    #[entity(computed, for_programs)]
    pub softly_deleted_date: Option<Millis>,
    /// Always false.
    #[entity(computed, for_programs)]
    pub empty: bool,
    /// Always false.
    #[entity(computed, for_programs)]
    pub active_edit: bool,
    /// True if somebody put the pages in order: always true.
    #[entity(computed = |_, _| true, for_programs)]
    pub custom_page_ordered: bool,
    /// The roles that members may have.
    #[entity(computed, label = "Roles")]
    pub user_roles: Vec<String>,
    /// The groups, for those who may visit the site; in lists there are none.
    #[entity(computed, label = "Groups")]
    pub site_groups: Vec<Group>,
    /// The pages, in order.
    #[entity(computed, for_programs, label = "Pages")]
    pub site_pages: Vec<PageReference>,
    /// The year or number of its term, digits only.
    #[serde(skip)]
    #[entity(hidden)]
    pub term: Option<String>,
    /// The external id of its term.
    #[serde(skip)]
    #[entity(hidden)]
    pub term_eid: Option<String>,
}

impl Site {
    fn to_props(&self, _cx: &Context) -> Properties {
        let props = [("term", &self.term), ("term_eid", &self.term_eid)];
        let props = props.into_iter();
        let props = props.filter_map(|(key, text)| Some((key.to_owned(), text.clone()?)));
        Properties(props.collect())
    }

    fn to_icon_url_full(&self, cx: &Context) -> Option<String> {
        let url = self.icon_url.as_ref()?;
        Some(match url.starts_with('/') {
            true => format!("{}{url}", cx.base_url()),
            false => url.clone(),
        })
    }

    /// Besides the site itself, what comes from other tables may change.
    fn to_version(&self) -> Version {
        Version::of(&(
            &self.id,
            self.version,
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

/// The site `id` with all its parts, whoever asks.
pub async fn find(cx: &Context, id: &str) -> Result<Option<Site>> {
    let mut sites: Vec<Site> = db::load(cx, site::Entity::find_by_id(id)).await?;
    parts::complete(cx, &mut sites).await?;
    let Some(mut site) = sites.pop() else {
        return Ok(None);
    };
    site.site_groups = parts::groups(cx, id).await?;
    Ok(Some(site))
}

/// Returns the title of the site `id`, whoever asks.
pub(crate) async fn title(cx: &Context, id: &str) -> Result<Option<String>> {
    let titles = site::Entity::find_by_id(id).select_only();
    cx.db()?.first(titles.column(site::Column::Title)).await
}

#[cfg(test)]
mod tests;
