//! Rows that follow entities of other types: the grade column of an assignment is as hidden as the assignment.
//!
//! Such a row holds the reference of what it follows, its *cause*, and no copy of whether that is shown. Each statement
//! that selects the row asks for the cause by its key, and applies the rule of the cause's own type.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::HeldPermissions;
use super::question::{Asking, Names};
use crate::contract::access::Need;
use crate::contract::context::Context;
use crate::contract::provider::Provider;
use crate::contract::registry::Registry;
use crate::db::Sql;
use crate::db::record::constants::{Constants, Declared as _};
use crate::db::record::definition::Record;
use crate::db::rule::RowPolicy;
use crate::db::rule::Telling;
use crate::primitives::error::Result;

/// The name of the row of a cause in conditions.
pub(super) const CAUSE: &str = "cause";

/// A type whose entities others follow; created by [`register_cause!`](crate::register_cause).
#[derive(Clone, Copy, Debug)]
pub struct Cause {
    prefix: &'static str,
    read: Need,
    results: Option<RowPolicy>,
    of: &'static Constants,
}

inventory::collect!(Cause);

impl Cause {
    /// Describes `T`. Whoever sees an entity sees what follows it, too.
    pub const fn of<T: Record + Provider>() -> Self {
        Self {
            prefix: T::PREFIX,
            read: T::ACCESS.read,
            results: T::SIGHT,
            of: T::CONSTANTS,
        }
    }

    /// Shows results to those whom `sight` admits, in the place of those who see the entity.
    #[must_use]
    pub const fn results(mut self, sight: RowPolicy) -> Self {
        self.results = Some(sight);
        self
    }

    fn all() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<Self>.into_iter()
    }

    /// Returns the reason why the rule of a registered type can't be asked by what follows, if there is one.
    pub(super) fn fault() -> Option<String> {
        Self::all().find_map(|it| {
            let names = Names::of(it.of).of_cause();
            let mut rules = it.of.sight.iter().chain(&it.results);
            let fault = match it.read {
                Need::Site(_) if names.has_key_as_id() => {
                    let fault = rules.find_map(|sight| sight.fault_of(&names))?;
                    format!("rule {fault}")
                }
                Need::Site(_) => "id is not the key of its table".to_owned(),
                _ => "access needs more to read it than a function in its site".to_owned(),
            };
            Some(format!("follows `{}`, whose {fault}", it.prefix))
        })
    }

    fn rule(&self, telling: Telling) -> Option<RowPolicy> {
        match telling {
            Telling::Entity => self.of.sight,
            Telling::Results => self.results,
        }
    }

    /// The function without which nobody reads the type.
    fn function(&self) -> Option<&'static str> {
        match self.read {
            Need::Site(function) => Some(function),
            _ => None,
        }
    }
}

/// The facts about the caller that decide which rows with a cause they see.
#[derive(Clone)]
pub(super) struct Following<'a> {
    cx: &'a Context,
    causes: Arc<[&'static Cause]>,
    held: Arc<HeldPermissions>,
}

impl<'a> Following<'a> {
    /// Asks in which sites the caller holds the functions that the rules of all registered types name, or whether in
    /// `site`: to decide a few functions in one site costs a fraction of finding all sites of each.
    pub(super) async fn of(cx: &'a Context, site: Option<&'a str>) -> Result<Self> {
        let registry = cx.service::<Registry>()?;
        let causes = Cause::all().filter(|it| registry.route(it.prefix).is_some());
        let causes: Arc<[_]> = causes.collect();
        let mut functions = BTreeSet::new();
        for cause in causes.iter() {
            functions.extend(cause.function());
            let rules = cause.of.sight.iter().chain(&cause.results);
            functions.extend(rules.flat_map(RowPolicy::functions));
        }
        let functions: Vec<_> = functions.into_iter().collect();
        let held = match site {
            Some(_) => HeldPermissions::here(cx, &functions, site).await?,
            None => HeldPermissions::within(cx, &functions).await?,
        };
        Ok(Self {
            cx,
            causes,
            held: Arc::new(held),
        })
    }

    /// Appends the condition that the caller sees what the row follows: the entity whose reference is in `column` of the
    /// table or alias `row`, in the site that the expression `site` names, if rows have one: what is in another site is
    /// not followed. It holds where there is no reference, and for one of a type that is not registered.
    pub(super) fn write(
        &self,
        sql: &mut Sql,
        telling: Telling,
        (row, column): (&str, &str),
        site: Option<&str>,
    ) -> Result<()> {
        sql.push("(CASE WHEN ")
            .column(row, column)
            .push(" IS NULL THEN TRUE");
        for cause in self.causes.iter() {
            let beginning = format!("/{}/", cause.prefix);
            let length = beginning.chars().count();
            sql.push(" WHEN substr(").column(row, column);
            sql.push(&format!(
                ", 1, {length}) = '{beginning}' THEN EXISTS (SELECT 1 FROM "
            ));
            sql.push(cause.of.table)
                .push(" ")
                .push(CAUSE)
                .push(" WHERE ");
            sql.column(CAUSE, cause.of.key)
                .push(" = substr(")
                .column(row, column);
            sql.push(&format!(", {})", length.saturating_add(1)));
            let asking = Asking::about(self.cx, Names::of(cause.of).of_cause());
            if let Some((field, site)) = asking.site().zip(site) {
                asking
                    .write_field(sql.push(" AND "), field)
                    .push(" = ")
                    .push(site);
            }
            if let Some(function) = cause.function() {
                RowPolicy::Holds(function).write(sql.push(" AND "), &asking, &self.held)?;
            }
            if let Some(rule) = cause.rule(telling) {
                sql.push(" AND coalesce(");
                rule.write(sql, &asking, &self.held)?;
                sql.push(", FALSE)");
            }
            sql.push(")");
        }
        sql.push(" ELSE TRUE END)");
        Ok(())
    }
}

/// Registers a record whose entities others follow, so that what follows is as hidden as they are:
/// `register_cause!(Assignment)`. `register_cause!(Quiz, results = SIGHT)` has a rule of its own about who sees what
/// somebody has reached.
#[macro_export]
macro_rules! register_cause {
    ($record:ty $(, results = $sight:expr)?) => {
        $crate::inventory::submit! { $crate::db::Cause::of::<$record>()$(.results($sight))? }
    };
}
