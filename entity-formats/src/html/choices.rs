//! Controls that offer the existing entities, so that nobody types an id: a list to choose from, or boxes to tick.

use entity_core::lines;
use entity_core::schema::{Field, Kind};
use serde_json::Value;

use super::control::{Control, Widget};

/// A box of a list, which sends its value if it is ticked.
pub(super) struct Tick {
    pub(super) value: String,
    pub(super) label: String,
    pub(super) is_on: bool,
}

/// Boxes, and values that are sent besides.
#[derive(Default)]
pub(super) struct Ticks {
    pub(super) all: Vec<Tick>,
    /// The values that are stored and not offered: they stay.
    pub(super) kept: Vec<String>,
    /// True if more can be typed.
    pub(super) has_more: bool,
    /// True if one at most can be chosen.
    pub(super) takes_one: bool,
}

impl Control {
    /// The same, with what a form offers for `field`, which holds `value`: ids and titles. Without any, parts of a list
    /// that are no text can be left out by a box.
    pub(super) fn offering(
        self,
        field: &Field,
        choices: &[(String, String)],
        value: &Value,
    ) -> Self {
        match (field.kind, choices) {
            (Kind::List, []) => self.with_parts(value),
            (Kind::List, _) => self.with_ticks(choices, value),
            (_, []) => self,
            (_, [only]) if !self.value.is_empty() && only.0 == self.value => Self {
                widget: Widget::Fixed(only.1.clone()),
                hint: String::new(),
                is_required: false,
                ..self
            },
            _ => self.with_list(choices),
        }
    }

    fn with_list(self, choices: &[(String, String)]) -> Self {
        let nothing = match self.is_required {
            true => "choose one",
            false => "none",
        };
        let is_known = choices.iter().any(|it| it.0 == self.value) || self.value.is_empty();
        let present = (!is_known).then(|| (self.value.clone(), "as it is".to_owned()));
        let options = std::iter::once((String::new(), nothing.to_owned()));
        let options = options.chain(present).chain(choices.iter().cloned());
        Self {
            widget: Widget::Choice(options.collect()),
            ..self
        }
    }

    fn with_ticks(self, choices: &[(String, String)], value: &Value) -> Self {
        let present = texts(value);
        let is_offered = |it: &&String| choices.iter().any(|choice| choice.0 == **it);
        let (_, kept): (Vec<_>, Vec<_>) = present.iter().partition(is_offered);
        let tick = |(value, label): &(String, String)| Tick {
            is_on: present.contains(value),
            value: value.clone(),
            label: label.clone(),
        };
        let ticks = Ticks {
            kept: kept.into_iter().cloned().collect(),
            all: choices.iter().map(tick).collect(),
            ..Ticks::default()
        };
        self.ticking(ticks)
    }

    fn with_parts(self, value: &Value) -> Self {
        let parts = value
            .as_array()
            .filter(|it| it.iter().all(Value::is_object));
        let Some(parts) = parts.filter(|it| !it.is_empty()) else {
            return self;
        };
        let tick = |part: &Value| Tick {
            value: part.to_string(),
            label: name_of(part),
            is_on: true,
        };
        let ticks = Ticks {
            all: parts.iter().map(tick).collect(),
            has_more: true,
            ..Ticks::default()
        };
        let hint = "Those without a mark are left out.".to_owned();
        Self { hint, ..self }.ticking(ticks)
    }

    fn ticking(self, ticks: Ticks) -> Self {
        Self {
            name: format!("{}[]", self.name),
            is_required: false,
            widget: Widget::Ticks(ticks),
            ..self
        }
    }
}

/// The texts that a form has or sent for a list.
pub(super) fn texts(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Array(items) => items.iter().map(lines::write).collect(),
        Value::String(text) => text.lines().map(|it| it.trim().to_owned()).collect(),
        _ => Vec::new(),
    };
    let mut texts: Vec<String> = texts;
    texts.retain(|it| !it.is_empty());
    texts
}

/// The name of a part of a list for people.
fn name_of(part: &Value) -> String {
    let names = ["name", "title", "text", "label"];
    let name = names.iter().find_map(|it| part.get(it)?.as_str());
    name.unwrap_or("One without a name").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::html::wall_clock::WallClock;

    fn control(kind: Kind, value: &Value, choices: &[(&str, &str)]) -> Control {
        let mut field = Field::new("x", kind, "The groups.").writable();
        if !choices.is_empty() {
            field = field.offered("thing");
        }
        let own = |it: &(&str, &str)| (it.0.to_owned(), it.1.to_owned());
        let choices: Vec<_> = choices.iter().map(own).collect();
        Control::of(&field, &[], value, WallClock::UTC, None).offering(&field, &choices, value)
    }

    #[test]
    fn groups_are_ticked_and_what_is_not_offered_stays() {
        let choices = [("a", "Lab A"), ("b", "Lab B")];
        let control = control(Kind::List, &json!(["b", "gone"]), &choices);
        assert_eq!(&*control.name, "x[]");
        let Widget::Ticks(ticks) = control.widget else {
            panic!("no boxes");
        };
        assert_eq!(ticks.kept, ["gone"]);
        assert_eq!(
            ticks.all.iter().map(|it| it.is_on).collect::<Vec<_>>(),
            [false, true]
        );
    }

    #[test]
    fn a_hint_speaks_to_people_where_the_meaning_is_for_programs() {
        let field =
            Field::new("x", Kind::Instant, "The end; null for never.").hint("Empty: never.");
        let asked =
            |field: &Field| Control::of(field, &[], &Value::Null, WallClock::UTC, None).hint;
        assert_eq!(asked(&field), "Empty: never. In UTC.");
        let silent = Field::new("x", Kind::Text(9), "The title.").hint("");
        assert_eq!(asked(&silent), "");
    }

    #[test]
    fn one_that_is_suggested_is_told_and_another_is_chosen() {
        let one = control(Kind::Text(99), &json!("a"), &[("a", "Lab A")]);
        assert!(matches!(one.widget, Widget::Fixed(title) if title == "Lab A"));
        let several = control(
            Kind::Text(99),
            &json!("c"),
            &[("a", "Lab A"), ("b", "Lab B")],
        );
        let Widget::Choice(options) = several.widget else {
            panic!("no list");
        };
        let values: Vec<_> = options.iter().map(|it| it.0.as_str()).collect();
        assert_eq!(values, ["", "c", "a", "b"]);
    }

    #[test]
    fn parts_of_a_list_are_ticked_by_name() {
        let control = control(Kind::List, &json!([{"id": 7, "name": "map.pdf"}]), &[]);
        let Widget::Ticks(ticks) = control.widget else {
            panic!("no boxes");
        };
        assert_eq!((&*ticks.all[0].label, ticks.has_more), ("map.pdf", true));
        assert_eq!(ticks.all[0].value, r#"{"id":7,"name":"map.pdf"}"#);
    }
}
