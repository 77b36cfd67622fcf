//! Files that are attached to entities, and the permissions to open and attach them.
//!
//! The address of such a file is `/access/content/attachment/{site}/{id}/{name}`. An entity of any type that is stored as
//! a [record](crate::db::Record) holds the file by having the address in a column that clients write. The file is for those
//! who see the entity, so that whoever writes an address must be able to open the file: otherwise everybody who knows
//! the address could open it by means of an entity of their own. Which entities name which files is [noted](uses) when
//! they are written.

pub mod loose;
pub mod uses;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::Value;

use crate::contract::context::Context;
use crate::contract::registry::Registry;
use crate::contract::reply::Item;
use crate::db::record::any::AnyRecord;
use crate::db::record::constants::Constants;
use crate::db::record::row_of;
use crate::model::file::{ATTACHED_FILES, OWN_FILES};
use crate::primitives::error::{Error, Result};
use crate::primitives::path::encode_segment;

/// A file that is attached to entities of a site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedFile {
    /// The id of the file.
    pub id: String,
    /// The site to which it belongs.
    pub site: String,
    /// The internal id of the account that stored it.
    pub author: String,
}

/// Finds the files that are attached to entities. The type that stores them implements this trait.
#[async_trait]
pub trait AttachedFiles: Send + Sync {
    /// Returns the file with this id, if there is one, whoever asks.
    async fn find(&self, cx: &Context, id: &str) -> Result<Option<AttachedFile>>;

    /// Returns the table in which they are, and the SQL condition by which its row `this` is one of them. The table has
    /// the columns `id`, `site_id`, `author_id`, `blob`, `size` and `created`.
    fn table(&self) -> (&'static str, &'static str);
}

/// The attached files of a service, one of the [services](crate::context::Shared::services) that its units of work share. Without
/// this service there are none.
#[derive(derive_more::Debug)]
#[debug("AttachedFileService")]
pub struct AttachedFileService(pub Arc<dyn AttachedFiles>);

impl AttachedFile {
    /// Returns whether the caller may open the file: because the caller stored it, or sees an entity of its site that
    /// names it. Of those that name it, the ones that named it first are asked first.
    ///
    /// # Errors
    /// Returns an error if the database can't be read or a permission could not be decided.
    pub async fn may_be_opened(&self, cx: &Context) -> Result<bool> {
        if cx.caller().user_id() == Some(self.author.as_str()) {
            return Ok(true);
        }
        let registry = cx.service::<Registry>()?;
        let mark = self.mark();
        let mut last = None;
        loop {
            let uses = uses::behind(cx, self, last.as_ref()).await?;
            let Some(end) = uses.last().cloned() else {
                return Ok(false);
            };
            last = Some(end);
            let mut ids = BTreeMap::<String, Vec<String>>::new();
            for (_, holder, id) in uses {
                ids.entry(holder).or_default().push(id);
            }
            let routes = registry
                .routes()
                .filter_map(|it| Some((it.load?, it.table?)));
            for (load, table) in routes {
                let Some(ids) = ids.remove(table().name) else {
                    continue;
                };
                let found = load(cx, &ids).await;
                // A field that the caller does not see is not in the data.
                let names = |it: &Item| {
                    serde_json::to_string(&it.data()).is_ok_and(|it| it.contains(&mark))
                };
                match found {
                    Ok(found) if found.iter().any(names) => return Ok(true),
                    Err(error) if !error.is_refusal() => return Err(error),
                    _ => {}
                }
            }
        }
    }

    /// Returns the part of the address by which the file is found in what entities have.
    fn mark(&self) -> String {
        let site = encode_segment(&self.site);
        format!("{OWN_FILES}{ATTACHED_FILES}{site}/{}/", self.id)
    }
}

/// The attached files whose addresses are in the columns that clients write: the column and the id of each.
type Named<'a> = Vec<(&'a str, &'a str)>;

fn named<'a>(of: &Constants, columns: &'a [(String, Value)]) -> Named<'a> {
    let columns = columns
        .iter()
        .filter(|it| of.written.contains(&it.0.as_str()));
    let texts = columns.filter_map(|(column, value)| match value {
        Value::String(Some(text)) => Some((column.as_str(), named_in(text))),
        _ => None,
    });
    texts
        .flat_map(|(column, ids)| ids.into_iter().map(move |id| (column, id)))
        .collect()
}

