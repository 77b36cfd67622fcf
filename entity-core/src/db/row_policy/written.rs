//! Rules in statements that a type writes out itself.

use std::fmt;

use sea_orm::sea_query::Expr;

use super::{Asking, HeldPermissions};
use crate::contract::context::Context;
use crate::db::Sql;
use crate::db::record::constants::Declared as _;
use crate::db::record::definition::{Record, THIS};
use crate::db::rule::RowPolicy;
use crate::primitives::error::Result;

/// A rule about the rows of a record, with what has to be known of the caller, for statements that a type writes out.
///
/// ```
/// use entity_core::db::{Record, RowPolicy, Sql, WrittenRowPolicy};
/// use entity_core::{Context, Result};
///
/// /// Appends the condition that the caller sees the row `l`, by the rule of the type `Loan`.
/// async fn narrow<Loan: Record>(cx: &Context, sql: &mut Sql, rule: RowPolicy) -> Result<()> {
///     WrittenRowPolicy::of::<Loan>(cx, rule).await?.write(sql.push(" AND "), "l")
/// }
/// ```
pub struct WrittenRowPolicy<'a> {
    rule: RowPolicy,
    asking: Asking<'a>,
    held: HeldPermissions,
}

impl fmt::Debug for WrittenRowPolicy<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)
    }
}

impl<'a> WrittenRowPolicy<'a> {
    /// Prepares `rule`, which asks about rows of `T` and not about their parents.
    ///
    /// # Errors
    /// Returns an error if a function can't be decided.
    pub async fn of<T: Record>(cx: &'a Context, rule: RowPolicy) -> Result<Self> {
        let asking = Asking::of(T::CONSTANTS, cx, &[rule], None).await?;
        let held = HeldPermissions::within(cx, &rule.functions()).await?;
        Ok(Self { rule, asking, held })
    }

    /// Prepares `rule` as [`of`](Self::of) does, for a statement that selects rows of `site` alone. This costs less.
    ///
    /// # Errors
    /// Returns an error if a function can't be decided, or if there is no such site.
    pub async fn in_site<T: Record>(
        cx: &'a Context,
        rule: RowPolicy,
        site: &'a str,
    ) -> Result<Self> {
        let asking = Asking::of(T::CONSTANTS, cx, &[rule], Some(site)).await?;
        let held = HeldPermissions::here(cx, &rule.functions(), Some(site)).await?;
        Ok(Self { rule, asking, held })
    }

    /// Appends the rule as a condition on the row `row`, a table or an alias of the statement. For some rows the condition
    /// is NULL in the place of false.
    ///
    /// # Errors
    /// Returns an error if the rule can't be asked about rows of the type.
    pub fn write(&self, sql: &mut Sql, row: &'static str) -> Result<()> {
        let asking = self.asking.about_row(row);
        self.rule.write(sql, &asking, &self.held)
    }

    /// Returns the rule as a condition of a query for records, in which the row is called `this`.
    ///
    /// # Errors
    /// Returns an error if the rule can't be asked about rows of the type.
    pub fn condition(&self, cx: &Context) -> Result<Expr> {
        let mut sql = cx.db()?.sql("");
        self.write(&mut sql, THIS)?;
        Ok(sql.into_expression())
    }
}
