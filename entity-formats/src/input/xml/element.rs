//! One element of a body, and the value that it stands for.

use entity_core::{Error, Result};
use serde_json::{Map, Number, Value};

/// An element that is being read.
pub(super) struct Element {
    name: String,
    kind: Kind,
    /// True if it says that it has no value.
    is_nil: bool,
    text: String,
    children: Vec<(String, Value)>,
}

/// The value of the attribute `type`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Untyped,
    Text,
    Number,
    Boolean,
    Date,
    Object,
    List,
}

impl Element {
    pub(super) fn new(name: String, kind: Option<&str>, is_nil: bool) -> Result<Self> {
        let kind = match kind {
            None => Kind::Untyped,
            Some("string") => Kind::Text,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some("date") => Kind::Date,
            Some("bean" | "map") => Kind::Object,
            Some("array" | "collection") => Kind::List,
            Some(_) => return Err(Error::field(name, "has a type that is not known")),
        };
        Ok(Self {
            name,
            kind,
            is_nil,
            text: String::new(),
            children: Vec::new(),
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(super) fn push_child(&mut self, child: Self) -> Result<()> {
        let name = child.name.clone();
        self.children.push((name, child.into_value()?));
        Ok(())
    }

    /// The children as the fields of a body, whatever the element's own type.
    pub(super) fn into_fields(mut self) -> Result<Map<String, Value>> {
        self.check_content(true)?;
        into_object(std::mem::take(&mut self.children))
    }

    fn into_value(mut self) -> Result<Value> {
        let children = std::mem::take(&mut self.children);
        let has_children = !children.is_empty();
        self.check_content(has_children)?;
        if self.is_nil {
            return match has_children || !self.text.trim().is_empty() {
                true => Err(self.wrong("must have nothing inside, because it is nil")),
                false => Ok(Value::Null),
            };
        }
        match self.kind {
            Kind::Object => into_object(children).map(Value::Object),
            Kind::List => Ok(into_list(children)),
            Kind::Untyped if is_repeated(&children) => Ok(into_list(children)),
            Kind::Untyped if has_children => into_object(children).map(Value::Object),
            _ if has_children => Err(self.wrong("must not have elements inside")),
            Kind::Untyped | Kind::Text => Ok(Value::String(self.text)),
            _ if self.text.trim().is_empty() => Ok(Value::Null),
            Kind::Number => self.number(),
            Kind::Boolean => self.boolean(),
            Kind::Date => Ok(self.date()),
        }
    }

    /// Text beside elements means nothing here; only white space may stand there.
    fn check_content(&self, has_children: bool) -> Result<()> {
        let holds_elements = has_children || matches!(self.kind, Kind::Object | Kind::List);
        match holds_elements && !self.text.trim().is_empty() {
            true => Err(self.wrong("must not have text beside elements")),
            false => Ok(()),
        }
    }

    fn number(&self) -> Result<Value> {
        let text = self.text.trim();
        let whole = text
            .parse::<i64>()
            .map(Number::from)
            .or_else(|_| text.parse::<u64>().map(Number::from));
        whole
            .ok()
            .or_else(|| text.parse().ok().and_then(Number::from_f64))
            .map(Value::Number)
            .ok_or_else(|| self.wrong("must be a number"))
    }

    fn boolean(&self) -> Result<Value> {
        match self.text.trim() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(self.wrong("must be true or false")),
        }
    }

    /// Milliseconds since 1970, else whatever text the field takes.
    fn date(self) -> Value {
        match self.text.trim().parse::<i64>() {
            Ok(millis) => Value::from(millis),
            Err(_not_a_number) => Value::String(self.text),
        }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::field(&self.name, what)
    }
}

/// Returns whether the children are the items of a list: more than one, all of one name.
fn is_repeated(children: &[(String, Value)]) -> bool {
    match children {
        [(first, _), rest @ ..] => !rest.is_empty() && rest.iter().all(|(it, _)| it == first),
        [] => false,
    }
}

fn into_list(children: Vec<(String, Value)>) -> Value {
    children.into_iter().map(|(_, value)| value).collect()
}

fn into_object(children: Vec<(String, Value)>) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (name, value) in children {
        if fields.contains_key(&name) {
            return Err(Error::field(name, "is given more than once"));
        }
        fields.insert(name, value);
    }
    Ok(fields)
}
