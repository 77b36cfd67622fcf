//! Marks beside a name, so that one finds it again: the letters of a course or of a person in a colour, and icons.

use entity_core::schema::{Layout, Schema};

/// The letters of a name, and one of eight colours.
pub(super) struct Mark {
    pub(super) letters: String,
    pub(super) hue: u8,
}

impl Mark {
    /// The mark of what is called `name` and always has the same colour as `id`.
    pub(super) fn of(id: &str, name: &str) -> Self {
        Self {
            letters: letters(name),
            hue: hue(id),
        }
    }
}

/// The first letters of the first two words: `Biology 101` → `B1`.
fn letters(name: &str) -> String {
    let words = name.split_whitespace().take(2);
    let first = words.filter_map(|it| it.chars().find(|it| it.is_alphanumeric()));
    first.flat_map(char::to_uppercase).collect()
}

/// One of eight colours, always the same for an id.
fn hue(id: &str) -> u8 {
    id.bytes()
        .fold(0_u8, |sum, it| sum.wrapping_mul(31).wrapping_add(it))
        % 8
        + 1
}

/// The names of the icons, each of which is a symbol of [`ICONS`](crate::ICONS).
const NAMES: [&str; 16] = [
    "home", "news", "calendar", "page", "steps", "task", "tick", "grades", "talk", "folder",
    "people", "bell", "lock", "search", "menu", "box",
];

/// The icon of a type: that which it names, if there is one, else that of its layout.
pub(super) fn icon(schema: &Schema) -> &'static str {
    let own = schema.look.icon;
    match schema.look.layout {
        _ if NAMES.contains(&own) => own,
        Layout::Plain => "box",
        Layout::Article => "news",
        Layout::Thread => "talk",
        Layout::Work => "task",
        Layout::Folder => "folder",
        Layout::People => "people",
        Layout::Agenda => "calendar",
    }
}

#[cfg(test)]
mod tests {
    use entity_core::schema::Look;

    use super::*;

    const SCHEMA: Schema = Schema {
        doc: "",
        fields: &[],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: Look::PLAIN,
    };

    #[test]
    fn a_type_has_the_icon_that_it_names_or_that_of_its_layout() {
        for (layout, own, expected) in [
            (Layout::Work, "", "task"),
            (Layout::Work, "steps", "steps"),
            (Layout::Work, "step", "task"),
            (Layout::Plain, "", "box"),
        ] {
            let look = Look {
                layout,
                icon: own,
                ..Look::PLAIN
            };
            assert_eq!(icon(&Schema { look, ..SCHEMA }), expected, "{own}");
        }
    }

    #[test]
    fn each_icon_is_a_symbol() {
        for name in NAMES {
            assert!(
                crate::ICONS.contains(&format!("<symbol id=\"{name}\"")),
                "{name}"
            );
        }
        assert_eq!(crate::ICONS.matches("<symbol ").count(), NAMES.len());
    }

    #[test]
    fn the_letters_of_a_name_are_those_of_its_first_two_words() {
        for (name, letters) in [
            ("Maria Okafor", "MO"),
            ("Biology 101: Cells", "B1"),
            ("(new)", "N"),
            ("", ""),
        ] {
            assert_eq!(Mark::of("id", name).letters, letters);
        }
    }
}
