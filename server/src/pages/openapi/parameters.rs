//! Parameters that many operations have.

use entity_core::catalog::ListParameter;
use entity_core::schema::{Field, Schema as Fields};
use entity_core::schemars::{Schema, json_schema};
use entity_core::search::Operator;
use entity_formats::openapi::{Location, Parameter};
use serde_json::Value;

/// The fields of an answer that is no entity.
static NO_FIELDS: Fields = Fields {
    doc: "",
    fields: &[],
    has_feed: false,
    has_events: false,
    has_site: false,
    look: entity_core::schema::Look::PLAIN,
};

/// The parameter that stands for the id of an entity.
pub(super) const ID: &str = "id";

/// A parameter of lists of entities with these fields.
pub(super) fn list_parameter(fields: &Fields, parameter: &ListParameter) -> Parameter {
    Parameter {
        name: parameter.name.to_owned(),
        location: Location::Query,
        description: parameter.doc.to_owned(),
        required: false,
        schema: match (parameter.name, parameter.least) {
            (_, Some(least)) => {
                json_schema!({ "type": "integer", "minimum": least, "maximum": i64::MAX })
            }
            ("_order", None) => order(fields),
            ("_fields", None) => some_of(fields, |_| true),
            ("_expand", None) => some_of(fields, |it| it.references.is_some()),
            ("_count", None) => json_schema!({ "type": "string", "enum": ["none", "exact"] }),
            ("_search", None) => json_schema!({ "type": "string", "maxLength": 200 }),
            (_, None) => json_schema!({ "type": "string" }),
        },
        example: Some(parameter.example)
            .filter(|it| !it.is_empty())
            .map(Value::from),
    }
}

/// A parameter of lists that takes a number.
pub(super) fn window_parameter(parameter: &ListParameter) -> Parameter {
    list_parameter(&NO_FIELDS, parameter)
}

/// Fields that have an order, separated by commas.
pub(super) fn order(fields: &Fields) -> Schema {
    let names: Vec<&str> = fields
        .fields
        .iter()
        .filter(|it| it.column.is_some())
        .map(|it| it.name)
        .collect();
    let key = format!("({})(_asc|_desc|_reverse)?", names.join("|"));
    match names.is_empty() {
        true => json_schema!({ "type": "string", "maxLength": 0 }),
        false => json_schema!({ "type": "string", "pattern": format!("^{key}(,{key})*$") }),
    }
}

/// Names of those fields that `is_meant`, separated by commas.
fn some_of(fields: &Fields, is_meant: impl Fn(&Field) -> bool) -> Schema {
    let fields = fields.fields.iter().filter(|it| is_meant(it));
    let names: Vec<&str> = fields.map(|it| it.name).collect();
    let name = format!("({})", names.join("|"));
    match names.is_empty() {
        true => json_schema!({ "type": "string", "maxLength": 0 }),
        false => json_schema!({ "type": "string", "pattern": format!("^{name}(,{name})*$") }),
    }
}

/// The parameters that ask for values of `field` by an operator.
pub(super) fn operators(field: &Field) -> impl Iterator<Item = Parameter> {
    Operator::of(field).map(|operator| Parameter {
        name: format!("{}[{}]", field.name, operator.name()),
        location: Location::Query,
        description: format!("Only those of which this holds. {}", field.doc),
        required: false,
        schema: match operator {
            Operator::Null => json_schema!({ "type": "string", "enum": ["true", "false"] }),
            _ => json_schema!({ "type": "string" }),
        },
        example: None,
    })
}

/// A parameter of the query that is declared with its name and its meaning.
pub(super) fn text_parameter((name, doc): &(&str, &str)) -> Parameter {
    Parameter {
        name: (*name).to_owned(),
        location: Location::Query,
        description: (*doc).to_owned(),
        required: false,
        schema: json_schema!({ "type": "string" }),
        example: None,
    }
}

/// A segment of the path.
pub(super) fn segment(name: &str, doc: &str) -> Parameter {
    Parameter {
        name: name.to_owned(),
        location: Location::Path,
        description: doc.to_owned(),
        required: true,
        schema: json_schema!({ "type": "string", "minLength": 1 }),
        example: None,
    }
}

pub(super) fn id() -> Parameter {
    segment(ID, "The id.")
}

pub(super) fn header(name: &str, doc: &str, schema: Schema) -> Parameter {
    Parameter {
        name: name.to_owned(),
        location: Location::Header,
        description: doc.to_owned(),
        required: false,
        schema,
        example: None,
    }
}

pub(super) fn if_none_match() -> Parameter {
    let doc = "The versions that the client has, as `ETag` told them.";
    header("If-None-Match", doc, json_schema!({ "type": "string" }))
}

pub(super) fn if_match() -> Parameter {
    let doc = "The versions in which it may be written, as `ETag` told them; `*` for any.";
    header("If-Match", doc, json_schema!({ "type": "string" }))
}

pub(super) fn if_modified_since() -> Parameter {
    let doc = "When the client's version last changed, as `Last-Modified` told it. Counts without `If-None-Match`.";
    instant("If-Modified-Since", doc)
}

pub(super) fn if_unmodified_since() -> Parameter {
    let doc = "Since when it must not have changed, as `Last-Modified` told it. Counts without `If-Match`.";
    instant("If-Unmodified-Since", doc)
}

/// A field of the header that is an instant as HTTP writes it.
fn instant(name: &str, doc: &str) -> Parameter {
    Parameter {
        example: Some("Sat, 21 Nov 2026 10:00:00 GMT".into()),
        ..header(name, doc, json_schema!({ "type": "string" }))
    }
}

/// The parameter by which a client says how it wants to be answered.
pub(super) const PREFER: &str = "Prefer";
/// The parameter that names a request.
pub(super) const IDEMPOTENCY_KEY: &str = "Idempotency-Key";

pub(super) fn prefer() -> Parameter {
    // Whoever sends it is answered with less than is described here.
    let doc = "Whether to answer with the entity; whether to refuse what would be left out (`handling=strict`). With \
        `tx=rollback`, everything is given up in the end, and the answer has only what could be read before.";
    let values = ["return=representation", "return=minimal", "handling=strict"];
    header(
        PREFER,
        doc,
        json_schema!({ "type": "string", "enum": values }),
    )
}

pub(super) fn idempotency_key() -> Parameter {
    let doc = "Names the request, so that it is done once even if it is sent again: a day long, the first \
        result is the answer.";
    header(
        IDEMPOTENCY_KEY,
        doc,
        json_schema!({ "type": "string", "minLength": 1, "maxLength": 255 }),
    )
}
