//! `/direct/content`: the files, folders and links of a site.

mod actions;
mod attachment;
mod copy;
mod node;
pub mod open;
pub(crate) mod path;
mod place;
mod quota;
mod tree;
mod upload;
mod zip;

use std::collections::HashMap;

use entity_core::blob::Blob;
use entity_core::db::{self, RowPolicy};
use entity_core::primitives::is_web_address;
use entity_core::wire::Millis;
use entity_core::{
    Access, Context, DateTimeUtc, Delete, Entity, Error, FieldError, Need, Result, Scope, standard,
};
use sea_orm::Value;
use serde::Serialize;

use crate::base::fields::seen;

pub use attachment::Attached;
pub(crate) use upload::{attach_uploads, room};

/// The function of those who read files.
const READ: &str = "content.read";
/// The function of those who see what is hidden from others.
const HIDDEN: &str = "content.hidden";
/// The media type of folders.
const FOLDER: &str = "collection";
/// The media type of links.
const LINK: &str = "text/url";

/// The public reads the files of a site that is open to it.
const ACCESS: Access = Access {
    read: Need::PublicView(READ, &Need::Site(READ)),
    create: Need::Site("content.new"),
    update: Need::SiteOrOwn("content.revise.any", "content.revise.own"),
    delete: Need::SiteOrOwn("content.delete.any", "content.delete.own"),
};

/// The condition that something is not hidden, released and not retracted, and that the same holds for the folders in
/// which it is.
const IS_OPEN: &str = "NOT this.is_shut AND this.opens_at <= {now} AND {now} < this.closes_at";

/// Items that are closed, or in a closed folder, are for those who see hidden files. A file that is attached to another
/// entity is no part of the tree.
const SIGHT: RowPolicy = RowPolicy::All(&[
    RowPolicy::Sql("this.depth >= 0"),
    RowPolicy::Any(&[RowPolicy::Sql(IS_OPEN), RowPolicy::Holds(HIDDEN)]),
]);

/// A file, a folder or a link of a site.
#[standard(version, facts)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(tool = "sakai.resources", layout = folder)]
#[entity(prefix = "content", table = "content", access = ACCESS, sight = SIGHT, plural = "Files")]
#[entity(singular = "File")]
#[entity(check = Self::check, settle = Self::settle, complete = Self::complete, version = seen)]
#[entity(check_archived = upload::check_archived)]
#[entity(verbs(read, list, create, update), order = "resourceId,id")]
pub struct ContentItem {
    /// The id, which stays the same when the file is moved or its bytes are replaced.
    #[entity(id)]
    pub id: String,
    /// The name that people see. A new folder or link also has it as its name in addresses.
    #[entity(title, search, optional)]
    pub title: String,
    /// The description.
    #[entity(search)]
    pub description: Option<String>,
    /// The absolute address of the bytes, of the page of a folder, or of the redirection of a link.
    #[entity(computed = |it, cx| path::url(cx, &it.resource_id), for_programs)]
    pub url: String,
    /// The address to which a link leads.
    #[entity(address, max = 2000, label = "Address")]
    pub web_link_url: Option<String>,
    /// `collection` for a folder, `text/url` for a link, or the media type of a file.
    #[serde(rename = "type")]
    #[entity(
        column = "media_type",
        on_create,
        optional,
        choices("collection" = "Folder", "text/url" = "Web address"),
        fact
    )]
    pub media_type: String,
    /// The bytes of a file.
    #[serde(skip)]
    #[entity(hidden)]
    pub blob: Option<Blob>,
    /// The number of bytes of a file; 0 for everything else.
    #[entity(read_only)]
    pub size: i64,
    /// The name of the author.
    #[entity(name_of = author_id, author)]
    pub author: String,
    /// The internal id of the author.
    #[entity(owner, references = "user", for_programs)]
    pub author_id: String,
    /// The instant of the last change as 17 digits, from the year to the milliseconds, in UTC.
    #[entity(computed = |it, _| path::digits(it.modified_on), for_programs)]
    pub modified_date: String,
    /// The reference of the folder in which it is.
    #[entity(computed = |it, _| path::container(&it.resource_id), for_programs)]
    pub container: String,
    /// The id of the folder in which it is. A new entity without one is in the root folder of the site.
    #[entity(on_create, parent = ContentItem, references = "content", label = "Folder")]
    #[entity(hint = "Where it is. Without one, it is at the top.")]
    pub folder_id: Option<String>,
    /// True if everybody who may read the files of the site sees it now.
    #[entity(computed = |it, cx| it.is_open(cx.now()), for_programs)]
    pub visible: bool,
    /// True if it is hidden, with everything in it.
    #[entity(column = "is_hidden", badge = warn)]
    pub hidden: bool,
    /// The number of files, folders and links in a folder that the caller sees.
    #[entity(computed, label = "Entries")]
    pub num_children: i64,
    /// The instant at which it appears, with everything in it.
    #[entity(column = "release_at", label = "Appears")]
    pub release_date: Option<Millis>,
    /// The instant at which it disappears, with everything in it.
    #[entity(column = "retract_at", label = "Disappears")]
    pub retract_date: Option<Millis>,
    /// The instant at which it appears, as 17 digits.
    #[entity(computed = |it, _| it.release_date.map(path::digits), for_programs)]
    pub from_date: Option<String>,
    /// The instant at which it disappears, as 17 digits.
    #[entity(computed = |it, _| it.retract_date.map(path::digits), for_programs)]
    pub end_date: Option<String>,
    /// The remark about copyright that people are shown before they open it.
    #[entity(max = 255, label = "Remark about copyright")]
    pub copyright_alert: Option<String>,
    /// The number of bytes that the files of the site may have, for folders.
    #[entity(computed, for_programs)]
    pub quota: Option<String>,
    /// The number of bytes of the files of the site that the caller sees, for folders.
    #[entity(computed, for_programs)]
    pub usage: Option<String>,
    /// The site.
    #[entity(site, references = "site")]
    pub site_id: String,
    /// The path of the file within the service, such as `/group/{site}/Week 1/slides.pdf`; that of a folder ends with a
    /// slash.
    #[entity(read_only, unique, max = 1000, for_programs)]
    pub resource_id: String,
    /// The number of folders in which it is.
    #[entity(read_only, for_programs)]
    pub depth: i64,
    /// When it was created.
    #[entity(created, column = "created", label = "Created")]
    pub created_on: Millis,
    /// When it last changed.
    #[entity(updated, column = "modified", label = "Last changed")]
    pub modified_on: Millis,
    /// True if it is hidden itself or in a folder that is.
    #[serde(skip)]
    #[entity(hidden)]
    pub is_shut: bool,
    /// The instant at which it and all folders in which it is are released, in milliseconds.
    #[serde(skip)]
    #[entity(hidden)]
    pub opens_at: i64,
    /// The instant at which it or one of the folders in which it is is retracted, in milliseconds.
    #[serde(skip)]
    #[entity(hidden)]
    pub closes_at: i64,
    /// The place among the files of the site.
    #[serde(skip)]
    #[entity(position)]
    pub position: i64,
}

