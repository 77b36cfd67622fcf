//! Conditions on fields: `field=value` and `field[operator]=value`.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Cell, Needle};
use crate::model::schema::{Field, Kind, Schema};
use crate::model::value::flag;
use crate::primitives::error::{Error, Result};

/// The maximum number of values after `in`.
const MOST_VALUES: usize = 100;
/// The maximum number of characters that have to be [replaced](Needle::replacements) for a `like` on a field that is
/// not declared `search`: each of them is replaced in every row.
const MOST_REPLACEMENTS: usize = 32;
/// The maximum length of a text to search for, in characters.
pub(super) const MOST_CHARACTERS: usize = 200;

/// An operator of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// The field has this value: `field=value`.
    Equal,
    /// The field has another value, or none.
    NotEqual,
    /// The field has a greater value.
    Greater,
    /// The field has this value or a greater one.
    GreaterOrEqual,
    /// The field has a smaller value.
    Less,
    /// The field has this value or a smaller one.
    LessOrEqual,
    /// The field's text contains this text, in upper or lower case, with or without accents.
    Like,
    /// The field has one of these values, which are separated by commas.
    In,
    /// The field has no value (`true`), or has one (`false`).
    Null,
}

impl Operator {
    /// All operators.
    pub const ALL: [Self; 9] = [
        Self::Equal,
        Self::NotEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Like,
        Self::In,
        Self::Null,
    ];

    /// Returns the operator's name in a query. The name of [`Equal`](Self::Equal) is usually left out.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "eq",
            Self::NotEqual => "ne",
            Self::Greater => "gt",
            Self::GreaterOrEqual => "ge",
            Self::Less => "lt",
            Self::LessOrEqual => "le",
            Self::Like => "like",
            Self::In => "in",
            Self::Null => "null",
        }
    }

    /// Returns whether the operator can be applied to fields of this kind.
    pub const fn fits(self, kind: Kind) -> bool {
        use Operator::{Equal, In, Like, NotEqual, Null};
        match kind {
            Kind::Text(_) => true,
            Kind::Html(_) => matches!(self, Equal | NotEqual | Like | Null),
            Kind::Integer | Kind::Number | Kind::Instant | Kind::Millis | Kind::Moment => {
                !matches!(self, Like)
            }
            Kind::Boolean => matches!(self, Equal | NotEqual | In | Null),
            Kind::List | Kind::Object => false,
        }
    }

    /// Returns the operators that lists accept for `field`; none if it has no column. `Like` on HTML is accepted only
    /// if `_search` looks into the field, because only then the text of the HTML is known.
    pub fn of(field: &Field) -> impl Iterator<Item = Self> {
        let (is_column, kind) = (field.column.is_some(), field.kind);
        let is_read = !matches!(kind, Kind::Html(_)) || field.is_searchable;
        Self::ALL
            .into_iter()
            .filter(move |it| is_column && it.fits(kind) && (is_read || *it != Self::Like))
    }
}

/// A field and the condition on its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The field.
    pub field: &'static Field,
    /// The condition on the field's value.
    pub test: Test,
}

/// A condition on a value. A missing value matches no comparison but [`NotEqual`](Self::NotEqual). There is at least
/// one value in `In`.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the operators of these names say it")]
pub enum Test {
    Equal(Cell),
    NotEqual(Cell),
    Greater(Cell),
    GreaterOrEqual(Cell),
    Less(Cell),
    LessOrEqual(Cell),
    Like(String),
    In(Vec<Cell>),
    Null(bool),
}

impl Filter {
    /// Parses a pair of a query. Returns the filter and the operator that the pair names.
    ///
    /// # Errors
    /// Returns an error that names the parameter if there is no such field or operator, or if the value is not of the
    /// field's kind.
    pub(super) fn parse(
        name: &str,
        value: &str,
        schema: &'static Schema,
    ) -> Result<(Self, Operator)> {
        let (field, operator) = match name.strip_suffix(']').and_then(|it| it.split_once('[')) {
            None => (name, "eq"),
            Some(parts) => parts,
        };
        let field = column(field, schema)
            .ok_or_else(|| Error::field(name, "is not a parameter of this list"))?;
        let operator = Operator::of(field)
            .find(|it| it.name() == operator)
            .ok_or_else(|| Error::field(name, no_operator(field)))?;
        let test = Test::parse(field, operator, value)
            .map_err(|error| renamed(name, field.name, error))?;
        Ok((Self { field, test }, operator))
    }

