//! The stored files that rows name, from the commit of the row on: backups, restores and the doctor look at each.

use entity_core::blob::{Blob, FILE_DAMAGED};
use entity_core::db::{Db, Sql, TableSpec};
use entity_core::schema::Role;
use entity_core::{Error, Registry, Result};
use sea_orm::{ConnectionTrait as _, QueryResult};

use super::catalog::Catalog;

/// The findings of a look at all files.
#[derive(Debug, Default)]
pub struct Survey {
    /// The number of files, each counted for every row that names it.
    pub count: usize,
    /// Those that are not whole: the row by title, site and address, the file by digest and size, and what is wrong.
    pub damaged: Vec<String>,
}

impl Survey {
    /// Looks by `look` at all files that rows of `db` name, and calls `tell` with the number of those that are done.
    ///
    /// # Errors
    /// Returns an error if the database can't be read, or if `look` fails but for a damaged file.
    pub async fn of<F: Future<Output = Result<()>>>(
        db: &Db,
        registry: &Registry,
        look: impl Fn(Blob) -> F,
        tell: impl Fn(usize),
    ) -> Result<Self> {
        let catalog = Catalog::read(&db.reader).await?;
        let mut survey = Self::default();
        for (prefix, question) in questions(registry, &catalog) {
            let mut after = String::new();
            loop {
                let mut sql = Sql::new(db.reader.get_database_backend(), &question);
                sql.bind(&*after).push(" ORDER BY id LIMIT 500");
                let rows = db.reader.query_all_raw(sql.into_statement()).await?;
                for row in &rows {
                    let blob: String = row.try_get("", "blob")?;
                    let looked = match Blob::parse(&blob) {
                        Some(it) => look(it).await,
                        None => return Err(Error::internal("no blob")),
                    };
                    match looked {
                        Err(error) if error.code() == Some(FILE_DAMAGED) => {
                            survey.damaged.push(words(prefix, row, &blob, &error)?);
                        }
                        looked => looked?,
                    }
                    survey.count = survey.count.saturating_add(1);
                    after = row.try_get("", "id")?;
                }
                if rows.is_empty() {
                    break;
                }
                tell(survey.count);
            }
        }
        Ok(survey)
    }

    /// Returns which files are not whole, if some are not.
    pub fn damage(&self) -> Option<String> {
        let (damaged, count) = (self.damaged.len(), self.count);
        let lines = self.damaged.join("\n  ");
        (damaged > 0).then(|| format!("{damaged} of {count} files are not whole:\n  {lines}"))
    }
}

/// The beginnings of the questions which rows name files, each with the prefix of the type. The book knows those of types
/// that are not linked.
fn questions(registry: &Registry, catalog: &Catalog) -> Vec<(&'static str, String)> {
    let has = |table: &str, column: &str| catalog.columns(table).contains_key(column);
    let (mut questions, mut known) = (Vec::new(), vec!["''".to_owned()]);
    for route in registry.routes() {
        let tables = route.table.map_or_else(Vec::new, |it| it().with_children());
        for (at, table) in tables.iter().enumerate() {
            for blob in table.blobs.iter().filter(|it| has(table.name, it)) {
                let title = route
                    .schema
                    .role(Role::Title)
                    .filter(|it| at == 0 && it.sql.is_none());
                let title = title.and_then(|it| it.column);
                questions.push((route.prefix, question(table, title, blob)));
                known.push(format!("'{}.{blob}'", table.name));
            }
        }
    }
    if has("stored_file_column", "name") {
        questions.push(("", format!(
            "SELECT blob AS id, blob, NULL AS title, NULL AS site_id, NULL AS site FROM stored_file WHERE unnamed IS NULL \
             AND EXISTS (SELECT 1 FROM stored_file_column WHERE name NOT IN ({})) AND blob > ",
            known.join(", ")
        )));
    }
    questions
}

/// The beginning of the question which rows of `table`, whose titles are in `title`, name files in the column `blob`.
fn question(table: &TableSpec, title: Option<&str>, blob: &str) -> String {
    let column = |it: Option<&str>| it.map_or("NULL".to_owned(), |it| format!("this.\"{it}\""));
    let (name, key, title, site) = (table.name, table.key, column(title), column(table.site));
    format!(
        "SELECT this.\"{key}\" AS id, this.\"{blob}\" AS blob, {title} AS title, {site} AS site_id, site.title AS site FROM \
         \"{name}\" this LEFT JOIN site ON site.id = {site} WHERE this.\"{blob}\" IS NOT NULL AND this.\"{key}\" > "
    )
}

fn words(prefix: &str, row: &QueryResult, blob: &str, error: &Error) -> Result<String> {
    let text = |name: &str| row.try_get::<Option<String>>("", name);
    let title = text("title")?.map_or_else(String::new, |it| format!("\"{it}\" "));
    let site = text("site_id")?.zip(text("site")?);
    let site = site.map_or_else(String::new, |(id, it)| {
        format!("in the site \"{it}\" ({id}) ")
    });
    let id = text("id")?.unwrap_or_default();
    let what = std::error::Error::source(error).map_or_else(String::new, ToString::to_string);
    Ok(format!("{title}{site}{prefix}/{id}, file {blob}: {what}"))
}
