//! Fields of a record that some callers do not see.
//!
//! A list replaces such a field by an empty value in its statement, wherever the statement names the field: so it has
//! no effect on filters, words, order and counts either. When entities are read otherwise, the statement also selects
//! the answers about the row, and the field is emptied afterwards.

use serde_json::Value as Json;

use super::sight::{Asking, Held};
use super::{Row, Sql, Variables};
use crate::contract::context::Context;
use crate::contract::input::Fields;
use crate::contract::search::Search;
use crate::db::expression::expression;
use crate::db::record::definition::{Record, THIS};
use crate::db::record::from::write_from;
use crate::db::rule::Veiled;
use crate::db::rule::{Facts, Sight};
use crate::model::schema::{Field, Role};
use crate::words::error::{Error, ErrorKind, Result};

/// The columns of a table, as the caller of a list sees them.
pub(super) struct Columns<'a> {
    table: &'a str,
    variables: Variables<'a>,
    veiled: &'static [Veiled],
    known: Option<(Asking<'a>, Held)>,
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
            veiled: &[],
            known: None,
        }
    }

    /// Returns the columns of the table of `T`, with what the rules of the type need to know of the caller.
    pub(super) async fn of<T: Record>(cx: &'a Context, search: &'a Search) -> Result<Self> {
        let functions = functions::<T>();
        if T::SIGHT.is_none() && T::VEILED.is_empty() {
            return Ok(Self::all(cx));
        }
        let site = T::schema().role(Role::Site);
        let has_site = site.is_some_and(|it| it.column.is_some());
        let held = match search.site() {
            None if has_site => Held::within(cx, &functions).await?,
            site => Held::here(cx, &functions, site).await?,
        };
        Ok(Self {
            table: THIS,
            variables: Variables::of(cx),
            veiled: T::VEILED,
            known: Some((
                Asking::of::<T>(cx, &rules::<T>(), search.site()).await?,
                held,
            )),
        })
    }

    /// Appends `sight` as a condition on the row.
    pub(super) fn write_sight(&self, sql: &mut Sql, sight: &Sight) -> Result<()> {
        let Some((asking, held)) = &self.known else {
            sql.push("FALSE");
            return Ok(());
        };
        sight.write(sql, asking, held)
    }

    /// Returns whether `sight` admits the caller to own rows alone, wherever they are.
    pub(super) fn is_of_owner(&self, sight: &Sight) -> bool {
        let held = self.known.as_ref().map(|it| &it.1);
        held.is_some_and(|it| sight.is_of_owner(it))
    }

    /// Appends the expressions of [`Record::select`].
    pub(super) fn write_selection<T: Record>(&self, sql: &mut Sql) -> Result<()> {
        let mut before = "";
        for expression in T::select() {
            sql.push(before);
            let veiled = self.veiled.iter().find(|it| it.expression == *expression);
            self.write_veiled(sql, veiled, expression)?;
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
        self.write_veiled(sql, self.veil(field), &expression(field, self.table))
    }

    /// Appends the column `name`, which holds the folded text of `field`.
    pub(super) fn write_beside(&self, sql: &mut Sql, field: &Field, name: &str) -> Result<()> {
        let text = format!("{}.\"{name}\"", self.table);
        self.write_veiled(sql, self.veil(field), &text)
    }

    fn veil(&self, field: &Field) -> Option<&'static Veiled> {
        self.veiled.iter().find(|it| it.field == field.name)
    }

    fn write_veiled(&self, sql: &mut Sql, veiled: Option<&Veiled>, text: &str) -> Result<()> {
        let Some((veiled, (_, held))) = veiled.zip(self.known.as_ref()) else {
            sql.expression(text, self.variables);
            return Ok(());
        };
        let constant = veiled.sight.constant(held);
        if constant == Some(true) {
            // An index may serve the plain column.
            sql.expression(text, self.variables);
            return Ok(());
        }
        sql.push("(CASE WHEN ");
        match constant {
            Some(_never) => drop(sql.push("FALSE")),
            None => self.write_sight(sql, &veiled.sight)?,
        }
        sql.push(" THEN ").expression(text, self.variables);
        sql.push(" ELSE ");
        sql.push(veiled.blank).push(" END)");
        Ok(())
    }
}