/// Notes which attached files an entity with this key and of this site names in `columns`, columns of its row that are
/// about to be written, and which it names no more since `former`, its columns before. What the caller names anew is a
/// file that the caller may open; what the service does on its own is not checked.
///
/// # Errors
/// Returns an error that names the field if the caller may not open a file.
pub(super) async fn note(
    of: &Constants,
    cx: &Context,
    (key, site): (&str, Option<&str>),
    columns: &[(String, Value)],
    former: &[(String, Value)],
) -> Result<()> {
    let now = named(of, columns);
    let is_kept = |column: &str| !columns.iter().any(|new| new.0 == column);
    let (kept, before): (Named<'_>, Named<'_>) =
        named(of, former).into_iter().partition(|it| is_kept(it.0));
    if now == before {
        return Ok(());
    }
    // A rare case is kept out of the code of every write.
    Box::pin(async move {
        for (column, id) in now.iter().filter(|it| !before.contains(it)) {
            let Some(file) = find(cx, id).await? else {
                continue;
            };
            if cx.serves_somebody() && !file.may_be_opened(cx).await? {
                let message = "must not name an attached file that you can't open";
                return Err(Error::field(field_of(of, column), message));
            }
            if site == Some(file.site.as_str()) {
                uses::insert(cx, &file.id, of.table, key).await?;
            }
        }
        let stays = |id: &&str| now.iter().chain(&kept).any(|it| it.1 == *id);
        let gone: Vec<&str> = before
            .iter()
            .map(|it| it.1)
            .filter(|it| !stays(it))
            .collect();
        uses::remove(cx, of.table, key, &gone).await
    })
    .await
}

/// Notes that `record`, which is about to be deleted, names no file any more.
pub(super) async fn forget(cx: &Context, record: &dyn AnyRecord) -> Result<()> {
    let former = row_of(record);
    let emptied = former.iter().map(|it| (it.0.clone(), Value::String(None)));
    let emptied: Vec<_> = emptied.collect();
    note(
        record.constants(),
        cx,
        (record.key(), None),
        &emptied,
        &former,
    )
    .await
}

/// Returns the attached file with this id, if there is one.
async fn find(cx: &Context, id: &str) -> Result<Option<AttachedFile>> {
    match cx.shared.services.get::<AttachedFileService>() {
        Some(files) => files.0.find(cx, id).await,
        None => Ok(None),
    }
}

/// Returns the ids of the attached files whose addresses are in a text.
fn named_in(text: &str) -> Vec<&str> {
    let start = format!("{OWN_FILES}{ATTACHED_FILES}");
    let mut ids = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(&start) {
        let behind = rest.get(at.saturating_add(start.len())..);
        let mut segments = behind.unwrap_or_default().split('/').skip(1);
        if let (Some(id), Some(_name)) = (segments.next(), segments.next())
            && !ids.contains(&id)
        {
            ids.push(id);
        }
        // An address may begin with the last slash of another one.
        rest = rest.get(at.saturating_add(1)..).unwrap_or_default();
    }
    ids
}

/// Returns the name by which clients know the field that is stored in `column`.
fn field_of<'a>(of: &Constants, column: &'a str) -> &'a str {
    let plain = column.replace('_', "");
    let fields = of.schema().fields.iter();
    let mut named =
        fields.filter(|it| it.column == Some(column) || it.name.eq_ignore_ascii_case(&plain));
    named.next().map_or(column, |it| it.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_of_an_attached_file_is_found_in_a_text() {
        for (text, expected) in [
            ("", vec![]),
            ("/access/content/group/a/x/y.pdf", vec![]),
            ("/access/content/attachment/a/x", vec![]),
            ("/access/content/attachment/a/x/", vec!["x"]),
            (
                "<a href=\"/access/content/attachment/a/x/1.pdf\">1</a> \
                 <img src=\"https://b.example/access/content/attachment/a/y/2.png\">",
                vec!["x", "y"],
            ),
            (
                "/access/content/attachment/access/content/attachment/a/x/1.pdf",
                vec!["content", "x"],
            ),
            (
                "/access/content/attachment//access/content/attachment/a/x/",
                vec!["access", "x"],
            ),
        ] {
            assert_eq!(named_in(text), expected, "{text}");
        }
    }
}
