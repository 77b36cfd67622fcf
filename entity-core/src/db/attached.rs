//! Files that are attached to entities: who opens them, and who may attach them.
//!
//! The address of such a file is `/access/content/attachment/{site}/{id}/{name}`. An entity of any type that is stored as
//! a [record](crate::db::Record) holds the file by having the address in a column that clients write. The file is for those
//! who see the entity, so that whoever writes an address must be able to open the file: otherwise everybody who knows
//! the address could open it by means of an entity of their own.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use sea_orm::{DbBackend, Value};

use crate::contract::context::Context;
use crate::contract::look_up::look_up;
use crate::contract::registry::Registry;
use crate::contract::reply::Body;
use crate::db::record::definition::Record;
use crate::model::file::{ATTACHED_FILES, OWN_FILES};
use crate::words::error::{Error, Result};
use crate::words::path::{DirectPath, encode_segment};

/// The maximum number of entities that are asked whether the caller sees a file in them.
const MOST_HOLDERS: i64 = 50;

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
}

/// The attached files of a service, one of the [services](crate::context::Shared::services) that its units of work share. Without
/// this service there are none.
pub struct AttachedFileService(pub Arc<dyn AttachedFiles>);

impl fmt::Debug for AttachedFileService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AttachedFileService")
    }
}

impl AttachedFile {
    /// Returns whether the caller may open the file: because the caller stored it, or sees an entity of its site that
    /// holds it.
    ///
    /// # Errors
    /// Returns an error if the database can't be read or a permission could not be decided.
    pub async fn may_be_opened(&self, cx: &Context) -> Result<bool> {
        if cx.caller().user_id() == Some(self.author.as_str()) {
            return Ok(true);
        }
        let registry = cx.service::<Registry>()?;
        let mark = self.mark();
        for (prefix, key) in self.holders(cx, &registry).await? {
            let path = DirectPath::new(&prefix, [key]);
            match look_up(&registry, cx, path, Vec::new()).await {
                Ok(reply) => {
                    if let Body::Entity(item) = reply.body
                        && serde_json::to_string(&item.data()).is_ok_and(|it| it.contains(&mark))
                    {
                        return Ok(true);
                    }
                }
                Err(error) if error.is_refusal() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    /// Returns the part of the address by which the file is found in what entities have.
    fn mark(&self) -> String {
        let site = encode_segment(&self.site);
        format!("{OWN_FILES}{ATTACHED_FILES}{site}/{}/", self.id)
    }

    /// Returns the prefixes and keys of the entities of the site in which clients wrote the address.
    async fn holders(&self, cx: &Context, registry: &Registry) -> Result<Vec<(String, String)>> {
        let db = cx.db()?;
        let mark = self.mark();
        let mut sql = db.sql("SELECT prefix, key FROM (");
        let position = match sql.backend() {
            DbBackend::Postgres => "strpos(",
            _ => "instr(",
        };
        let mut before = "";
        for route in registry.routes() {
            let Some(table) = route.table.map(|it| it()) else {
                continue;
            };
            let (Some(site), [_, ..]) = (table.site, table.written) else {
                continue;
            };
            sql.push(before).push("SELECT '").push(route.prefix);
            sql.push("' AS prefix, ").column("this", table.key);
            sql.push(" AS key FROM \"").push(table.name);
            sql.push("\" this WHERE ").column("this", site);
            sql.push(" = ").bind(self.site.as_str());
            let mut between = " AND (";
            for column in table.written {
                sql.push(between).push(position).column("this", column);
                sql.push(", ").bind(mark.as_str()).push(") > 0");
                between = " OR ";
            }
            sql.push(")");
            before = " UNION ALL ";
        }
        if before.is_empty() {
            return Ok(Vec::new());
        }
        sql.push(") holder LIMIT ").bind(MOST_HOLDERS);
        db.scan(sql.into_statement(), crate::db::columns).await
    }
}

/// Checks that the caller may open each attached file whose address is in `columns`, the columns of a `T` that are
/// about to be written, and was not in `former`, the columns with which they are replaced. What the
/// service does on its own is not checked.
///
/// # Errors
/// Returns an error that names the field if the caller may not open a file.
pub(super) async fn demand<T: Record>(
    cx: &Context,
    columns: &[(String, Value)],
    former: &[(String, Value)],
) -> Result<()> {
    if !cx.serves_somebody() {
        return Ok(());
    }
    for (column, value) in columns {
        let ids = named_in(value);
        if ids.is_empty() || !T::WRITTEN.contains(&column.as_str()) {
            continue;
        }
        let before = former.iter().find(|it| it.0 == *column);
        let before = before.map_or_else(Vec::new, |it| named_in(&it.1));
        for id in ids.iter().filter(|it| !before.contains(it)) {
            // What seldom happens is to take no room in every write.
            if !Box::pin(may_open(cx, id)).await? {
                let message = "must not name an attached file that you can't open";
                return Err(Error::field(field_of::<T>(column), message));
            }
        }
    }
    Ok(())
}

/// Returns whether the caller may open the attached file with this id, or there is none.
async fn may_open(cx: &Context, id: &str) -> Result<bool> {
    let Some(files) = cx.shared.services.get::<AttachedFileService>() else {
        return Ok(true);
    };
    match files.0.find(cx, id).await? {
        Some(file) => file.may_be_opened(cx).await,
        None => Ok(true),
    }
}

/// Returns the ids of the attached files whose addresses are in a value.
fn named_in(value: &Value) -> Vec<&str> {
    let Value::String(Some(text)) = value else {
        return Vec::new();
    };
    let start = format!("{OWN_FILES}{ATTACHED_FILES}");
    let mut ids = Vec::new();
    let mut rest = text.as_str();
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
fn field_of<T: Record>(column: &str) -> &str {
    let plain = column.replace('_', "");
    let fields = T::schema().fields.iter();
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
            let value = Value::from(text);
            assert_eq!(named_in(&value), expected, "{text}");
        }
    }
}
