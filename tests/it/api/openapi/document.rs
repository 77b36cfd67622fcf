//! The document as a client reads it, and the judgement of an independent validator on what is answered.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use serde_json::{Map, Value, json};
use tests::Answer;

/// The document.
pub(super) struct Document {
    root: Value,
    operations: Vec<Operation>,
    /// By the schema's own text.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// One operation.
pub(super) struct Operation {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) tag: String,
    pub(super) parameters: Vec<Parameter>,
    /// Media types and examples of the body.
    pub(super) bodies: Vec<(String, Value)>,
    responses: Value,
}

/// One parameter.
pub(super) struct Parameter {
    pub(super) name: String,
    pub(super) location: String,
    pub(super) schema: Value,
    pub(super) example: Value,
}

impl Document {
    pub(super) fn new(mut root: Value) -> Self {
        close(&mut root);
        let paths = fields(&root["paths"]);
        let operations = paths
            .iter()
            .flat_map(|(path, item)| fields(item).iter().map(move |it| (path, it)))
            .map(|(path, (method, operation))| Operation::new(path, method, operation))
            .collect();
        Self {
            root,
            operations,
            validators: Mutex::default(),
        }
    }

    pub(super) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    pub(super) fn resolve(&self, reference: &str) -> Option<&Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// All references.
    pub(super) fn references(&self) -> Vec<String> {
        let mut found = Vec::new();
        collect(&self.root, &mut found);
        found
    }

    /// Returns the fault of an answer of `operation`.
    pub(super) fn complaint(&self, operation: &Operation, answer: &Answer) -> Option<String> {
        let status = answer.status.as_str();
        let text = String::from_utf8_lossy(&answer.body);
        let Some(response) = operation.responses.get(status) else {
            return Some(format!("{status} is not described: {text}"));
        };
        let response = match response["$ref"].as_str() {
            Some(reference) => self.resolve(reference)?,
            None => response,
        };
        if answer.body.is_empty() {
            return None;
        }
        let media_type = answer.header("content-type").unwrap_or_default();
        let essence = media_type.split(';').next().unwrap_or_default();
        let Some(content) = response["content"].get(essence) else {
            return Some(format!("{status}: `{essence}` is not described"));
        };
        let schema = content
            .get("schema")
            .filter(|_| essence.ends_with("json"))?;
        let errors = self
            .validator(schema)
            .iter_errors(&answer.json())
            .map(|it| it.to_string())
            .collect::<Vec<_>>();
        (!errors.is_empty()).then(|| format!("{status}: {}: {text}", errors.join("; ")))
    }
}

impl Document {
    /// The validator of `schema`, which may refer to others of the document. Many answers have the same.
    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut known = self.validators.lock().expect("no panic");
        let validator = known.entry(schema.to_string()).or_insert_with(|| {
            let schema = json!({ "components": self.needed(schema), "allOf": [schema] });
            Arc::new(jsonschema::validator_for(&schema).expect("a schema"))
        });
        validator.clone()
    }

    /// The components to which `schema` refers, by itself or through others. All of them take a validator much longer.
    fn needed(&self, schema: &Value) -> Value {
        let mut needed = json!({});
        let mut references = Vec::new();
        collect(schema, &mut references);
        while let Some(reference) = references.pop() {
            let component = reference.strip_prefix("#/components/");
            let Some((kind, name)) = component.and_then(|it| it.split_once('/')) else {
                continue;
            };
            if let Some(found) = self.resolve(&reference)
                && needed[kind].get(name).is_none()
            {
                collect(found, &mut references);
                needed[kind][name] = found.clone();
            }
        }
        needed
    }
}

impl Operation {
    fn new(path: &str, method: &str, operation: &Value) -> Self {
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let bodies = operation["requestBody"].get("content");
        Self {
            id: text(&operation["operationId"]),
            method: method.to_owned(),
            path: path.to_owned(),
            tag: text(&operation["tags"][0]),
            parameters: parameters.map(Parameter::new).collect(),
            bodies: bodies
                .into_iter()
                .flat_map(fields)
                .map(|(media_type, content)| (media_type.clone(), content["example"].clone()))
                .collect(),
            responses: operation["responses"].clone(),
        }
    }
}

impl Operation {
    /// Returns whether an answer with this status has this field in its header.
    pub(super) fn tells(&self, status: &str, header: &str) -> bool {
        self.responses[status]["headers"].get(header).is_some()
    }
}

impl Parameter {
    fn new(parameter: &Value) -> Self {
        Self {
            name: text(&parameter["name"]),
            location: text(&parameter["in"]),
            schema: parameter["schema"].clone(),
            example: parameter["example"].clone(),
        }
    }
}

/// Lets no object have keys that are not described: clients may find more one day, but not today.
fn close(root: &mut Value) {
    let schemas = root["components"]["schemas"]
        .as_object_mut()
        .expect("schemas");
    for schema in schemas.values_mut() {
        let schema = schema.as_object_mut().expect("a schema");
        if schema.contains_key("properties") && !schema.contains_key("additionalProperties") {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
    }
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("$ref", Value::String(target)) => found.push(target.clone()),
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| collect(it, found)),
        _ => {}
    }
}

fn fields(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object")
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}
