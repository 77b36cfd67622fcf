//! Usage of accounts and sites: the number of rows that they have in the tables that count, and the bytes of the text
//! that clients wrote into these rows.
//!
//! The database counts by itself, in triggers that the service creates from the declarations of the types. So every
//! write is counted in its own transaction, whatever does it: batches, sweeps, cascading deletions, other programs,
//! nodes of another version. The table `usage` has one row for each account and each site that has something;
//! `usage_source` says which tables are counted, and how.

mod triggers;

use sea_orm::DbBackend;

use super::children;
use crate::model::counted::Counted;
use crate::model::table::{MADE_BY, TableSpec};

pub use triggers::{Triggers, triggers};

/// The version of the triggers of a counted table: to be changed with them, so that they are created anew.
const VERSION: u32 = 2;

impl Counted {
    /// Declares the count of the tables of a record: its rows, with all text that clients write except the ids of the
    /// row, of its owner and of its site, and a row for each group that an entity is for.
    pub fn of(spec: &TableSpec) -> Vec<Self> {
        let is_id = |name| name == spec.key || spec.owner == Some(name) || spec.site == Some(name);
        let texts = spec.written.iter().copied().filter(|it| !is_id(*it));
        let own = Self {
            table: spec.name,
            owner: spec.owner.or(spec.maker_pays.then_some(MADE_BY)),
            site: spec.site,
            prefix: "",
            texts: texts.collect(),
            size: (!spec.children.is_empty()).then_some(children::SIZE),
        };
        let groups = spec
            .groups
            .map(|it| Self::new(it.table, &[]).within("site_id"));
        std::iter::once(own).chain(groups).collect()
    }

    /// Returns the statement that counts all rows of the table: it selects `kind`, `id`, `entities` and `bytes`, once
    /// for each row and each account or site for which the row counts.
    pub fn definition(&self, backend: DbBackend) -> String {
        let all = self.selects(backend, &format!("\"{}\"", self.table), "");
        format!("/* {VERSION} */ {}", all.join(" UNION ALL "))
    }

    /// Returns such statements over `table`, one for accounts and one for sites; `sign` is empty, or `-` for rows that
    /// were removed.
    fn selects(&self, backend: DbBackend, table: &str, sign: &str) -> Vec<String> {
        let shares = self.shares(backend, "r");
        let selects = shares.iter().map(|Share { kind, id, condition, bytes }| {
            format!(
                "SELECT '{kind}' AS kind, {id} AS id, {sign}1 AS entities, {sign}({bytes}) AS bytes \
                 FROM {table} AS r WHERE {condition}"
            )
        });
        selects.collect()
    }

    /// Returns the SQL for what a row counts for an account and for a site; `row` is the row's name in the statement.
    fn shares(&self, backend: DbBackend, row: &str) -> Vec<Share> {
        let bytes = self.texts.iter();
        let bytes = bytes.map(|it| format!("coalesce(octet_length({row}.\"{it}\"), 0)"));
        let beside = self.size.iter().map(|it| format!("{row}.\"{it}\""));
        let bytes: Vec<_> = bytes.chain(beside).collect();
        let bytes = match bytes.is_empty() {
            true => "0".to_owned(),
            false => bytes.join(" + "),
        };
        let kinds = [
            ("account", self.owner, ""),
            ("site", self.site, self.prefix),
        ];
        let shares = kinds.into_iter().filter_map(|(kind, column, prefix)| {
            let column = format!("{row}.\"{}\"", column?);
            let (id, condition) = match prefix.len() {
                0 => (column.clone(), format!("{column} IS NOT NULL")),
                length => (
                    format!("substr({column}, {})", length + 1),
                    format!("{column} LIKE '{prefix}%'"),
                ),
            };
            let id = match backend {
                DbBackend::Postgres => format!("CAST({id} AS text) COLLATE \"C\""),
                _ => id,
            };
            Some(Share {
                kind,
                id,
                condition,
                bytes: bytes.clone(),
            })
        });
        shares.collect()
    }
}

/// The SQL for what a row counts for an account or for a site.
struct Share {
    /// The kind of owner: `account` or `site`.
    kind: &'static str,
    /// The expression for the id of the account or site.
    id: String,
    /// The condition that the row counts for an account or site at all.
    condition: String,
    /// The expression for the number of bytes.
    bytes: String,
}

/// Returns the statement that adds the result of `selects`, statements like those of [`Counted::definition`], to the
/// table `usage`. Concurrent statements of this kind lock the rows in the same order, so that they can't deadlock.
pub fn add(selects: &[String]) -> String {
    format!(
        "INSERT INTO usage (kind, id, entities, bytes) \
         SELECT kind, id, CAST(sum(entities) AS BIGINT), CAST(sum(bytes) AS BIGINT) FROM ({}) AS change \
         GROUP BY kind, id HAVING sum(entities) <> 0 OR sum(bytes) <> 0 ORDER BY kind, id \
         ON CONFLICT (kind, id) DO UPDATE \
         SET entities = usage.entities + excluded.entities, bytes = usage.bytes + excluded.bytes",
        selects.join(" UNION ALL ")
    )
}

/// Returns the statement that counts the accounts and sites whose usage according to all `definitions` differs from the
/// table `usage`. The result is in the column `number`.
pub fn drift(definitions: &[String]) -> String {
    let told = "SELECT kind, id, -entities, -bytes FROM usage".to_owned();
    let all: Vec<_> = definitions.iter().cloned().chain([told]).collect();
    format!(
        "SELECT count(*) AS number FROM (SELECT kind, id FROM ({}) AS change \
         GROUP BY kind, id HAVING sum(entities) <> 0 OR sum(bytes) <> 0) AS wrong",
        all.join(" UNION ALL ")
    )
}
