//! The shapes of fields, made from their descriptions.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};

use crate::model::entity::Entity;
use crate::model::schema::{Field, Kind, Schema as Fields, Writable};
use crate::model::wire::Moment;

/// Text without the control characters that no field takes.
const PLAIN: &str = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$";

/// Generates the schema of a value of `field` as it is answered.
pub fn read(generator: &mut SchemaGenerator, field: &Field) -> Schema {
    match field.children {
        Some(children) => list_of(&children.0().fields.iter().fold(
            Entry::new(children.0().doc),
            |properties, it| {
                let shape = read(generator, it);
                properties.with(it, shape, !it.is_nullable)
            },
        )),
        None => read_kind(generator, field.kind),
    }
}

fn read_kind(generator: &mut SchemaGenerator, kind: Kind) -> Schema {
    match kind {
        Kind::Text(_) => json_schema!({ "type": "string" }),
        Kind::Html(_) => json_schema!({ "type": "string", "contentMediaType": "text/html" }),
        Kind::Integer | Kind::Millis => json_schema!({ "type": "integer", "format": "int64" }),
        Kind::Number => json_schema!({ "type": "number" }),
        Kind::Boolean => json_schema!({ "type": "boolean" }),
        Kind::Instant => json_schema!({ "type": "string", "format": "date-time" }),
        Kind::Moment => super::of::<Moment>(generator),
        Kind::List => json_schema!({ "type": "array" }),
        Kind::Object => json_schema!({ "type": "object" }),
    }
}

/// Generates the schema of a value of this kind as it is sent, in JSON or, if `is_form`, in a form.
pub fn written(generator: &mut SchemaGenerator, kind: Kind, is_form: bool) -> Schema {
    match kind {
        Kind::Text(max) => {
            json_schema!({ "type": "string", "maxLength": max, "pattern": PLAIN })
        }
        Kind::Html(max) => json_schema!({
            "type": "string", "maxLength": max, "pattern": PLAIN, "contentMediaType": "text/html",
        }),
        Kind::Integer => json_schema!({
            "type": "integer", "format": "int64", "minimum": i64::MIN, "maximum": i64::MAX,
        }),
        Kind::Instant | Kind::Millis | Kind::Moment if is_form => instant(),
        Kind::List if is_form => json_schema!({ "type": "array", "items": { "type": "string" } }),
        Kind::Object if is_form => {
            json_schema!({ "type": "string", "pattern": "^([a-z]+=[a-z0-9]*)?$" })
        }
        Kind::Instant | Kind::Millis | Kind::Moment => {
            let millis = json_schema!({ "type": "integer", "format": "int64" });
            json_schema!({ "anyOf": [instant(), millis] })
        }
        other => read_kind(generator, other),
    }
}

/// Generates the schema of one of the texts that clients may write into `field`.
pub fn chosen(field: &Field) -> Schema {
    let nothing = (!field.is_required).then_some("");
    let texts: Vec<&str> = field.choices.iter().copied().chain(nothing).collect();
    json_schema!({ "type": "string", "enum": texts })
}

fn instant() -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// Generates the schema of a list of entities of the type `E` that are sent as a part of another entity. This function
/// is the [`Shape`](super::Shape) of such a list.
pub fn children<E: Entity>(generator: &mut SchemaGenerator) -> Schema {
    list_of(&sent_properties(generator, E::schema()))
}

fn sent_properties(generator: &mut SchemaGenerator, fields: &Fields) -> Entry {
    let mut properties = Entry::new(fields.doc);
    for field in fields.fields {
        let is_sent = field.writable != Writable::Never;
        let shape = match (field.shape, is_sent) {
            // What was read may be sent back, whatever it is.
            (_, false) => json_schema!({}),
            (Some(shape), true) => shape.schema(),
            (None, true) if field.choices.is_empty() => written(generator, field.kind, false),
            (None, true) => chosen(field),
        };
        let shape = match field.is_required || !is_sent {
            true => shape,
            false => json_schema!({ "anyOf": [shape, { "type": "null" }] }),
        };
        properties = properties.with(field, shape, is_sent && field.is_required);
    }
    properties
}

/// The properties of an entry of a list.
struct Entry {
    doc: &'static str,
    fields: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Entry {
    fn new(doc: &'static str) -> Self {
        Self {
            doc,
            fields: Map::new(),
            required: Vec::new(),
        }
    }

    fn with(mut self, field: &Field, mut shape: Schema, is_required: bool) -> Self {
        if !field.doc.is_empty() {
            shape.insert("description".to_owned(), field.doc.into());
        }
        if field.writable == Writable::Never {
            shape.insert("readOnly".to_owned(), true.into());
        }
        self.fields.insert(field.name.to_owned(), shape.into());
        self.required.extend(is_required.then_some(field.name));
        self
    }
}

fn list_of(entry: &Entry) -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "description": entry.doc,
            "properties": entry.fields,
            "required": entry.required,
            "additionalProperties": false,
        },
    })
}
