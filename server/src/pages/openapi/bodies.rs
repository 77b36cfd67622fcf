//! Bodies that create and change entities: fields in each of the formats that are read, and patch documents.

use std::collections::BTreeMap;

use entity_core::schemars::{Schema, json_schema};
use entity_formats::openapi::{Content, RequestBody};

use super::Builder;
use super::entities::Type;
use super::schema::{self, Purpose};
use crate::web::direct::body::{JSON_PATCH, MERGE_PATCH};

/// The media type of forms with files.
const FORM_WITH_FILES: &str = "multipart/form-data";

/// The body of an action that takes files.
pub(super) fn files() -> RequestBody {
    let whole = Content {
        schema: Some(json_schema!({ "type": "string", "format": "binary" })),
        example: None,
    };
    RequestBody {
        description: "The file, whose name may be in `Content-Disposition`, or a form with it."
            .to_owned(),
        required: true,
        content: [
            (FORM_WITH_FILES.to_owned(), with_files()),
            ("*/*".to_owned(), whole),
        ]
        .into(),
    }
}

/// A form with files.
fn with_files() -> Content {
    Content {
        schema: Some(json_schema!({
            "type": "object",
            "description": "The fields as in any other form, and behind them the files.",
            "additionalProperties": { "type": "string" },
        })),
        example: None,
    }
}

impl Builder<'_> {
    /// A body in each of the formats that are read. A form that is posted may stand for another method.
    pub(super) fn body(
        &mut self,
        kind: &Type<'_>,
        is_create: bool,
        has_method: bool,
    ) -> RequestBody {
        let (json, form) = match is_create {
            true => (Purpose::Create, Purpose::CreateForm),
            false => (Purpose::Change, Purpose::ChangeForm),
        };
        let (prefix, fields) = (kind.prefix(), kind.fields());
        let mut content = BTreeMap::new();
        for name in &kind.entry.formats.input {
            let Some(parser) = self.formats.parser_named(name) else {
                continue;
            };
            let purpose = match *name {
                "json" => Some(json),
                "form" => Some(form),
                _ => None,
            };
            let schema = purpose
                .map(|it| schema::entity(&mut self.generator, prefix, fields, it))
                .map(|it| match purpose == Some(form) && has_method {
                    true => with_method(&it),
                    false => it,
                });
            let example = purpose.map(|_| schema::sample(fields, is_create));
            content.insert(parser.media_type().to_owned(), Content { schema, example });
        }
        if kind.route.receives_in_forms() {
            content.insert(FORM_WITH_FILES.to_owned(), with_files());
        }
        RequestBody {
            required: fields.writable(true).next().is_some(),
            content,
            ..RequestBody::default()
        }
    }

    pub(super) fn patch(&mut self, kind: &Type<'_>) -> RequestBody {
        let (prefix, fields) = (kind.prefix(), kind.fields());
        let changes = schema::entity(&mut self.generator, prefix, fields, Purpose::Change);
        let merge = Content {
            schema: Some(changes),
            example: Some(schema::sample(fields, false)),
        };
        let patch = Content {
            schema: Some(json_patch()),
            example: None,
        };
        RequestBody {
            required: true,
            content: [
                (MERGE_PATCH.to_owned(), merge),
                (JSON_PATCH.to_owned(), patch),
            ]
            .into(),
            ..RequestBody::default()
        }
    }
}

fn with_method(form: &Schema) -> Schema {
    json_schema!({
        "allOf": [form],
        "properties": {
            "_method": { "enum": ["PUT", "DELETE", "POST"], "description": "The method that is meant." },
        },
    })
}

/// RFC 6902.
fn json_patch() -> Schema {
    json_schema!({
        "type": "array",
        "items": {
            "type": "object",
            "required": ["op", "path"],
            "properties": {
                "op": { "enum": ["add", "remove", "replace", "move", "copy", "test"] },
                "path": { "type": "string", "format": "json-pointer" },
                "from": { "type": "string", "format": "json-pointer" },
                "value": {},
            },
        },
    })
}
