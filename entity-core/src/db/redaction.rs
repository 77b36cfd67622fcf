//! Fields of a record that some callers do not see.
//!
//! A list replaces such a field by an empty value in its statement, wherever the statement names the field: so it has
//! no effect on filters, words, order and counts either. When entities are read otherwise, the statement also selects
//! the answers about the row, and the field is emptied afterwards.

use serde_json::Value as Json;

use super::row_policy::{Asking, HeldPermissions};
use super::{Row, Sql, Variables};
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::contract::search::Search;
use crate::db::expression::expression;
use crate::db::record::any::AnyRecord;
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::{Record, THIS};
use crate::db::record::from::write_from;
use crate::db::rule::RedactedField;
use crate::db::rule::{PolicyInputs, RowPolicy};
use crate::model::schema::{Field, Role};
use crate::primitives::error::{Error, ErrorKind, Result};

/// The columns of a table, as the caller of a list sees them.
pub(super) struct Columns<'a> {
    table: &'a str,
    variables: Variables<'a>,
    redacted: &'static [RedactedField],
    known: Option<(Asking<'a>, HeldPermissions)>,
}

impl<'a> Columns<'a> {
    /// Returns the columns of a record, all of which the caller sees.
    pub(super) fn all(cx: &'a Context) -> Self {
        Self::of_table(THIS, Variables::of(cx))
    }

    /// Returns the columns of `table`, all of which the caller sees.
    pub(super) fn of_table(table: &'a str, variables: Variables<'a>) -> Self {
        Self {
            table,
            variables,
            redacted: &[],
            known: None,
        }
    }

    /// Returns the columns of the table of a type, with what its rules need to know of the caller.
    pub(super) async fn of(of: &Constants, cx: &'a Context, search: &'a Search) -> Result<Self> {
        let functions = functions(of);
        if of.sight.is_none() && of.redacted.is_empty() {
            return Ok(Self::all(cx));
        }
        let site = of.schema().role(Role::Site);
        let has_site = site.is_some_and(|it| it.column.is_some());
        let held = match search.site() {
            None if has_site => HeldPermissions::within(cx, &functions).await?,
            site => HeldPermissions::here(cx, &functions, site).await?,
        };
        Ok(Self {
            table: THIS,
            variables: Variables::of(cx),
            redacted: of.redacted,
            known: Some((Asking::of(of, cx, &rules(of), search.site()).await?, held)),
        })
    }

    /// Appends `sight` as a condition on the row.
    pub(super) fn write_sight(&self, sql: &mut Sql, sight: &RowPolicy) -> Result<()> {
        let Some((asking, held)) = &self.known else {
            sql.push("FALSE");
            return Ok(());
        };
        sight.write(sql, asking, held)
    }

    /// Returns whether `sight` admits the caller to own rows alone, wherever they are.
    pub(super) fn is_of_owner(&self, sight: &RowPolicy) -> bool {
        let held = self.known.as_ref().map(|it| &it.1);
        held.is_some_and(|it| sight.is_of_owner(it))
    }

    /// Appends the expressions of [`Record::select`].
    pub(super) fn write_selection(&self, of: &Constants, sql: &mut Sql) -> Result<()> {
        let mut before = "";
        for expression in (of.select)() {
            sql.push(before);
            let redacted = self.redacted.iter().find(|it| it.expression == *expression);
            self.write_redacted(sql, redacted, expression)?;
            before = ", ";
        }
        Ok(())
    }

    /// Appends the expression for `field`, which every caller sees.
    pub(super) fn write_plain<'s>(&self, sql: &'s mut Sql, field: &Field) -> &'s mut Sql {
        sql.expression(&expression(field, self.table), self.variables)
    }

    /// Appends the expression for `field`.
    pub(super) fn write(&self, sql: &mut Sql, field: &Field) -> Result<()> {
        self.write_redacted(sql, self.redaction(field), &expression(field, self.table))
    }

    /// Appends the folded text of `field`, which [has](Field::is_folded) it.
    pub(super) fn write_folded(&self, sql: &mut Sql, field: &Field) -> Result<()> {
        let column = field.folded_column();
        let own = column.map(|it| format!("{}.\"{it}\"", self.table));
        let text = own.or_else(|| field.folded_sql.map(ToOwned::to_owned));
        self.write_redacted(sql, self.redaction(field), &text.unwrap_or_default())
    }

    fn redaction(&self, field: &Field) -> Option<&'static RedactedField> {
        self.redacted.iter().find(|it| it.field == field.name)
    }

    fn write_redacted(
        &self,
        sql: &mut Sql,
        redacted: Option<&RedactedField>,
        text: &str,
    ) -> Result<()> {
        let Some((redacted, (_, held))) = redacted.zip(self.known.as_ref()) else {
            sql.expression(text, self.variables);
            return Ok(());
        };
        let constant = redacted.sight.constant(held);
        if constant == Some(true) {
            // An index may serve the plain column.
            sql.expression(text, self.variables);
            return Ok(());
        }
        sql.push("(CASE WHEN ");
        match constant {
            Some(_never) => drop(sql.push("FALSE")),
            None => self.write_sight(sql, &redacted.sight)?,
        }
        sql.push(" THEN ").expression(text, self.variables);
        sql.push(" ELSE ");
        sql.push(redacted.blank).push(" END)");
        Ok(())
    }
}

