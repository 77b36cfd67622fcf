//! Row-level visibility: one rule, which narrows lists, counts and searches in SQL and decides about a single entity.

mod cause;
mod question;
mod written;

use std::collections::BTreeMap;

use sea_orm::DbErr;

use self::question::{Names, Of};
use super::{Row, Sql};
use crate::contract::access::{Operation, Permit, Scope};
use crate::contract::context::Context;
use crate::contract::gate;
use crate::db::record::constants::Constants;
use crate::db::record::definition::Record;
use crate::db::rule::PolicyInputs;
use crate::db::rule::RowPolicy;
use crate::primitives::error::{Error, Result};

pub use self::cause::Cause;
pub(super) use self::question::Asking;
pub use self::written::WrittenRowPolicy;

/// The maximum number of questions about the row in one rule: their answers are the bits of one positive number.
const MOST_QUESTIONS: usize = 62;

/// The functions in a rule that the caller holds.
#[derive(Debug)]
pub(super) enum HeldPermissions {
    /// In one site, or at the level of the account.
    Here(BTreeMap<&'static str, bool>),
    /// In these sites.
    Within(BTreeMap<&'static str, Scope>),
}

impl RowPolicy {
    /// Returns the functions in the rule.
    pub(crate) fn functions(&self) -> Vec<&'static str> {
        match self {
            Self::All(rules) | Self::Any(rules) => rules.iter().flat_map(Self::functions).collect(),
            Self::Not(rule) | Self::Parent(rule) => rule.functions(),
            Self::Holds(function) => vec![function],
            _ => Vec::new(),
        }
    }

    /// Calls `visit` with each question about the row, or about that of the parent, in order, until one call fails.
    fn try_visit<E>(
        &self,
        of: Of,
        visit: &mut impl FnMut(&Self, Of) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Self::All(rules) | Self::Any(rules) => {
                rules.iter().try_for_each(|it| it.try_visit(of, visit))
            }
            Self::Not(rule) => rule.try_visit(of, visit),
            Self::Parent(rule) if of == Of::Row => rule.try_visit(Of::Parent, visit),
            Self::Holds(_) => Ok(()),
            question => visit(question, of),
        }
    }

    /// Returns the reason why the rule can't be evaluated on the entities of this type, if there is one.
    pub(crate) fn fault(&self, of: &Constants) -> Option<String> {
        self.fault_of(&Names::of(of))
    }

    fn fault_of(&self, names: &Names) -> Option<String> {
        let mut count = 0;
        let mut check = |question: &Self, of: Of| {
            count += 1;
            if count > MOST_QUESTIONS {
                return Err(format!(
                    "asks more than {MOST_QUESTIONS} questions about the row"
                ));
            }
            match of {
                Of::Row => names.fault(question),
                Of::Parent => match names.parent() {
                    Some(parent) => parent.fault(question),
                    None => Some(
                        "asks for the parent, and no field that is always there is declared as `parent`"
                            .to_owned(),
                    ),
                },
            }
            .map_or(Ok(()), Err)
        };
        self.try_visit(Of::Row, &mut check).err()
    }

    /// Returns whether the rule asks what a row follows.
    pub(super) fn follows(&self) -> bool {
        let mut visit = |question: &Self, _| match question {
            Self::Follows(..) => Err(()),
            _ => Ok(()),
        };
        self.try_visit(Of::Row, &mut visit).is_err()
    }

    /// Returns whether the rule asks something about the row.
    pub(super) fn has_questions(&self) -> bool {
        self.try_visit(Of::Row, &mut |_, _| Err(())).is_err()
    }

    /// Appends the rule as a condition on the row, which is NULL in the place of false for some rows.
    ///
    /// A part that is the same for every row is left out: an index can't be used for one branch of an `OR` if another
    /// one, which the caller can't satisfy, has none.
    pub(super) fn write(
        &self,
        sql: &mut Sql,
        asking: &Asking<'_>,
        held: &HeldPermissions,
    ) -> Result<()> {
        match (self.constant(held), self) {
            (Some(true), _) => drop(sql.push("TRUE")),
            (Some(false), _) => drop(sql.push("FALSE")),
            (None, Self::All(rules)) => write_joined(sql, rules, " AND ", asking, held)?,
            (None, Self::Any(rules)) => write_joined(sql, rules, " OR ", asking, held)?,
            (None, Self::Not(rule)) => {
                sql.push("NOT coalesce(");
                rule.write(sql, asking, held)?;
                sql.push(", FALSE)");
            }
            (None, Self::Holds(function)) => held.write(sql, asking, function)?,
            (None, Self::Parent(rule)) => rule.write(sql, &asking.of_parent()?, held)?,
            (None, question) => asking.write(sql, question)?,
        }
        Ok(())
    }

