//! Conditions that a field contains a text, and the choice whether an index of trigrams may lead to the rows.

use sea_orm::DbBackend;

use super::Sql;
use super::veil::Columns;
use crate::contract::access::Scope;
use crate::contract::search::{Filter, Needle, Search, Test};
use crate::model::schema::{Field, Role};
use crate::words::error::Result;

/// The rows among which a search finds its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of everybody: only an index of the text leads past most of them.
    Everything,
    /// Those of some sites, to which an index of the sites leads. An index of the text leads to those of others as well,
    /// so that a search would cost what others have.
    Sites,
}

impl Reach {
    /// Returns the reach of `search`.
    pub(super) fn of(search: &Search) -> Self {
        let names_site = |it: &Filter| {
            it.field.role == Some(Role::Site) && matches!(it.test, Test::Equal(_) | Test::In(_))
        };
        match &search.scope {
            Scope::Everything if !search.filters.iter().any(names_site) => Self::Everything,
            _ => Self::Sites,
        }
    }

    /// Appends ` AND …`, a condition that is always true, if an index of the text may lead to the rows of `search`.
    ///
    /// A rare word is found by the index, and what has a common one by the order of the list. PostgreSQL knows which is
    /// less if it plans for the word, and after some words makes one plan for all. To it, that plan seems to take hours.
    pub(super) fn write_choice(self, sql: &mut Sql, search: &Search) {
        let is_text =
            |it: &Filter| matches!(it.test, Test::Like(_)) && it.field.folded_column().is_some();
        let looks_into_text = !search.words.is_empty() || search.filters.iter().any(is_text);
        if self == Self::Everything && looks_into_text && sql.backend() == DbBackend::Postgres {
            sql.push(" AND (").bind(true).push(LONG_OTHERWISE);
        }
    }
}

/// The rest of a condition behind a value that is true.
const LONG_OTHERWISE: &str = " OR (SELECT count(*) FROM generate_series(1, 1000000000)) > 0)";

/// Appends the condition that the field contains the needle, whatever the case of the letters and their accents. If the
/// field's text is not stored folded, the letters that are searched for are folded row by row, and accents count: the
/// grammar of lists bounds their number.
pub(super) fn write_contains(
    sql: &mut Sql,
    needle: &Needle,
    field: &Field,
    columns: &Columns<'_>,
    reach: Reach,
) -> Result<()> {
    if let Some(name) = field.folded_column() {
        // What the operator means, PostgreSQL estimates for the function too, and looks for no index.
        let is_function = reach == Reach::Sites && sql.backend() == DbBackend::Postgres;
        if is_function {
            sql.push("pg_catalog.\"like\"(");
        }
        columns.write_beside(sql, field, &name)?;
        match is_function {
            true => {
                sql.push(", pg_catalog.like_escape(")
                    .bind(pattern(needle.text()));
                sql.push(", '!'))");
            }
            false => write_like(sql, needle.text()),
        }
        return Ok(());
    }
    let mut before = "(";
    for form in needle.forms() {
        let replacements = needle.replacements();
        sql.push(before)
            .push(&"replace(".repeat(replacements.len()));
        columns.write(sql.push("lower("), field)?;
        sql.push(")");
        for (variant, letter) in replacements {
            sql.push(", ").bind(variant.to_string());
            sql.push(", ").bind(letter.to_string()).push(")");
        }
        write_like(sql, form);
        before = " OR ";
    }
    sql.push(")");
    Ok(())
}

fn write_like(sql: &mut Sql, text: &str) {
    sql.push(" LIKE ").bind(pattern(text)).push(" ESCAPE '!'");
}

/// Returns the pattern of all that contains `text`: in it, `%`, `_` and the escape character `!` stand for themselves.
fn pattern(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}
