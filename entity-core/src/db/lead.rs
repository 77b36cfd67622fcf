//! The index of trigrams in a SQLite file: which searches it leads to their rows.
//!
//! It tells which rows have all parts of three letters that the words have, so it only narrows what the conditions of the
//! search then decide. What it finds is sorted; what has a common word is found sooner by the order of the list.

use sea_orm::{ConnectionTrait as _, DbBackend};

use super::Sql;
use super::contains::Reach;
use super::record::constants::Constants;
use super::record::definition::THIS;
use super::session::Session;
use crate::contract::context::Context;
use crate::contract::search::{Needle, Search, Test, is_searched};
use crate::model::schema::{Field, Schema};
use crate::words::error::Result;

/// The table of a SQLite file that says of each [`TextIndex`] whether it is whole.
pub const SEARCHES: &str = "search_index";
/// The letters of which a part consists.
const LETTERS: usize = 3;
/// The maximum number of parts of a word that are looked up: more lead to hardly fewer rows.
const MOST_PARTS: usize = 12;
/// The maximum number of rows to which the index leads: they are read in some fifty milliseconds.
const MOST_ROWS: i64 = 10_000;

/// The names of the two tables of an index of trigrams in a SQLite file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextIndex {
    /// The table of FTS5, whose rows have numbers.
    pub entries: String,
    /// The table that has the `number` of each `key`.
    pub keys: String,
}

impl TextIndex {
    /// The beginning of the names of all [`entries`](Self::entries).
    pub const ENTRIES: &str = "search_of_";

    /// Returns the names for the texts of `table`.
    pub fn of(table: &str) -> Self {
        Self {
            entries: format!("{}{table}", Self::ENTRIES),
            keys: format!("search_key_of_{table}"),
        }
    }
}

/// The question to the index for a search, in the language of FTS5.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lead(String);

impl Lead {
    /// Returns what leads to the rows of `search`, if the index is whole and leads to few.
    pub(super) async fn of(of: &Constants, cx: &Context, search: &Search) -> Result<Option<Self>> {
        let session = cx.db()?;
        // A failure would end a transaction that writes.
        let is_served = matches!(session, Session::Reader(_))
            && session.get_database_backend() == DbBackend::Sqlite
            && Reach::of(search) == Reach::Everything;
        let Some(parts) = parts(search, of.schema()).filter(|_| is_served) else {
            return Ok(None);
        };
        let index = TextIndex::of(of.table);
        let mut sql = session.sql("SELECT CASE WHEN (SELECT is_whole FROM ");
        sql.push(SEARCHES)
            .push(" WHERE table_name = ")
            .bind(of.table);
        sql.push(") THEN (SELECT count(*) FROM (SELECT 1 FROM \"")
            .push(&index.entries);
        sql.push("\"(")
            .bind(parts.as_str())
            .push(") LIMIT ")
            .bind(MOST_ROWS + 1);
        sql.push(")) ELSE -1 END");
        let counts = session
            .scan(sql.into_statement(), crate::db::columns::<i64>)
            .await;
        // Without the index, or where it is damaged, the search finds the same by other ways.
        let count = counts.ok().and_then(|it| it.first().copied());
        Ok(count
            .is_some_and(|it| (0..=MOST_ROWS).contains(&it))
            .then_some(Self(parts)))
    }

    /// Appends ` FROM …`: the rows of the table to which this leads.
    pub(super) fn write_from(&self, of: &Constants, sql: &mut Sql) {
        let TextIndex { entries, keys } = TextIndex::of(of.table);
        sql.push(" FROM (SELECT k.key FROM \"")
            .push(&entries)
            .push("\"(");
        sql.bind(self.0.as_str())
            .push(") AS e CROSS JOIN \"")
            .push(&keys);
        // SQLite keeps the order of tables that are joined so.
        sql.push("\" AS k ON k.number = e.rowid) AS led CROSS JOIN \"");
        sql.push(of.table).push("\" ").push(THIS).push(" ON ");
        sql.column(THIS, of.key).push(" = led.key");
    }
}

/// Returns the parts that all rows of `search` have in their folded texts, as FTS5 is asked for them; `None` if there
/// are none.
fn parts(search: &Search, schema: &Schema) -> Option<String> {
    let is_folded = |it: &Field| it.folded_column().is_some();
    let mut searched = schema.fields.iter().filter(|it| is_searched(it));
    // A word may be in any field.
    let words: &[String] = match searched.all(is_folded) {
        true => &search.words,
        false => &[],
    };
    let filters = search.filters.iter().filter(|it| is_folded(it.field));
    let likes = filters.filter_map(|it| match &it.test {
        Test::Like(text) => Some(text),
        _ => None,
    });
    let mut parts: Vec<String> = likes
        .chain(words)
        .flat_map(|it| of_needle(&Needle::new(it)))
        .collect();
    parts.sort_unstable();
    parts.dedup();
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

/// Returns some parts of `needle`, each as FTS5 has it: in quotes.
fn of_needle(needle: &Needle) -> Vec<String> {
    let letters: Vec<char> = needle.text().chars().collect();
    // FTS5 sees nothing behind this letter.
    if letters.contains(&'\0') {
        return Vec::new();
    }
    let step = letters.len().div_ceil(MOST_PARTS).max(1);
    let parts = letters.windows(LETTERS).step_by(step);
    parts
        .map(|it| format!("\"{}\"", String::from_iter(it).replace('"', "\"\"")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::search::Filter;
    use crate::model::schema::Kind;

    const FIELDS: &[Field] = &[
        Field::new("a", Kind::Text(99), "").column("a").searchable(),
        Field::new("b", Kind::Text(99), "").column("b"),
    ];

    #[test]
    fn a_word_is_looked_up_by_its_parts() {
        let parts = |text: &str| of_needle(&Needle::new(text));
        assert_eq!(parts("Ähren"), ["\"ahr\"", "\"hre\"", "\"ren\""]);
        assert_eq!(parts("a\"b"), ["\"a\"\"b\""]);
        assert_eq!(parts("🎓🎉🎓"), ["\"🎓🎉🎓\""]);
        for nothing in ["", "ab", "é", "a\0bc"] {
            assert_eq!(parts(nothing), [""; 0], "{nothing:?}");
        }
        let long: String = ('a'..='z').cycle().take(200).collect();
        assert!((1..=MOST_PARTS).contains(&parts(&long).len()));
    }

    #[test]
    fn only_what_all_rows_have_is_looked_up() {
        let like = |field, text: &str| Filter {
            field,
            test: Test::Like(text.to_owned()),
        };
        let search = Search {
            words: vec!["ab".to_owned()],
            filters: vec![like(&FIELDS[0], "xyz"), like(&FIELDS[1], "plain")],
            ..Search::default()
        };
        let schema = Schema {
            doc: "",
            fields: FIELDS,
            has_feed: false,
            has_events: false,
            has_site: false,
            look: crate::model::look::Look::PLAIN,
        };
        assert_eq!(parts(&search, &schema).as_deref(), Some("\"xyz\""));
    }
}