    /// Returns the result of the rule if it is the same for every row.
    pub(super) fn constant(&self, held: &HeldPermissions) -> Option<bool> {
        let all = |rules: &[Self], end| {
            let results: Vec<_> = rules.iter().map(|it| it.constant(held)).collect();
            match results.contains(&Some(end)) {
                true => Some(end),
                false if results.contains(&None) => None,
                false => Some(!end),
            }
        };
        match (self, held) {
            (Self::All(rules), _) => all(rules, false),
            (Self::Any(rules), _) => all(rules, true),
            (Self::Not(rule), _) => rule.constant(held).map(|it| !it),
            (Self::Parent(rule), _) => rule.constant(held),
            (Self::Holds(function), HeldPermissions::Here(held)) => held.get(function).copied(),
            (Self::Holds(function), HeldPermissions::Within(held)) => match held.get(function)? {
                Scope::Everything => Some(true),
                Scope::Sites(sites) => sites.is_empty().then_some(false),
            },
            _question => None,
        }
    }

    /// Returns whether the rule admits the caller to own rows alone.
    pub(super) fn is_of_owner(&self, held: &HeldPermissions) -> bool {
        let undecided = |rules: &'static [Self]| {
            let rules = rules.iter().filter(|it| it.constant(held).is_none());
            rules.map(|it| it.is_of_owner(held)).collect::<Vec<_>>()
        };
        match self {
            Self::Own => true,
            Self::All(rules) => undecided(rules).contains(&true),
            Self::Any(rules) => {
                let found = undecided(rules);
                !found.is_empty() && !found.contains(&false)
            }
            _ => false,
        }
    }

    /// Appends the answers about the row as one more column: a number with one bit for each question.
    pub(super) fn write_answers(&self, sql: &mut Sql, asking: &Asking<'_>) -> Result<()> {
        sql.push(", CAST(0");
        let mut bit = 1_u64;
        self.try_visit(Of::Row, &mut |question, of| {
            sql.push(" + CASE WHEN ");
            match of {
                Of::Row => asking.write(sql, question)?,
                Of::Parent => asking.of_parent()?.write(sql, question)?,
            }
            sql.push(" THEN ")
                .push(&bit.to_string())
                .push(" ELSE 0 END");
            bit <<= 1;
            Ok::<_, Error>(())
        })?;
        sql.push(" AS bigint)");
        Ok(())
    }

    /// Combines the answers in `facts` with what is known of functions. Returns the function that is still to be
    /// decided, if the result depends on one.
    fn combine(
        &self,
        answers: &mut Answers,
        known: &BTreeMap<&'static str, bool>,
    ) -> Result<bool, &'static str> {
        match self {
            // Each rule takes its answers, even when the result is known.
            Self::All(rules) => combine_until(false, rules, answers, known),
            Self::Any(rules) => combine_until(true, rules, answers, known),
            Self::Not(rule) => rule.combine(answers, known).map(|it| !it),
            Self::Parent(rule) => rule.combine(answers, known),
            Self::Holds(function) => known.get(function).copied().ok_or(function),
            _question => Ok(answers.next()),
        }
    }

    /// Returns whether the caller sees the entity with these `facts`. A function is decided only if the result depends
    /// on it.
    pub(super) async fn admits(
        &self,
        cx: &Context,
        facts: PolicyInputs,
        site: Option<&str>,
    ) -> Result<bool> {
        if facts.is_seen {
            return Ok(true);
        }
        let mut known = BTreeMap::new();
        loop {
            match self.combine(&mut Answers(facts.answers), &known) {
                Ok(is_admitted) => return Ok(is_admitted),
                Err(function) => {
                    known.insert(function, is_held(cx, function, site).await?);
                }
            }
        }
    }
}

/// Decides about `operation` on `entity` by the rule of its type. Whoever writes what they may not see is told so.
///
/// # Errors
/// Returns an error if a function can't be decided.
pub async fn permits<T: Record>(cx: &Context, entity: &T, operation: Operation) -> Result<Permit> {
    match T::SIGHT {
        Some(sight) => permit(cx, sight, (entity.facts(), entity.site()), operation).await,
        None => Ok(Permit::Allowed),
    }
}

