//! Conditions that a field contains a text.

use super::Sql;
use super::redaction::Columns;
use crate::contract::search::Needle;
use crate::model::schema::Field;
use crate::primitives::error::Result;

/// Appends the condition that the field contains the needle, whatever the case of the letters and their accents. If the
/// field's text is not stored folded, the letters that are searched for are folded row by row, and accents count: the
/// grammar of lists bounds their number.
pub(super) fn write_contains(
    sql: &mut Sql,
    needle: &Needle,
    field: &Field,
    columns: &Columns<'_>,
) -> Result<()> {
    if field.is_folded() {
        columns.write_folded(sql, field)?;
        write_like(sql, needle.text());
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
