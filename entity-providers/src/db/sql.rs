//! SQL as text with what is bound to it, for the statements that run most: the same question has the same
//! text, so the database plans it once.

use entity_core::{Error, Result};
use sea_orm::sea_query::Expr;
use sea_orm::{DbBackend, Statement, Value};

/// A statement, or a part of one, under construction.
#[derive(Debug)]
pub(crate) struct Sql {
    backend: DbBackend,
    text: String,
    values: Vec<Value>,
}

impl Sql {
    /// The beginning of a statement.
    pub(crate) fn new(backend: DbBackend, text: &str) -> Self {
        let mut sql = Self {
            backend,
            text: String::with_capacity(2048),
            values: Vec::with_capacity(24),
        };
        sql.push(text);
        sql
    }

    /// Adds `text`, which holds nothing that a client sent.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a place for `value` and binds it.
    pub(crate) fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        self.values.push(value.into());
        match self.backend {
            DbBackend::Postgres => {
                self.text.push('$');
                self.text.push_str(&self.values.len().to_string());
            }
            _ => self.text.push('?'),
        }
        self
    }

    /// Adds `in (…)` with `items`, however many, as one bound value.
    pub(crate) fn bind_list(&mut self, items: &[String]) -> Result<&mut Self> {
        let list = serde_json::to_string(items).map_err(Error::internal)?;
        let (before, after) = match self.backend {
            DbBackend::Postgres => (" IN (SELECT jsonb_array_elements_text(", "::jsonb))"),
            _ => (" IN (SELECT value FROM json_each(", "))"),
        };
        self.push(before).bind(list);
        Ok(self.push(after))
    }

    /// The statement.
    pub(crate) fn into_statement(self) -> Statement {
        Statement::from_sql_and_values(self.backend, self.text, self.values)
    }

    /// The same as a part of a statement that is built otherwise.
    pub(crate) fn into_expression(self) -> Expr {
        Expr::cust_with_values(self.text, self.values)
    }
}
