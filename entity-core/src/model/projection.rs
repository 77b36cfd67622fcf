//! The projection of entities: `_fields` selects the fields of a reply, `_expand` adds the referenced entities.
//!
//! `_fields=title,siteId` shows these fields and the keys that every entity has. `_expand=siteId` adds the entity that
//! the field refers to beside the field, under the field's name followed by [`EXPANDED`]: `siteIdEntity`. Entities that
//! the caller may not read are left out.

mod chosen;

use std::sync::Arc;

use crate::model::schema::{Field, Schema};
use crate::primitives::error::{Error, Result};

pub(crate) use chosen::Chosen;

/// The suffix that follows a field's name in the key of the entity that the field refers to. The registry refuses types
/// that have a field with such a name.
pub const EXPANDED: &str = "Entity";

/// The maximum number of fields that one request may expand.
const MOST_EXPANDED: usize = 5;

/// The projection of an entity: the fields and the related entities that a reply shows.
#[derive(Clone, Debug, Default)]
pub struct Projection {
    /// The names of the fields to show; `None` shows all fields.
    pub fields: Option<Arc<[&'static str]>>,
    /// The fields whose referenced entities are shown beside them.
    pub expand: Vec<&'static Field>,
}

impl Projection {
    /// The query parameters that define a projection.
    pub const PARAMETERS: [&str; 2] = ["_fields", "_expand"];

    /// Returns whether the projection selects fields or expands any.
    pub(crate) fn is_said(&self) -> bool {
        self.fields.is_some() || !self.expand.is_empty()
    }

    /// Parses `_fields` and `_expand`, and ignores the other pairs of `query`.
    ///
    /// # Errors
    /// Returns an error that names the parameter if it is given more than once, names a field that the type does not
    /// have, or expands too many fields or a field that refers to no entity.
    pub fn parse(query: &[(String, String)], schema: &'static Schema) -> Result<Self> {
        let mut projection = Self::default();
        let fields = once(query, "_fields")?.map(|it| names("_fields", it, schema));
        if let Some(fields) = fields {
            projection.fields = Some(fields?.into_iter().map(|it| it.name).collect());
        }
        if let Some(text) = once(query, "_expand")? {
            projection.expand = names("_expand", text, schema)?;
        }
        if let Some(field) = projection.expand.iter().find(|it| it.references.is_none()) {
            return Err(Error::field(
                "_expand",
                format!("can't expand `{}`, which refers to no entity", field.name),
            ));
        }
        match projection.expand.len() > MOST_EXPANDED {
            true => Err(Error::field(
                "_expand",
                format!("must have at most {MOST_EXPANDED} fields"),
            )),
            false => Ok(projection),
        }
    }
}

fn once<'a>(query: &'a [(String, String)], name: &str) -> Result<Option<&'a str>> {
    let mut values = query.iter().filter(|it| it.0 == name);
    let first = values.next().map(|it| it.1.as_str());
    match values.next() {
        Some(_) => Err(Error::field(name, "is given more than once")),
        None => Ok(first),
    }
}

/// Parses a comma-separated list of field names and returns each field once.
fn names(parameter: &str, text: &str, schema: &'static Schema) -> Result<Vec<&'static Field>> {
    let mut fields: Vec<&'static Field> = Vec::new();
    for name in text.split(',').map(str::trim).filter(|it| !it.is_empty()) {
        let field = schema
            .field(name)
            .ok_or_else(|| Error::field(parameter, format!("names `{name}`, which is no field")))?;
        if fields.iter().all(|it| it.name != field.name) {
            fields.push(field);
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::schema::Kind;

    static SCHEMA: Schema = Schema {
        doc: "",
        fields: &[
            Field::new("id", Kind::Text(9), ""),
            Field::new("siteId", Kind::Text(9), "").references("site"),
        ],
        has_feed: false,
        has_events: false,
        has_site: false,
        look: crate::model::look::Look::PLAIN,
    };

    fn parse(query: &[(&str, &str)]) -> Result<Projection> {
        let query: Vec<_> = query
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Projection::parse(&query, &SCHEMA)
    }

    #[test]
    fn fields_are_named_by_commas() {
        let projection = parse(&[("_fields", " siteId,id,siteId"), ("x", "")]).unwrap();
        assert_eq!(projection.fields.as_deref(), Some(&["siteId", "id"][..]));
        assert!(parse(&[]).unwrap().fields.is_none());
    }

    #[test]
    fn what_is_no_field_or_refers_to_nothing_is_refused() {
        for (query, name) in [
            (&[("_fields", "id,nonsense")][..], "_fields"),
            (&[("_fields", "id"), ("_fields", "id")], "_fields"),
            (&[("_expand", "id")], "_expand"),
            (&[("_expand", "nonsense")], "_expand"),
        ] {
            let error = parse(query).unwrap_err();
            assert_eq!(error.field_errors()[0].name, name, "{query:?}");
        }
        assert_eq!(parse(&[("_expand", "siteId")]).unwrap().expand.len(), 1);
    }

    #[test]
    fn only_chosen_fields_of_the_outermost_object_are_written() {
        #[derive(serde::Serialize)]
        struct Outer {
            a: i64,
            b: Inner,
            #[serde(flatten)]
            more: std::collections::BTreeMap<&'static str, i64>,
        }
        #[derive(serde::Serialize)]
        struct Inner {
            a: i64,
            z: i64,
        }
        let outer = Outer {
            a: 1,
            b: Inner { a: 2, z: 3 },
            more: [("c", 4), ("d", 5)].into(),
        };
        let written = |fields| serde_json::to_value(Chosen::new(&outer, fields)).unwrap();
        assert_eq!(written(&["b", "d"]), json!({"b": {"a": 2, "z": 3}, "d": 5}));
        assert_eq!(written(&[]), json!({}));
        assert_eq!(
            serde_json::to_value(Chosen::new(&outer.b, &["z"])).unwrap(),
            json!({"z": 3})
        );
        assert!(serde_json::to_value(Chosen::new(&5, &["z"])).is_err());
    }
}
