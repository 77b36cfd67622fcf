//! The fields that an update changes: fields that change nothing are left out, and updates without others are not
//! written.

use serde_json::{Map, Number, Value};

use crate::contract::input::{Fields, Input};
use crate::model::schema::{Field, Schema};
use crate::model::value;
use crate::primitives::error::{Error, Result};

/// Returns those of `fields`, which were read from `input`, that have another value than `stored` shows: what is equal is
/// no change, also where somebody else may change it. So what was read can be sent back. A field that `stored` does not
/// show, such as a password, always counts as changed.
pub(crate) fn changed_fields(
    schema: &Schema,
    input: &Input,
    fields: Fields,
    stored: &Value,
) -> Result<Fields> {
    let Value::Object(shown) = stored else {
        return Err(Error::internal("an entity is not an object"));
    };
    let is_shown = |name: &String, sent: &Value| {
        let field = schema.field(name);
        let shown = field.and_then(|it| as_sent(it, shown.get(name)?));
        shown.is_some_and(|it| is_same(input, &it, sent))
    };
    let mut changed = fields;
    changed.0.retain(|name, sent| !is_shown(name, sent));
    Ok(changed)
}

/// Converts the shown value of `field` to the form in which clients send it; `None` if it is not valid in that form.
fn as_sent(field: &Field, shown: &Value) -> Option<Value> {
    match shown {
        Value::Null => Some(Value::Null),
        shown => value::check(field, shown.clone()).ok(),
    }
}

/// Returns whether two values are equal, as far as the format of `input` can tell values apart.
pub(crate) fn is_same(input: &Input, shown: &Value, sent: &Value) -> bool {
    match (shown, sent) {
        (Value::Number(one), Value::Number(other)) => is_same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            let mut pairs = one.iter().zip(other);
            one.len() == other.len() && pairs.all(|(one, other)| is_same(input, one, other))
        }
        (Value::Object(one), Value::Object(other)) => is_same_object(input, one, other),
        // What is empty there is nothing here, and a box that is not ticked says no more.
        (Value::Null, Value::String(text)) => input.is_textual && text.is_empty(),
        (Value::Null, Value::Bool(false)) => input.is_form,
        (Value::Number(_) | Value::Bool(_), Value::String(text)) => {
            input.is_textual && *text == *shown.to_string()
        }
        (one, other) => one == other,
    }
}

fn is_same_object(input: &Input, one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let is_there = |(name, value)| other.get(name).is_some_and(|it| is_same(input, value, it));
    one.len() == other.len() && one.iter().all(is_there)
}

/// Returns whether two numbers are equal, whether or not they are written with a decimal point.
fn is_same_number(one: &Number, other: &Number) -> bool {
    if !one.is_f64() && !other.is_f64() {
        return one == other;
    }
    let both = one.as_f64().zip(other.as_f64());
    both.is_some_and(|(one, other)| one.total_cmp(&other).is_eq())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_the_same_as_far_as_the_format_tells_them_apart() {
        let json = Input::default();
        let xml = Input {
            is_textual: true,
            ..Input::default()
        };
        let form = Input {
            is_textual: true,
            is_form: true,
            ..Input::default()
        };
        for (shown, sent, expected) in [
            (json!("a"), json!("a"), [true, true, true]),
            (json!("a"), json!("b"), [false, false, false]),
            (json!(3.0), json!(3), [true, true, true]),
            (
                json!(9_007_199_254_740_993_i64),
                json!(9_007_199_254_740_992_i64),
                [false; 3],
            ),
            (json!(["a", "b"]), json!(["b", "a"]), [false, false, false]),
            (json!(["a"]), json!(["a", "a"]), [false, false, false]),
            (
                json!({"size": 3}),
                json!({"size": "3"}),
                [false, true, true],
            ),
            (
                json!({"size": 3}),
                json!({"size": 3, "x": null}),
                [false; 3],
            ),
            (json!(null), json!(""), [false, true, true]),
            (json!(null), json!(false), [false, false, true]),
            (json!(""), json!(null), [false, false, false]),
        ] {
            let told = [&json, &xml, &form].map(|it| is_same(it, &shown, &sent));
            assert_eq!(told, expected, "{shown} {sent}");
        }
    }
}