fn rules(of: &Constants) -> Vec<RowPolicy> {
    of.sights().collect()
}

fn functions(of: &Constants) -> Vec<&'static str> {
    of.sights().flat_map(|it| it.functions()).collect()
}

/// Returns the reason why the rules of `T` can't be evaluated, if there is one, and the functions in them.
pub(crate) fn told<T: Record>() -> (Option<String>, Vec<&'static str>) {
    let of = T::CONSTANTS;
    let fault = of.sights().find_map(|it| it.fault(of));
    (fault, functions(of))
}

/// Appends the answers to the questions of the rules of a type, one column for each rule, each with a comma in front.
pub(super) async fn write_answers(of: &Constants, cx: &Context, sql: &mut Sql) -> Result<()> {
    let rules = rules(of);
    let asking = Asking::of(of, cx, &rules, None).await?;
    rules
        .iter()
        .try_for_each(|it| it.write_answers(sql, &asking))
}

/// Takes out of `fields` those that the caller does not see of the entity with this key and site and sends back as they
/// see them: nobody overwrites what they can't read.
///
/// # Errors
/// Returns an error if the caller sends another value for such a field.
pub(super) async fn withhold(
    of: &Constants,
    cx: &Context,
    (key, site): (&str, Option<&str>),
    fields: &mut Fields,
) -> Result<()> {
    let is_sent = |it: &RedactedField, fields: &Fields| fields.0.contains_key(it.field);
    let mut sent = of.redacted.iter().filter(|it| is_sent(it, fields));
    let Some(_) = sent.next() else {
        return Ok(());
    };
    let facts = answers(of, cx, key).await?;
    let facts = facts
        .into_iter()
        .chain(std::iter::repeat(PolicyInputs::default()));
    for (redacted, facts) in of.redacted.iter().zip(facts) {
        if is_sent(redacted, fields) && !redacted.sight.admits(cx, facts, site).await? {
            let sent = fields.0.remove(redacted.field);
            if !sent.as_ref().is_none_or(is_blank) {
                let field = redacted.field;
                let message = format!("`{field}` is not shown to you, so you can't change it");
                return Err(Error::new(ErrorKind::Forbidden, message));
            }
        }
    }
    Ok(())
}

/// Returns whether `value` is what stands for a field that is not seen. Forms send `false` for a box without a tick.
fn is_blank(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Returns the answers about the fields of the entity with this key, if their rules ask anything.
async fn answers(of: &Constants, cx: &Context, key: &str) -> Result<Vec<PolicyInputs>> {
    if !of.redacted.iter().any(|it| it.sight.has_questions()) {
        return Ok(Vec::new());
    }
    let mut sql = cx.db()?.sql("SELECT CAST(0 AS bigint)");
    write_answers(of, cx, &mut sql).await?;
    write_from(of, cx, &mut sql);
    sql.push(" WHERE ").column(THIS, of.key);
    sql.push(" = ").bind(key);
    let read = |row: &mut Row<'_>| {
        row.take::<i64>()?;
        let all = of.sights().map(|_| Ok(PolicyInputs::read(row)?));
        all.collect::<Result<Vec<_>>>()
    };
    let found = cx.db()?.rows(sql.into_statement(), read).await?;
    let of_row = found.into_iter().next().unwrap_or_default();
    Ok(of_row
        .into_iter()
        .skip(usize::from(of.sight.is_some()))
        .collect())
}

/// Empties the fields of `record` that the caller does not see, and those that follow from them. `facts` has the answers
/// about the fields, if their rules ask anything.
pub(super) async fn redact(
    cx: &Context,
    record: &mut dyn AnyRecord,
    facts: Vec<PolicyInputs>,
) -> Result<()> {
    for field in hidden(record.constants(), cx, record.site(), facts).await? {
        record.redact(field);
        record.compute(cx);
    }
    Ok(())
}

/// Returns the fields that the caller does not see of an entity of this site.
async fn hidden(
    of: &Constants,
    cx: &Context,
    site: Option<&str>,
    facts: Vec<PolicyInputs>,
) -> Result<Vec<&'static str>> {
    let facts = facts
        .into_iter()
        .chain(std::iter::repeat(PolicyInputs::default()));
    let mut hidden = Vec::new();
    for (redacted, facts) in of.redacted.iter().zip(facts) {
        if !redacted.sight.admits(cx, facts, site).await? {
            hidden.push(redacted.field);
        }
    }
    Ok(hidden)
}
