//! The parameters of an action besides its path, in the body or in the query, as existing clients send them.

use entity_core::schema::{Field, Kind};
use entity_core::{Arguments, Context, Error, Result, flag};
use serde_json::Value;

/// The most characters of a file that is pasted into a form.
const MOST_PASTED: usize = 1_000_000;
/// The most bytes of a file that is read whole.
pub(crate) const MOST_BYTES: u64 = 4_000_000;

/// The question of a form: is an import to tell only what it would change.
pub(crate) const PREVIEW: Field = Field::new(
    "preview",
    Kind::Boolean,
    "Only show what would change, and what is wrong.",
)
.default("true");

/// The table of an import, as the form of a page asks for it.
pub(crate) const fn table(doc: &'static str) -> Field {
    pasted("csv", doc)
}

/// The table of an import whose form has a chooser of files, too: see [`sent_table`].
pub(crate) const fn table_or_file(doc: &'static str) -> Field {
    Field::new("csv", Kind::Text(MOST_PASTED), doc).label("Table")
}

/// The content of a file, as the form of a page asks for it.
pub(crate) const fn pasted(name: &'static str, doc: &'static str) -> Field {
    Field::new(name, Kind::Text(MOST_PASTED), doc).required()
}

/// The maximum number of characters of one text.
const MOST_CHARACTERS: usize = 4_000;
/// The maximum number of texts of one list.
const MOST_TEXTS: usize = 200;

/// The text `name`: that of the body or, without one, that of the query. White space around it is left out, and
/// nothing is no text.
///
/// # Errors
/// It is no text, too long, given more than once, or has control characters other than line breaks.
pub(crate) fn text(arguments: &Arguments, name: &str) -> Result<Option<String>> {
    let texts = sent(arguments, name)?;
    match texts.as_slice() {
        [] => Ok(None),
        [text] => {
            let text = text.trim();
            check(name, text)?;
            Ok(Some(text.to_owned()).filter(|it| !it.is_empty()))
        }
        _ => Err(Error::field(name, "is given more than once")),
    }
}

/// The text `name`, which must be there.
///
/// # Errors
/// Fails as [`text`] does, and when the parameter is absent.
pub(crate) fn required(arguments: &Arguments, name: &str) -> Result<String> {
    text(arguments, name)?.ok_or_else(|| Error::field(name, "is required"))
}

/// The text `name` as it was sent, however long the request lets it be: for what is parsed in its turn.
pub(crate) fn whole(arguments: &Arguments, name: &str) -> Result<String> {
    let mut texts = sent(arguments, name)?;
    match (texts.pop(), texts.is_empty()) {
        (Some(text), true) => Ok(text),
        (None, _) => Err(Error::field(name, "is required")),
        (Some(_), false) => Err(Error::field(name, "is given more than once")),
    }
}

/// Returns the table of an import: the file that came with it or, without one, the text `csv`.
///
/// # Errors
/// There is neither, the file has more than four megabytes, or it is not in UTF-8.
pub(crate) async fn sent_table(cx: &Context, arguments: &Arguments) -> Result<String> {
    let Some(file) = arguments.input.uploads.first() else {
        return whole(arguments, "csv");
    };
    let bytes = cx.blobs()?.read(&file.blob, MOST_BYTES).await?;
    String::from_utf8(bytes).map_err(|error| {
        Error::field(
            file.field.as_str(),
            "must be text in UTF-8: save it as “CSV UTF-8”",
        )
        .with_source(error)
    })
}

/// Returns the truth value `name`: that of the body or, without one, that of the query; `false` if nothing was sent.
///
/// # Errors
/// Returns an error if it is no [truth value](flag), or given more than once.
pub(crate) fn truth(arguments: &Arguments, name: &str) -> Result<bool> {
    if let Some(Value::Bool(sent)) = arguments.input.fields.get(name) {
        return Ok(*sent);
    }
    // What a form sends of a box: the value in front of it, and its own if it was ticked.
    if let Some(Value::Array(sent)) = arguments.input.fields.get(name)
        && let [Value::String(unticked), Value::String(ticked)] = sent.as_slice()
        && unticked == "false"
        && ticked == "true"
    {
        return Ok(true);
    }
    text(arguments, name)?.map_or(Ok(false), |it| flag(name, &it))
}

