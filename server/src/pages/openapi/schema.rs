//! The shapes of entities, made from their schemas: as they are read, and as they are created and changed.

use entity_core::schema::{Field, Kind, Schema as Fields, Writable};
use entity_core::schemars::{Schema, SchemaGenerator, json_schema};
use entity_core::shape;
use serde_json::{Map, Value, json};

use super::SCHEMAS;

/// The properties of an entity besides its fields.
const METADATA: [(&str, &str); 4] = [
    ("entityReference", "The reference: `/type/id`."),
    ("entityURL", "The address."),
    ("entityId", "The id."),
    ("entityTitle", "The title."),
];

/// The purpose of the shape of an entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is read whole.
    Read,
    /// It is read with some of its fields.
    Part,
    /// It is created.
    Create,
    /// It is changed.
    Change,
    /// It is created by a form, which has text only.
    CreateForm,
    /// It is changed by a form.
    ChangeForm,
}

impl Purpose {
    fn suffix(self) -> &'static str {
        match self {
            Self::Read => "",
            Self::Part => "-part",
            Self::Create => "-draft",
            Self::Change => "-changes",
            Self::CreateForm => "-draft-form",
            Self::ChangeForm => "-changes-form",
        }
    }

    fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::Part)
    }

    fn is_form(self) -> bool {
        matches!(self, Self::CreateForm | Self::ChangeForm)
    }

    fn is_create(self) -> bool {
        matches!(self, Self::Create | Self::CreateForm)
    }
}

/// A reference to the shape of the entities of `prefix` for `purpose`, which becomes a definition.
pub(super) fn entity(
    generator: &mut SchemaGenerator,
    prefix: &str,
    fields: &Fields,
    purpose: Purpose,
) -> Schema {
    let name = format!("{prefix}{}", purpose.suffix());
    if !generator.definitions().contains_key(&name) {
        let schema = definition(generator, fields, purpose);
        generator
            .definitions_mut()
            .insert(name.clone(), schema.into());
    }
    Schema::new_ref(format!("#{SCHEMAS}/{name}"))
}

/// The shape of a list of the entities of `prefix`.
pub(super) fn collection(prefix: &str, item: &Schema) -> Schema {
    let list = format!("{prefix}_collection");
    json_schema!({
        "type": "object",
        "required": ["entityPrefix", list],
        "properties": {
            "entityPrefix": { "const": prefix },
            (list): { "type": "array", "items": item },
        },
    })
}

fn definition(generator: &mut SchemaGenerator, fields: &Fields, purpose: Purpose) -> Schema {
    let is_shown = |it: &&Field| match purpose.is_form() {
        true => it.may_be_written(purpose.is_create()),
        false => true,
    };
    let shown: Vec<&Field> = fields.fields.iter().filter(is_shown).collect();
    let mut properties: Map<String, Value> = shown
        .iter()
        .map(|it| (it.name.to_owned(), property(generator, it, purpose).into()))
        .collect();
    for (name, doc) in METADATA.into_iter().filter(|_| !purpose.is_form()) {
        let metadata = json!({ "type": "string", "description": doc, "readOnly": true });
        properties.entry(name).or_insert(metadata);
    }
    if purpose == Purpose::ChangeForm {
        let doc = "The version that the form was filled with, as in the entity's `ETag` before the dash: another one \
            is not written over.";
        let version = json!({ "type": "string", "pattern": "^[0-9a-f]{16}$", "description": doc });
        properties.entry("_version").or_insert(version);
    }
    if purpose.is_form() {
        let doc = "The time zone by whose clock times without an offset are; UTC without it, and for an entity that names a \
            zone, that one.";
        let zone = json!({ "type": "string", "maxLength": 64, "description": doc });
        properties.entry("_zone").or_insert(zone);
    }
    let is_required = |it: &&&Field| match purpose {
        Purpose::Read => !it.is_nullable,
        Purpose::Create | Purpose::CreateForm => it.is_required && it.writable != Writable::Never,
        Purpose::Part | Purpose::Change | Purpose::ChangeForm => false,
    };
    let required: Vec<&str> = shown.iter().filter(is_required).map(|it| it.name).collect();
    let mut schema = json_schema!({
        "type": "object",
        "description": fields.doc,
        "properties": properties,
    });
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    if !purpose.is_read() && !purpose.is_form() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
    schema
}

fn property(generator: &mut SchemaGenerator, field: &Field, purpose: Purpose) -> Schema {
    let mut schema = match (purpose, field.shape) {
        (Purpose::Read | Purpose::Part, _) => shape::read(generator, field),
        (Purpose::Create | Purpose::Change, Some(shape)) => shape.schema(),
        _ if field.choices.is_empty() => shape::written(generator, field.kind, purpose.is_form()),
        _ => shape::chosen(field),
    };
    let takes_null = !purpose.is_form() && !field.is_required && !purpose.is_read();
    if takes_null || (purpose.is_read() && field.is_nullable) {
        schema = json_schema!({ "anyOf": [schema, { "type": "null" }] });
    }
    if !field.doc.is_empty() {
        schema.insert("description".to_owned(), field.doc.into());
    }
    if let Some(default) = field.default.filter(|_| purpose.is_create()) {
        let default = field
            .parse(default)
            .unwrap_or_else(|_unread| default.into());
        schema.insert("default".to_owned(), default);
    }
    let is_ignored = !purpose.is_read() && !field.may_be_written(purpose.is_create());
    if field.writable == Writable::Never || is_ignored {
        schema.insert("readOnly".to_owned(), true.into());
    }
    schema
}

/// A value that lists are filtered by, as the text of a query.
pub(super) fn filter(generator: &mut SchemaGenerator, kind: Kind) -> Schema {
    match kind {
        Kind::List | Kind::Object => json_schema!({ "type": "string" }),
        other => shape::written(generator, other, true),
    }
}

/// A value of this kind that every field takes.
pub(super) fn example(kind: Kind) -> Value {
    match kind {
        Kind::Text(max) => "Example".chars().take(max).collect::<String>().into(),
        Kind::Html(_) => "<p>An example.</p>".into(),
        Kind::Integer => 1.into(),
        Kind::Number => 1.5.into(),
        Kind::Boolean => true.into(),
        Kind::Instant | Kind::Millis | Kind::Moment => "2026-11-21T10:00:00Z".into(),
        Kind::List => json!([]),
        Kind::Object => json!({}),
    }
}

/// An entity as it may be sent: the fields that must be there or, if none must, the first that may.
pub(super) fn sample(fields: &Fields, is_create: bool) -> Value {
    let all: Vec<&Field> = fields.writable(is_create).collect();
    let required: Vec<&Field> = all
        .iter()
        .copied()
        .filter(|it| it.is_required && is_create)
        .collect();
    let shown = match required.is_empty() {
        true => all.into_iter().take(1).collect(),
        false => required,
    };
    let pairs = shown.iter().map(|it| match it.choices.first() {
        Some(choice) => (it.name.to_owned(), (*choice).into()),
        None => (it.name.to_owned(), example(it.kind)),
    });
    Value::Object(pairs.collect())
}