    /// Returns whether an entity with this value of the field matches the filter.
    pub(super) fn holds(&self, value: &Cell) -> bool {
        let is = |test: fn(Ordering) -> bool, operand: &Cell| {
            !value.is_null() && test(value.compare(operand))
        };
        match &self.test {
            Test::Equal(operand) => is(Ordering::is_eq, operand),
            Test::NotEqual(operand) => !is(Ordering::is_eq, operand),
            Test::Greater(operand) => is(Ordering::is_gt, operand),
            Test::GreaterOrEqual(operand) => is(Ordering::is_ge, operand),
            Test::Less(operand) => is(Ordering::is_lt, operand),
            Test::LessOrEqual(operand) => is(Ordering::is_le, operand),
            Test::Like(text) => value.holds(self.field, &Needle::new(text)),
            Test::In(operands) => operands.iter().any(|it| is(Ordering::is_eq, it)),
            Test::Null(is_null) => value.is_null() == *is_null,
        }
    }
}

impl Test {
    fn parse(field: &Field, operator: Operator, text: &str) -> Result<Self> {
        let cell = || cell(field, text);
        Ok(match operator {
            Operator::Equal => Self::Equal(cell()?),
            Operator::NotEqual => Self::NotEqual(cell()?),
            Operator::Greater => Self::Greater(cell()?),
            Operator::GreaterOrEqual => Self::GreaterOrEqual(cell()?),
            Operator::Less => Self::Less(cell()?),
            Operator::LessOrEqual => Self::LessOrEqual(cell()?),
            Operator::Like => Self::Like(pattern(field, text)?),
            Operator::In => Self::In(cells(field, text)?),
            Operator::Null => Self::Null(flag(field.name, text)?),
        })
    }
}

/// Returns the field of this name, if lists can be filtered by it.
pub(super) fn column(name: &str, schema: &'static Schema) -> Option<&'static Field> {
    schema
        .field(name)
        .filter(|it| Operator::of(it).next().is_some())
}

/// Returns `text`, if the field can be searched for it.
fn pattern(field: &Field, text: &str) -> Result<String> {
    let text = plain(field.name, text)?;
    let is_folded = field.is_folded();
    match !is_folded && Needle::new(&text).replacements().len() > MOST_REPLACEMENTS {
        true => Err(Error::field(
            field.name,
            format!("must have at most {MOST_REPLACEMENTS} different letters beyond a to z"),
        )),
        false => Ok(text),
    }
}

/// Returns `text`, if it is short and has no control characters, which databases treat differently.
pub(super) fn plain(name: &str, text: &str) -> Result<String> {
    match text.chars().count() > MOST_CHARACTERS || text.chars().any(char::is_control) {
        true => Err(Error::field(
            name,
            format!("must be text of at most {MOST_CHARACTERS} characters"),
        )),
        false => Ok(text.to_owned()),
    }
}

fn cell(field: &Field, text: &str) -> Result<Cell> {
    let value = match field.kind {
        // Unlike in a form, no text is a value to ask for even if the field must have some.
        Kind::Text(_) | Kind::Html(_) if text.is_empty() => Value::from(""),
        _ => field.parse(text)?,
    };
    Ok(Cell::of(field.kind, &value))
}

fn cells(field: &Field, text: &str) -> Result<Vec<Cell>> {
    let cells = text
        .split(',')
        .take(MOST_VALUES.saturating_add(1))
        .map(|it| cell(field, it))
        .collect::<Result<Vec<_>>>()?;
    match cells.len() > MOST_VALUES {
        true => Err(Error::field(
            field.name,
            format!("must not have more than {MOST_VALUES} values"),
        )),
        false => Ok(cells),
    }
}

fn no_operator(field: &Field) -> String {
    let names: Vec<_> = Operator::of(field).map(Operator::name).collect();
    format!("has no such operator; there are {}", names.join(", "))
}

/// Returns the same error for the parameter as it was sent, with its operator.
fn renamed(name: &str, field: &str, error: Error) -> Error {
    match error.field_errors() {
        [only] if only.name == field && name != field => {
            Error::field(name, only.message.clone()).with_source(error)
        }
        _ => error,
    }
}