/// The texts `name`, each once: those of the body or, without any, those of the query. They are given one by
/// one, as a list, or in one text with commas or line breaks between them. `None` if nothing was sent.
///
/// # Errors
/// One of them is no text, too long, or has control characters; they are too many.
pub(crate) fn texts(arguments: &Arguments, name: &str) -> Result<Option<Vec<String>>> {
    let sent = sent(arguments, name)?;
    if sent.is_empty() {
        return Ok(None);
    }
    let mut texts: Vec<String> = Vec::new();
    for text in sent.iter().flat_map(|it| it.split([',', '\n', '\r'])) {
        let text = text.trim();
        check(name, text)?;
        if !text.is_empty() && !texts.iter().any(|it| it == text) {
            texts.push(text.to_owned());
        }
        if texts.len() > MOST_TEXTS {
            return Err(Error::field(
                name,
                format!("must not have more than {MOST_TEXTS} values"),
            ));
        }
    }
    Ok(Some(texts))
}

fn sent(arguments: &Arguments, name: &str) -> Result<Vec<String>> {
    match arguments.input.fields.get(name) {
        None | Some(Value::Null) => {
            let pairs = arguments.query.iter().filter(|(key, _)| key == name);
            Ok(pairs.map(|(_, value)| value.clone()).collect())
        }
        Some(Value::Array(items)) => items.iter().map(|it| as_text(name, it)).collect(),
        Some(value) => Ok(vec![as_text(name, value)?]),
    }
}

fn as_text(name: &str, value: &Value) -> Result<String> {
    let text = value.as_str().map(ToOwned::to_owned);
    text.ok_or_else(|| Error::field(name, "must be text"))
}

fn check(name: &str, text: &str) -> Result<()> {
    let is_dirty = |c: char| c.is_control() && !matches!(c, '\n' | '\r');
    match text.chars().any(is_dirty) || text.chars().count() > MOST_CHARACTERS {
        true => Err(Error::field(
            name,
            format!("must be text of at most {MOST_CHARACTERS} characters"),
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(query: &[(&str, &str)], body: &Value) -> Arguments {
        let mut arguments = Arguments {
            query: query
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Arguments::default()
        };
        arguments.input.fields = body.as_object().cloned().unwrap_or_default();
        arguments
    }

    #[test]
    fn lists_come_in_every_way_that_clients_write_them() {
        let expected = Some(vec!["a".to_owned(), "b".to_owned()]);
        for (query, body) in [
            (&[("ids", "a,b")][..], json!({})),
            (&[("ids", "a"), ("ids", "b")], json!({})),
            (&[("ids", "c")], json!({"ids": ["a", "b", "a"]})),
            (&[], json!({"ids": "a, b\r\n,"})),
        ] {
            let found = texts(&arguments(query, &body), "ids").unwrap();
            assert_eq!(found, expected, "{query:?} {body}");
        }
        assert_eq!(texts(&arguments(&[], &json!({})), "ids").unwrap(), None);
    }

    #[test]
    fn truth_values_come_in_every_way_that_clients_write_them() {
        for (query, body, expected) in [
            (&[][..], json!({}), Some(false)),
            (&[("x", "true")], json!({}), Some(true)),
            (&[], json!({"x": "false"}), Some(false)),
            (&[("x", "false")], json!({"x": true}), Some(true)),
            (&[("x", "True")], json!({}), Some(true)),
            (&[("x", "1")], json!({}), Some(true)),
            (&[("x", "0")], json!({"x": "TRUE"}), Some(true)),
            (&[("x", "yes")], json!({}), None),
            (&[], json!({"x": 1}), None),
        ] {
            let found = truth(&arguments(query, &body), "x").ok();
            assert_eq!(found, expected, "{query:?} {body}");
        }
    }

    #[test]
    fn what_is_no_text_is_refused_by_name() {
        let many = vec!["x,y".repeat(100); 3].join(",");
        let too_many: Vec<String> = (0..300).map(|it| it.to_string()).collect();
        for body in [
            json!({"ids": 5}),
            json!({"ids": [{}]}),
            json!({"ids": "a\u{0}"}),
            json!({"ids": "x".repeat(5_000)}),
            json!({"ids": too_many.join(",")}),
        ] {
            let error = texts(&arguments(&[], &body), "ids").unwrap_err();
            assert_eq!(error.field_errors()[0].name, "ids", "{body}");
        }
        assert!(texts(&arguments(&[], &json!({ "ids": many })), "ids").is_ok());
    }

    #[test]
    fn a_text_is_one_text() {
        let body = json!({"one": " a ", "none": "  ", "two": ["a", "b"]});
        let arguments = arguments(&[("one", "b"), ("query", "q")], &body);
        assert_eq!(text(&arguments, "one").unwrap().as_deref(), Some("a"));
        assert_eq!(text(&arguments, "query").unwrap().as_deref(), Some("q"));
        assert_eq!(text(&arguments, "none").unwrap(), None);
        assert!(text(&arguments, "two").is_err());
        assert!(required(&arguments, "none").is_err());
        assert_eq!(whole(&arguments, "one").unwrap(), " a ");
        assert!(whole(&arguments, "two").is_err());
        assert!(whole(&arguments, "neither").is_err());
    }
}