/// Returns the rules of `T`: the one about entities comes first.
fn sights<T: Record>() -> impl Iterator<Item = Sight> {
    T::SIGHT
        .into_iter()
        .chain(T::VEILED.iter().map(|it| it.sight))
}

fn rules<T: Record>() -> Vec<Sight> {
    sights::<T>().collect()
}

/// Returns the functions in the rules of `T`.
pub(crate) fn functions<T: Record>() -> Vec<&'static str> {
    sights::<T>().flat_map(|it| it.functions()).collect()
}

/// Returns the reason why the rules of `T` can't be evaluated, if there is one.
pub(crate) fn fault<T: Record>() -> Option<String> {
    sights::<T>().find_map(|it| it.fault::<T>())
}

/// Appends the answers to the questions of the rules of `T`, one column for each rule, each with a comma in front.
pub(super) async fn write_answers<T: Record>(cx: &Context, sql: &mut Sql) -> Result<()> {
    let rules = rules::<T>();
    let asking = Asking::of::<T>(cx, &rules, None).await?;
    rules
        .iter()
        .try_for_each(|it| it.write_answers(sql, &asking))
}

/// Takes out of `fields` those that the caller does not see of `current` and sends back as they see them: nobody
/// overwrites what they can't read.
///
/// # Errors
/// Returns an error if the caller sends another value for such a field.
pub(super) async fn withhold<T: Record>(
    cx: &Context,
    current: &T,
    fields: &mut Fields,
) -> Result<()> {
    let is_sent = |it: &Veiled, fields: &Fields| fields.0.contains_key(it.field);
    let mut sent = T::VEILED.iter().filter(|it| is_sent(it, fields));
    let Some(_) = sent.next() else {
        return Ok(());
    };
    let facts = answers(cx, current).await?;
    let facts = facts.into_iter().chain(std::iter::repeat(Facts::default()));
    for (veiled, facts) in T::VEILED.iter().zip(facts) {
        if is_sent(veiled, fields) && !veiled.sight.admits(cx, facts, current.site()).await? {
            let sent = fields.0.remove(veiled.field);
            if !sent.as_ref().is_none_or(is_blank) {
                let field = veiled.field;
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

/// Returns the answers about the fields of `current`, if their rules ask anything.
async fn answers<T: Record>(cx: &Context, current: &T) -> Result<Vec<Facts>> {
    if !T::VEILED.iter().any(|it| it.sight.has_questions()) {
        return Ok(Vec::new());
    }
    let mut sql = cx.db()?.sql("SELECT CAST(0 AS bigint)");
    write_answers::<T>(cx, &mut sql).await?;
    write_from::<T>(cx, &mut sql);
    sql.push(" WHERE ").column(THIS, T::KEY);
    sql.push(" = ").bind(current.key());
    let read = |row: &mut Row<'_>| {
        row.take::<i64>()?;
        let all = sights::<T>().map(|_| Ok(Facts::read(row)?));
        all.collect::<Result<Vec<_>>>()
    };
    let found = cx.db()?.rows(sql.into_statement(), read).await?;
    let of_row = found.into_iter().next().unwrap_or_default();
    Ok(of_row
        .into_iter()
        .skip(usize::from(T::SIGHT.is_some()))
        .collect())
}

/// Empties the fields of `record` that the caller does not see, and those that follow from them. `facts` has the answers
/// about the fields, if their rules ask anything.
pub(super) async fn conceal<T: Record>(
    cx: &Context,
    record: &mut T,
    facts: Vec<Facts>,
) -> Result<()> {
    let facts = facts.into_iter().chain(std::iter::repeat(Facts::default()));
    for (veiled, facts) in T::VEILED.iter().zip(facts) {
        if !veiled.sight.admits(cx, facts, record.site()).await? {
            record.conceal(veiled.field);
            record.compute(cx);
        }
    }
    Ok(())
}