entity_core::register!(ContentItem, demo = include_str!("../../demo/content.json"));

impl Delete for ContentItem {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        tree::demand_whole(cx, &current).await?;
        db::delete(cx, current).await
    }
}

impl ContentItem {
    /// Returns whether it is a folder.
    pub fn is_folder(&self) -> bool {
        self.media_type == FOLDER
    }

    /// Returns whether it is a link.
    pub fn is_link(&self) -> bool {
        self.media_type == LINK
    }

    /// Returns the last segment of the path.
    pub fn name(&self) -> &str {
        path::name(&self.resource_id)
    }

    fn is_open(&self, now: DateTimeUtc) -> bool {
        let now = now.timestamp_millis();
        !self.is_shut && self.opens_at <= now && now < self.closes_at
    }

    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        self.receive(cx)?;
        if self.title.trim().is_empty() {
            return Err(Error::field("title", "must not be empty"));
        }
        if let (Some(release), Some(retract)) = (self.release_date, self.retract_date)
            && retract < release
        {
            return Err(Error::disordered("releaseDate", "retractDate"));
        }
        if self.media_type.is_empty() {
            FOLDER.clone_into(&mut self.media_type);
        }
        let message = match (self.is_link(), &self.web_link_url) {
            (true, url) if !url.as_deref().is_some_and(is_web_address) => {
                "must be the address of http or https to which the link leads"
            }
            (false, Some(_)) => {
                let fields = [
                    ("webLinkUrl", "must be empty, except for a link"),
                    ("type", "must be `text/url` with the address of a link"),
                ];
                let fields = fields.map(|(name, message)| FieldError {
                    name: name.to_owned(),
                    message: message.to_owned(),
                });
                return Err(Error::fields(fields.to_vec()));
            }
            _ => "",
        };
        if !message.is_empty() {
            return Err(Error::field("webLinkUrl", message));
        }
        if before.is_none() && self.resource_id.is_empty() {
            self.resource_id = path::name_of(&self.title)?;
        }
        Ok(())
    }

    /// Adds to each folder how much is in it that the caller sees.
    async fn complete(cx: &Context, items: &mut [Self]) -> Result<()> {
        let folders: Vec<_> = items.iter().filter(|it| it.is_folder()).collect();
        if folders.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = folders.iter().map(|it| it.id.as_str()).collect();
        let sites: Vec<_> = folders.iter().map(|it| it.site_id.as_str()).collect();
        let scope = cx.authorizer().scope(cx, HIDDEN).await?;
        let children = sums(cx, ("folder_id", "count(*)"), &ids, &scope).await?;
        let usage = sums(cx, ("site_id", "sum(this.size)"), &sites, &scope).await?;
        let quota = quota::of_site(cx)?.to_string();
        for it in items.iter_mut().filter(|it| it.is_folder()) {
            it.num_children = children.get(&it.id).copied().unwrap_or_default();
            it.usage = Some(
                usage
                    .get(&it.site_id)
                    .copied()
                    .unwrap_or_default()
                    .to_string(),
            );
            it.quota = Some(quota.clone());
        }
        Ok(())
    }
}

/// Returns a sum over the rows that the caller sees for each of `keys`, the values of a column. `scope` are the sites in
/// which the caller sees what is hidden.
async fn sums(
    cx: &Context,
    (column, sum): (&str, &str),
    keys: &[&str],
    scope: &Scope,
) -> Result<HashMap<String, i64>> {
    let db = cx.db()?;
    let mut sql = db.sql("SELECT this.");
    sql.push(column).push(", CAST(").push(sum);
    sql.push(" AS bigint) FROM content this WHERE this.");
    sql.push(column)
        .bind_list(keys)?
        .push(" AND this.depth >= 0 AND ((");
    sql.expression(IS_OPEN, db::Variables::of(cx)).push(") OR ");
    match scope {
        Scope::Everything => sql.bind(Value::Bool(Some(true))),
        Scope::Sites(sites) => sql.push("this.site_id").bind_list(sites)?,
    };
    sql.push(") GROUP BY this.").push(column);
    let rows = db.rows(sql.into_statement(), db::columns);
    Ok(rows.await?.into_iter().collect())
}
