//! The tree of folders: where an item is, what it inherits from the folders in which it is, and what follows it when it
//! moves.

use entity_core::wire::Millis;
use entity_core::{Context, Error, Operation, Result, db, gate};
use sea_orm::sea_query::{BinOper, Expr, ExprTrait as _};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _,
};

use super::content_item::{self, Column};
use super::path::{self, MAX_DEPTH, MAX_PATH};
use super::{ContentItem, FOLDER, quota};
use crate::people::site;

/// The end of time, for what is never retracted.
const NEVER: i64 = i64::MAX;

impl ContentItem {
    /// Puts the item into its folder, and lets what is in it follow. Its `resource_id` ends with its name.
    pub(super) async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let is_moved =
            before.is_none_or(|it| it.folder_id != self.folder_id || it.name() != self.name());
        if before.is_some_and(|it| it.depth == 0) {
            if is_moved {
                return Err(Error::conflict("the root folder of a site can't be moved"));
            }
            self.inherit(None);
        } else {
            let folder = self.folder(cx, before).await?;
            self.folder_id = Some(folder.id.clone());
            if let Some(before) = before.filter(|_| !is_moved) {
                self.resource_id.clone_from(&before.resource_id);
            } else {
                self.place_in(&folder)?;
                self.refuse_clash(cx).await?;
            }
            self.inherit(Some(&folder));
        }
        let former = before.map_or(0, |it| it.size);
        quota::demand(cx, &self.site_id, self.size.saturating_sub(former)).await?;
        match before {
            Some(before) if self.is_folder() => self.lead(cx, before).await,
            _ => Ok(()),
        }
    }

    /// Returns the folder in which the item is or shall be. The caller must see a folder that is new to the item.
    async fn folder(&self, cx: &Context, before: Option<&Self>) -> Result<Self> {
        let Some(id) = &self.folder_id else {
            return root(cx, &self.site_id).await;
        };
        let is_kept = before.is_some_and(|it| it.folder_id == self.folder_id);
        let found = if is_kept {
            let folder = content_item::Entity::find_by_id(id.as_str());
            db::load::<Self>(cx, folder).await?.pop()
        } else {
            seen(cx, id).await?
        };
        let is_fit = |it: &Self| it.is_folder() && it.site_id == self.site_id;
        let folder = found.filter(is_fit).ok_or_else(|| {
            Error::field("folderId", "must be the id of a folder of the same site")
        })?;
        if before
            .is_some_and(|it| it.is_folder() && folder.resource_id.starts_with(&it.resource_id))
        {
            return Err(Error::field(
                "folderId",
                "must not be the folder itself or one that is in it",
            ));
        }
        Ok(folder)
    }

    /// Gives the item another name, in the form that [`path::checked`] returns.
    pub(super) fn rename(&mut self, name: &str) {
        name.clone_into(&mut self.resource_id);
    }

    fn place_in(&mut self, folder: &Self) -> Result<()> {
        let slash = if self.is_folder() { "/" } else { "" };
        self.resource_id = format!("{}{}{slash}", folder.resource_id, self.name());
        self.depth = folder.depth.saturating_add(1);
        check_place(&self.resource_id, self.depth)
    }

    /// Refuses a path that another item of the folder has, be that a folder or not.
    async fn refuse_clash(&self, cx: &Context) -> Result<()> {
        let own = self.resource_id.trim_end_matches('/');
        let paths = [own.to_owned(), format!("{own}/")];
        let named = Column::ResourceId.is_in(paths);
        let found = db::load::<Self>(cx, content_item::Entity::find().filter(named));
        if found.await?.iter().all(|it| it.id == self.id) {
            return Ok(());
        }
        Err(Error::conflict(format!(
            "there is already something named `{}` in this folder: choose another name",
            self.name()
        )))
    }

    /// Sets what the item inherits from its `folder`.
    pub(super) fn inherit(&mut self, folder: Option<&Self>) {
        let millis = |it: Millis| it.0.timestamp_millis();
        let (opens, closes) = (
            self.release_date.map_or(0, millis),
            self.retract_date.map_or(NEVER, millis),
        );
        self.is_shut = self.hidden || folder.is_some_and(|it| it.is_shut);
        self.opens_at = folder.map_or(opens, |it| Ord::max(it.opens_at, opens));
        self.closes_at = folder.map_or(closes, |it| Ord::min(it.closes_at, closes));
    }

    /// Lets what is in the folder follow its change from the state `before`.
    async fn lead(&self, cx: &Context, before: &Self) -> Result<()> {
        if self.resource_id != before.resource_id {
            self.move_content(cx, before).await?;
        }
        let gates = |it: &Self| (it.is_shut, it.opens_at, it.closes_at);
        if gates(self) != gates(before) {
            self.pass_on(cx).await?;
        }
        Ok(())
    }

    /// Gives everything in the folder the path that follows from the folder's.
    async fn move_content(&self, cx: &Context, before: &Self) -> Result<()> {
        let db = cx.db()?;
        let content = content_item::Entity::find()
            .select_only()
            .columns([Column::ResourceId, Column::Depth])
            .filter(is_in(&before.resource_id));
        let sinks = self.depth.saturating_sub(before.depth);
        let content: Vec<(String, i64)> = content.into_tuple().all(db).await?;
        for (path, depth) in content {
            let rest = path.strip_prefix(&before.resource_id).unwrap_or_default();
            check_place(
                &format!("{}{rest}", self.resource_id),
                depth.saturating_add(sinks),
            )?;
        }
        let from = before.resource_id.chars().count().saturating_add(1);
        let rest = Expr::cust(format!("substr(resource_id, {from})"));
        let path = Expr::val(self.resource_id.as_str()).binary(BinOper::Custom("||"), rest);
        content_item::Entity::update_many()
            .col_expr(Column::Version, Column::Version.into_expr().add(1))
            .col_expr(Column::Depth, Column::Depth.into_expr().add(sinks))
            .col_expr(Column::ResourceId, path)
            .filter(is_in(&before.resource_id))
            .exec(db)
            .await?;
        Ok(())
    }

    /// Gives everything in the folder what it inherits, one level after the other.
    async fn pass_on(&self, cx: &Context) -> Result<()> {
        let db = cx.db()?;
        content_item::Entity::update_many()
            .col_expr(Column::IsShut, self.is_shut.into())
            .col_expr(Column::OpensAt, self.opens_at.into())
            .col_expr(Column::ClosesAt, self.closes_at.into())
            .filter(Column::Id.eq(self.id.as_str()))
            .exec(db)
            .await?;
        for depth in self.depth.saturating_add(1)..=MAX_DEPTH {
            let mut sql = db.sql(INHERITED);
            sql.push(" AND content.depth = ").bind(depth);
            sql.push(" AND content.resource_id > ")
                .bind(self.resource_id.as_str());
            sql.push(" AND content.resource_id < ")
                .bind(path::end(&self.resource_id));
            if db.execute_raw(sql.into_statement()).await?.rows_affected() == 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The beginning of a statement that sets what items inherit from the folder in which they are.
const INHERITED: &str = "UPDATE content SET \
    is_shut = (content.is_hidden OR folder.is_shut), \
    opens_at = CASE WHEN content.release_at > folder.opens_at THEN content.release_at ELSE folder.opens_at END, \
    closes_at = CASE WHEN content.retract_at < folder.closes_at THEN content.retract_at ELSE folder.closes_at END \
    FROM content folder WHERE folder.id = content.folder_id";

fn check_place(path: &str, depth: i64) -> Result<()> {
    if depth > MAX_DEPTH {
        return Err(Error::conflict(format!(
            "nothing can be in more than {MAX_DEPTH} folders: choose a folder further up"
        )));
    }
    if path.len() > MAX_PATH {
        return Err(Error::conflict(format!(
            "the path would be longer than {MAX_PATH} bytes: choose a shorter name or a folder further up"
        )));
    }
    Ok(())
}

/// Returns the item `id`, if the caller sees it.
pub(super) async fn seen(cx: &Context, id: &str) -> Result<Option<ContentItem>> {
    match db::read::<ContentItem>(cx, id).await? {
        Some(it) if gate::may::<ContentItem>(cx, &it, Operation::Read).await? => Ok(Some(it)),
        _ => Ok(None),
    }
}

/// Returns the root folder of `site`, which is made when something is put into it for the first time.
pub(super) async fn root(cx: &Context, site: &str) -> Result<ContentItem> {
    let path = path::root(site);
    let found = at(cx, &path).await?;
    if let Some(found) = found {
        return Ok(found);
    }
    let title = site::title(cx, site).await?;
    let mut folder = ContentItem {
        id: cx.new_id(),
        title: title.ok_or_else(Error::not_found)?,
        media_type: FOLDER.to_owned(),
        author_id: cx.user_id()?.to_owned(),
        site_id: site.to_owned(),
        resource_id: path,
        created_on: cx.now().into(),
        modified_on: cx.now().into(),
        version: 1,
        ..ContentItem::default()
    };
    folder.inherit(None);
    db::insert(cx, &folder).await?;
    Ok(folder)
}

/// Returns the condition that an item is in the folder at `path`, at any depth.
fn is_in(path: &str) -> Expr {
    let ends = Column::ResourceId.lt(path::end(path));
    Column::ResourceId.gt(path).and(ends)
}

/// Returns the item at `path`, whoever asks.
pub(super) async fn at(cx: &Context, path: &str) -> Result<Option<ContentItem>> {
    let at = Column::ResourceId.eq(path);
    Ok(db::load(cx, content_item::Entity::find().filter(at))
        .await?
        .pop())
}

/// Checks that the caller may delete `item` with everything in it.
///
/// # Errors
/// Returns an error if it is the root folder of a site, or if the caller may delete own files only and others are in it.
pub(super) async fn demand_whole(cx: &Context, item: &ContentItem) -> Result<()> {
    if item.depth == 0 {
        return Err(Error::conflict(
            "the root folder of a site can't be deleted",
        ));
    }
    let deletes_any = gate::holds(cx, "content.delete.any", &item.site_id).await?;
    if !item.is_folder() || deletes_any {
        return Ok(());
    }
    let foreign = content_item::Entity::find()
        .select_only()
        .column(Column::Id)
        .filter(is_in(&item.resource_id))
        .filter(Column::AuthorId.ne(cx.user_id()?))
        .limit(1);
    let foreign: Vec<String> = cx.db()?.select(&foreign).await?;
    match foreign.is_empty() {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}