async fn permit(
    cx: &Context,
    sight: RowPolicy,
    (facts, site): (PolicyInputs, Option<&str>),
    operation: Operation,
) -> Result<Permit> {
    Ok(match sight.admits(cx, facts, site).await? {
        true => Permit::Allowed,
        false if matches!(operation, Operation::Create | Operation::Update) => Permit::Forbidden,
        false => Permit::Hidden,
    })
}

impl PolicyInputs {
    /// Returns the same facts, about an entity that is for some groups only if `is_restricted`.
    #[must_use]
    pub fn restricted(mut self, is_restricted: bool) -> Self {
        self.is_restricted = is_restricted;
        self
    }

    /// Returns the facts about an entity that a list found, whose condition contains the rule.
    pub(super) fn seen() -> Self {
        Self {
            is_seen: true,
            ..Self::default()
        }
    }

    /// Reads the answers from the next column of `row`, which [`RowPolicy::write_answers`] selected.
    pub(super) fn read(row: &mut Row<'_>) -> Result<Self, DbErr> {
        Ok(Self {
            answers: row.take::<i64>()?.cast_unsigned(),
            ..Self::default()
        })
    }
}

/// The answers that were not taken yet.
struct Answers(u64);

impl Answers {
    fn next(&mut self) -> bool {
        let answer = self.0 & 1 == 1;
        self.0 >>= 1;
        answer
    }
}

/// Returns `end` if a rule has this result, otherwise the function on which the result depends, otherwise the opposite.
fn combine_until(
    end: bool,
    rules: &[RowPolicy],
    answers: &mut Answers,
    known: &BTreeMap<&'static str, bool>,
) -> Result<bool, &'static str> {
    let (mut has_ended, mut needed) = (false, None);
    for rule in rules {
        match rule.combine(answers, known) {
            Ok(result) => has_ended |= result == end,
            Err(function) => needed = needed.or(Some(function)),
        }
    }
    match needed {
        _ if has_ended => Ok(end),
        Some(function) => Err(function),
        None => Ok(!end),
    }
}

impl HeldPermissions {
    /// Finds out what the caller holds of `functions` in `site` or, without one, at the level of the account.
    pub(super) async fn here(
        cx: &Context,
        functions: &[&'static str],
        site: Option<&str>,
    ) -> Result<Self> {
        let mut held = BTreeMap::new();
        for function in functions {
            held.insert(*function, is_held(cx, function, site).await?);
        }
        Ok(Self::Here(held))
    }

    /// Finds out in which sites the caller holds `functions`.
    pub(super) async fn within(cx: &Context, functions: &[&'static str]) -> Result<Self> {
        let mut held = BTreeMap::new();
        for function in functions {
            held.insert(*function, cx.authorizer().scope(cx, function).await?);
        }
        Ok(Self::Within(held))
    }

    fn write(&self, sql: &mut Sql, asking: &Asking<'_>, function: &str) -> Result<()> {
        match self {
            Self::Here(held) => {
                sql.bind(held.get(function).copied().unwrap_or_default());
            }
            Self::Within(held) => match (held.get(function), asking.site()) {
                (Some(Scope::Everything), _) => drop(sql.bind(true)),
                (Some(Scope::Sites(sites)), Some(site)) => {
                    asking.write_field(sql, site).bind_list(sites)?;
                }
                _ => drop(sql.bind(false)),
            },
        }
        Ok(())
    }
}

async fn is_held(cx: &Context, function: &str, site: Option<&str>) -> Result<bool> {
    match site {
        Some(site) => gate::holds(cx, function, site).await,
        None => cx.authorizer().holds(cx, function).await,
    }
}

/// Appends those of `rules` whose result depends on the row, of which there is at least one.
fn write_joined(
    sql: &mut Sql,
    rules: &[RowPolicy],
    between: &str,
    asking: &Asking<'_>,
    held: &HeldPermissions,
) -> Result<()> {
    let mut before = "(";
    for rule in rules.iter().filter(|it| it.constant(held).is_none()) {
        sql.push(before);
        rule.write(sql, asking, held)?;
        before = between;
    }
    sql.push(")");
    Ok(())
}
