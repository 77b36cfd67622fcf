//! The words of a type on pages: the labels of its fields, the words for their values, and their documentation.

use entity_core::primitives::{is_web_address, label};
use entity_core::schema::{Field, Kind, Role};
use serde_json::Value;

/// Returns the label of a field: one that refers to a site is not its id but the site.
pub(super) fn label_of(field: &Field) -> String {
    if let Some(label) = field.label {
        return label.to_owned();
    }
    let is_site = field.role == Some(Role::Site);
    let is_truth = field.kind == Kind::Boolean;
    match field.name.strip_suffix("Id") {
        None if is_site && !field.name.eq_ignore_ascii_case("id") => "Site".to_owned(),
        None if is_truth => label(truth(field.name)),
        Some(stem) if !stem.is_empty() && field.refers_to().is_some() => label(stem),
        _ => label(field.name),
    }
}

/// `isDraft` is `Draft`.
fn truth(name: &str) -> &str {
    let stem = name.strip_prefix("is");
    stem.filter(|it| it.starts_with(|c: char| c.is_ascii_uppercase()))
        .unwrap_or(name)
}

/// Returns the words for `value`, one of those of `field` for which there are words.
pub(super) fn word_of(field: &Field, value: &str) -> Option<String> {
    let declared = field.words.iter().find(|it| it.0 == value);
    let is_choice = || field.choices.contains(&value);
    match declared {
        Some((_, words)) => Some((*words).to_owned()),
        None => is_choice().then(|| choice(value)),
    }
}

/// Returns the words for one of the choices of a field: `SCORE_GRADE_TYPE` is `Score grade type`.
pub(super) fn choice(value: &str) -> String {
    let is_loud = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    match value.chars().all(is_loud) {
        true if value.len() > 2 => label(&value.to_ascii_lowercase()),
        _ if is_key(value) => label(value),
        _ => value.to_owned(),
    }
}

/// Returns whether a word has a capital within, as names for programs have.
fn is_key(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric());
    let is_small = word.starts_with(|c: char| c.is_ascii_lowercase());
    is_plain && is_small && word.contains(|c: char| c.is_ascii_uppercase())
}

/// Returns documentation for people: names of `fields` and their values are words, and marks that tell programs'
/// names from words are left out.
pub(super) fn prose(text: &str, fields: &[Field]) -> String {
    let mut prose = String::with_capacity(text.len());
    for (index, piece) in text.split('`').enumerate() {
        match index % 2 {
            0 => prose.push_str(piece),
            _ => prose.push_str(&told(piece, fields)),
        }
    }
    prose
}

/// Returns the text between marks, for people.
fn told(name: &str, fields: &[Field]) -> String {
    let quoted = |label: &str| format!("\u{201c}{label}\u{201d}");
    let field = fields.iter().find(|it| it.name == name);
    let word = || fields.iter().find_map(|it| word_of(it, name));
    match field {
        Some(field) => quoted(&label_of(field)),
        None => match word() {
            Some(word) => quoted(&word),
            None if is_key(name) => quoted(&label(name)),
            None => name.to_owned(),
        },
    }
}

/// Returns whether the value is the one that goes without saying: no, or nothing of what is none by default.
pub(super) fn is_usual(field: &Field, value: &Value) -> bool {
    match value {
        Value::Bool(it) => *it == (field.default == Some("true")),
        Value::Number(it) => it.as_i64() == Some(0) && field.default == Some("0"),
        _ => false,
    }
}

/// Returns whether the value says which one it is to programs alone, or each one of a list does.
pub(super) fn is_nameless(value: &Value) -> bool {
    match value {
        Value::String(it) => has_uuid(it) && !is_web_address(it),
        Value::Array(items) => !items.is_empty() && items.iter().all(is_nameless),
        _ => false,
    }
}

/// Returns whether there is an id in the text that no person reads: 32 hexadecimal digits with hyphens between them.
pub(super) fn has_uuid(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_hexdigit() || c == '-';
    let mut runs = text.split(|c| !is_digit(c));
    runs.any(|run| {
        let lengths = run.split('-').map(str::len);
        run.len() >= 36 && lengths.collect::<Vec<_>>().ends_with(&[4, 4, 4, 12])
    })
}

/// A text of an error as a sentence: `use this` → `Use this.`
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).chain(['.']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_as_a_sentence() {
        assert_eq!(sentence("log in first"), "Log in first.");
        assert_eq!(sentence(""), ".");
    }

    #[test]
    fn a_field_that_refers_to_something_is_called_by_that() {
        let field = Field::new("siteId", Kind::Text(99), "");
        assert_eq!(label_of(&field), "Site id");
        assert_eq!(label_of(&field.role(Role::Site)), "Site");
        let id = Field::new("Id", Kind::Text(99), "").role(Role::Site);
        assert_eq!(label_of(&id), "Id");
    }

    #[test]
    fn a_field_is_called_as_its_type_says() {
        let field = Field::new("isDraft", Kind::Boolean, "");
        assert_eq!(label_of(&field), "Draft");
        assert_eq!(label_of(&field.label("Not finished")), "Not finished");
        let text = Field::new("issue", Kind::Boolean, "");
        assert_eq!(label_of(&text), "Issue");
    }

    #[test]
    fn a_choice_is_read_as_words() {
        for (value, expected) in [
            ("SCORE_GRADE_TYPE", "Score grade type"),
            ("afterVoting", "After voting"),
            ("Deadline", "Deadline"),
            ("A+", "A+"),
            ("text", "text"),
            ("", ""),
        ] {
            assert_eq!(choice(value), expected, "{value}");
        }
        let field = Field::new("type", Kind::Text(99), "");
        assert_eq!(word_of(&field, "collection"), None);
        let field = field.words(&[("collection", "Folder")]);
        assert_eq!(word_of(&field, "collection").as_deref(), Some("Folder"));
        assert_eq!(word_of(&field, "Collection"), None);
    }

    #[test]
    fn what_is_said_about_fields_names_them_as_people_do() {
        let fields = [
            Field::new("openDate", Kind::Millis, "").label("Opens"),
            Field::new("state", Kind::Text(9), "").words(&[("GONE", "Over")]),
        ];
        let text = "From `openDate` to `closeDate`, unless `GONE`; `annc.new` `x";
        let expected = "From \u{201c}Opens\u{201d} to \u{201c}Close date\u{201d}, unless \u{201c}Over\u{201d}; annc.new x";
        assert_eq!(prose(text, &fields), expected);
    }
}
