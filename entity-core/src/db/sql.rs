//! SQL as text, with the values that are bound to it.

use sea_orm::sea_query::Expr;
use sea_orm::{DbBackend, Statement, Value};

use crate::contract::context::Context;
use crate::primitives::error::{Error, Result};

/// A statement, or a part of one, under construction: the text and the values that are bound to its placeholders.
///
/// Building a statement as text costs a small part of what building it as a tree costs. The same question always has
/// the same text, so that the database plans it once: values are bound, and so are lists, each as one value.
///
/// ```
/// use entity_core::db::Sql;
/// use entity_core::sea_orm::DbBackend;
///
/// let mut sql = Sql::new(DbBackend::Sqlite, "SELECT id FROM loan this WHERE ");
/// sql.column("this", "item").push(" = ").bind("beamer");
/// assert_eq!(sql.into_statement().sql, r#"SELECT id FROM loan this WHERE this."item" = ?"#);
/// ```
#[derive(Debug)]
pub struct Sql {
    backend: DbBackend,
    text: String,
    values: Vec<Value>,
}

/// The values that expressions of a type may name: see [`Sql::expression`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Variables<'a> {
    /// The internal id of the caller, empty for an anonymous one: `{caller}`.
    pub caller: &'a str,
    /// The present instant, in milliseconds since 1970: `{now}`.
    pub now: i64,
}

impl<'a> Variables<'a> {
    /// Returns the values in `cx`.
    pub fn of(cx: &'a Context) -> Self {
        Self {
            caller: cx.caller().user_id().unwrap_or_default(),
            now: cx.now().timestamp_millis(),
        }
    }
}

impl Sql {
    /// Begins a statement with `text`.
    pub fn new(backend: DbBackend, text: &str) -> Self {
        let mut sql = Self {
            backend,
            text: String::with_capacity(2048),
            values: Vec::with_capacity(24),
        };
        sql.push(text);
        sql
    }

    /// Returns the database for which the statement is built.
    pub fn backend(&self) -> DbBackend {
        self.backend
    }

    /// Appends `text`, which must not contain anything that a client sent.
    pub fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends `text`, which must not contain anything that a client sent, and binds the `variables` in the places where
    /// it has `{caller}` and `{now}`.
    pub fn expression(&mut self, text: &str, variables: Variables<'_>) -> &mut Self {
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once('{') {
            self.push(before);
            rest = match behind.split_once('}') {
                Some(("caller", rest)) => {
                    self.bind(variables.caller);
                    rest
                }
                Some(("now", rest)) => {
                    self.bind(variables.now);
                    rest
                }
                _ => {
                    self.push("{");
                    behind
                }
            };
        }
        self.push(rest)
    }

    /// Appends the column `name`, quoted, of the table or alias `table`.
    pub fn column(&mut self, table: &str, name: &str) -> &mut Self {
        self.push(table).push(".\"").push(name).push("\"")
    }

    /// Appends a placeholder and binds `value` to it.
    pub fn bind(&mut self, value: impl Into<Value>) -> &mut Self {
        let mut text = std::mem::take(&mut self.text);
        self.bind_in(&mut text, value.into());
        self.text = text;
        self
    }

    /// Appends a placeholder to `text`, which becomes a part of this statement, and binds `value` to it.
    pub(super) fn bind_in(&mut self, text: &mut String, value: Value) {
        self.values.push(value);
        match self.backend {
            DbBackend::Postgres => {
                text.push('$');
                text.push_str(&self.values.len().to_string());
            }
            _ => text.push('?'),
        }
    }

    /// Appends ` IN (…)` with `items`, which are bound as one value however many they are.
    ///
    /// # Errors
    /// Returns an error if `items` can't be written as JSON: a defect.
    pub fn bind_list<T: AsRef<str>>(&mut self, items: &[T]) -> Result<&mut Self> {
        self.bind_items(
            items,
            (" IN (SELECT jsonb_array_elements_text(", "::jsonb))"),
        )
    }

    /// Does the same for `items` that are few, where an index is to lead to them from each of several conditions with
    /// `OR` between them: PostgreSQL reads the whole table for such a condition with [`bind_list`](Self::bind_list).
    ///
    /// # Errors
    /// Fails as [`bind_list`](Self::bind_list) does.
    pub fn bind_few<T: AsRef<str>>(&mut self, items: &[T]) -> Result<&mut Self> {
        self.bind_items(
            items,
            (
                " = ANY (ARRAY(SELECT jsonb_array_elements_text(",
                "::jsonb)))",
            ),
        )
    }

    fn bind_items<T: AsRef<str>>(
        &mut self,
        items: &[T],
        on_postgres: (&str, &str),
    ) -> Result<&mut Self> {
        let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
        let list = serde_json::to_string(&items).map_err(Error::internal)?;
        let (before, after) = match self.backend {
            DbBackend::Postgres => on_postgres,
            _ => (" IN (SELECT value FROM json_each(", "))"),
        };
        self.push(before).bind(list);
        Ok(self.push(after))
    }

    /// Returns the finished statement.
    pub fn into_statement(self) -> Statement {
        Statement::from_sql_and_values(self.backend, self.text, self.values)
    }

    /// Returns the text as an expression, for a statement that is built as a tree.
    pub fn into_expression(self) -> Expr {
        Expr::cust_with_values(self.text, self.values)
    }
}
