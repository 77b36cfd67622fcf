//! Many rows in one statement.

use entity_core::db::{self, Record, Sql};

/// Appends the columns and the values of `records`, of which there is one at least, to the beginning of a statement that
/// inserts them.
pub(super) fn write_rows<T: Record>(sql: &mut Sql, records: &[T]) {
    for (index, record) in records.iter().enumerate() {
        let row = db::row(record);
        if index == 0 {
            let columns: Vec<_> = row.iter().map(|it| format!("\"{}\"", it.0)).collect();
            sql.push(" (").push(&columns.join(", ")).push(") VALUES ");
        }
        let mut before = if index == 0 { "(" } else { ", (" };
        for (_, value) in row {
            sql.push(before).bind(value);
            before = ", ";
        }
        sql.push(")");
    }
}
