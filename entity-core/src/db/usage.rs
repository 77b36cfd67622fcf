//! How much accounts and sites have: rows of the tables that count, and the bytes of what people wrote into them.
//!
//! The database counts by itself, in triggers that the service makes from what a type declares. So whatever writes is
//! counted, in the transaction that writes it, and nothing can forget to: batches, sweeps, what goes with something
//! else, other programs, nodes of another version. The table `usage` has one row for each account and each site that
//! has something; `usage_source` says which tables are counted, and how.

mod triggers;

use std::borrow::Cow;

use sea_orm::DbBackend;

use super::column::ColumnType;
use super::table::TableSpec;

pub use triggers::{Triggers, triggers};

/// Which triggers a table has that is counted so: to be changed with them, so that they are made anew.
const VERSION: u32 = 2;

/// A table whose rows count as what an account and a site have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The table.
    pub table: &'static str,
    /// The column with the internal id of the account that a row counts for, if there is one.
    pub owner: Option<&'static str>,
    /// The column with the id of the site that a row counts for, if there is one.
    pub site: Option<&'static str>,
    /// What stands before the id in that column; rows with something else there count for no site.
    pub prefix: &'static str,
    /// The columns with what people wrote, whose bytes count. What the service keeps beside it does not: folded text,
    /// indexes, ids, dates.
    pub texts: Cow<'static, [&'static str]>,
}

impl Counted {
    /// Rows of `table` count with the bytes of `texts`.
    pub const fn new(table: &'static str, texts: &'static [&'static str]) -> Self {
        Self {
            table,
            owner: None,
            site: None,
            prefix: "",
            texts: Cow::Borrowed(texts),
        }
    }

    /// They count for the account that `column` names.
    #[must_use]
    pub const fn owned_by(mut self, column: &'static str) -> Self {
        self.owner = Some(column);
        self
    }

    /// They count for the site that `column` names.
    #[must_use]
    pub const fn within(mut self, column: &'static str) -> Self {
        self.site = Some(column);
        self
    }

    /// They count for the site that `column` names behind `prefix`, which has no quotes and no wildcards.
    #[must_use]
    pub const fn within_path(mut self, column: &'static str, prefix: &'static str) -> Self {
        self.site = Some(column);
        self.prefix = prefix;
        self
    }

    /// What counts of a table that the service looks after: its rows, with all text but the ids of the row, of its
    /// owner and of its site.
    pub fn of(spec: &TableSpec) -> Self {
        let is_id = |name| name == spec.key || spec.owner == Some(name) || spec.site == Some(name);
        let texts = spec.columns.iter().filter_map(|(name, kind, _)| {
            (*kind == ColumnType::Text && !is_id(*name)).then_some(*name)
        });
        Self {
            table: spec.name,
            owner: spec.owner,
            site: spec.site,
            prefix: "",
            texts: texts.collect(),
        }
    }

    /// What all rows of the table count: a statement that answers `kind`, `id`, `entities` and `bytes`, once for each
    /// account and each site that a row counts for.
    pub fn definition(&self, backend: DbBackend) -> String {
        let all = self.selects(backend, &format!("\"{}\"", self.table), "");
        format!("/* {VERSION} */ {}", all.join(" UNION ALL "))
    }

    /// The same of `table`, one statement for accounts and one for sites; `sign` is empty, or `-` for rows that went.
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

    /// What a row counts that a statement calls `row`: for an account and for a site.
    fn shares(&self, backend: DbBackend, row: &str) -> Vec<Share> {
        let bytes = self.texts.iter();
        let bytes = bytes.map(|it| format!("coalesce(octet_length({row}.\"{it}\"), 0)"));
        let bytes = match self.texts.is_empty() {
            true => "0".to_owned(),
            false => bytes.collect::<Vec<_>>().join(" + "),
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

/// What a row counts for an account or for a site, in SQL.
struct Share {
    /// For which of the two.
    kind: &'static str,
    /// For which account or site.
    id: String,
    /// Whether it counts for any.
    condition: String,
    /// How many bytes.
    bytes: String,
}

/// Adds what `selects`, statements like those of [`Counted::definition`], answer to what is counted. Whoever runs several of these
/// at once meets the rows in the same order, so that no two wait for each other.
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

/// Asks how many accounts and sites have something else than `usage` says, by all `definitions`. The answer is in the
/// column `number`.
pub fn drift(definitions: &[String]) -> String {
    let told = "SELECT kind, id, -entities, -bytes FROM usage".to_owned();
    let all: Vec<_> = definitions.iter().cloned().chain([told]).collect();
    format!(
        "SELECT count(*) AS number FROM (SELECT kind, id FROM ({}) AS change \
         GROUP BY kind, id HAVING sum(entities) <> 0 OR sum(bytes) <> 0) AS wrong",
        all.join(" UNION ALL ")
    )
}
