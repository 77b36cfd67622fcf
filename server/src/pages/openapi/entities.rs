//! Operations on the entities of a type, apart from its actions.

use std::collections::BTreeMap;

use entity_core::catalog::{Address, LIST_PARAMETERS, ListParameter, Place, TypeEntry};
use entity_core::engine::{Projection, Route};
use entity_core::format::Formats;
use entity_core::schema::Schema as Fields;
use entity_core::schemars::json_schema;
use entity_core::{Access, ErrorKind, Need, Verb};
use entity_formats::openapi::{Answer, Content, Link, Location, Operation, Parameter, Response};

use super::forms::form;
use super::parameters::{
    ID, id, idempotency_key, if_match, if_modified_since, if_none_match, if_unmodified_since,
    list_parameter, operators, prefer, text_parameter,
};
use super::refusals::Mount;
use super::schema::{self, Purpose};
use super::{Builder, empty, text_header};

/// The operation that shows a form.
const FORM: &str = "form";
/// The suffix of the ids of operations that have a better address.
pub(super) const AT_FORM: &str = "AtForm";

/// An entity after a change.
const CHANGED: (&str, Purpose) = ("It is changed; this is how it is now.", Purpose::Read);

/// A type while its operations are made.
pub(super) struct Type<'a> {
    pub(super) route: &'a Route,
    pub(super) entry: TypeEntry,
}

impl<'a> Type<'a> {
    pub(super) fn of(route: &'a Route, formats: &Formats) -> Self {
        let entry = TypeEntry::of(route, formats);
        Self { route, entry }
    }

    pub(super) fn prefix(&self) -> &'static str {
        self.route.prefix
    }

    pub(super) fn fields(&self) -> &'static Fields {
        self.route.schema
    }

    pub(super) fn path(&self, behind: &str) -> String {
        format!("/direct/{}{behind}", self.route.prefix)
    }

    /// A name for an operation: `read` and `Site`.
    pub(super) fn name(&self, operation: &str) -> String {
        format!("{operation}{}", capital(self.route.prefix))
    }

    fn need(&self, address: &Address) -> Need {
        // A route without access can't be registered.
        let access = self.route.access.unwrap_or(Access::SUPERUSER);
        match (address.operation, address.path) {
            ("create", _) | ("form", "/new") => access.create,
            ("update" | "patch", _) | ("form", "/{id}/edit") => access.update,
            ("delete" | "form", _) => access.delete,
            _ => access.read,
        }
    }
}

/// `site-group` → `SiteGroup`.
pub(super) fn capital(name: &str) -> String {
    name.split(['-', '_', '.'])
        .flat_map(|word| {
            let mut chars = word.chars();
            let first = chars.next().map(|it| it.to_ascii_uppercase());
            first.into_iter().chain(chars)
        })
        .collect()
}

/// The errors of `operation` besides those that all operations have in common.
fn refusals(address: &Address) -> &'static [ErrorKind] {
    match address.operation {
        // What a type lets everybody read may still belong to somebody.
        "list" | "read" => &[
            ErrorKind::Unauthenticated,
            ErrorKind::Forbidden,
            ErrorKind::NotFound,
        ],
        "create" => &[ErrorKind::NotFound, ErrorKind::Conflict],
        "form" => &[ErrorKind::NotFound],
        _ => &[
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::PreconditionFailed,
        ],
    }
}

impl Builder<'_> {
    pub(super) fn add_type(&mut self, route: &Route) {
        let kind = Type::of(route, self.formats);
        let title = Some(kind.entry.title.clone());
        self.add_tag(kind.prefix(), title, kind.entry.description);
        for address in &kind.entry.addresses {
            let mut operation = Operation {
                tags: vec![kind.prefix().to_owned()],
                description: permission(&kind.entry, address),
                ..self.operation(&kind, address)
            };
            if address.place == Place::Form && address.operation != FORM {
                operation.operation_id.push_str(AT_FORM);
                operation
                    .summary
                    .push_str(" This is the address of its form.");
            }
            self.add(
                (Mount::Direct, &kind.path(address.path)),
                address.verb,
                (kind.need(address), refusals(address)),
                operation,
            );
        }
        for action in &route.actions {
            self.add_action(&kind, action);
        }
    }

    fn operation(&mut self, kind: &Type<'_>, address: &Address) -> Operation {
        let prefix = kind.prefix();
        match address.operation {
            "list" => self.list(kind),
            "read" => self.read(kind),
            "create" => self.create(kind),
            "delete" => delete(kind),
            "form" => form(kind, address.path),
            _ => Operation {
                summary: format!("Changes some fields of one `{prefix}`."),
                ..self.change(kind, address.verb)
            },
        }
    }

    fn list(&mut self, kind: &Type<'_>) -> Operation {
        let prefix = kind.prefix();
        let parameters = self.list_parameters(kind);
        let formats = kind.entry.formats.list.clone();
        let mut response = self.list_response(kind, &formats);
        response.links = links(
            kind,
            &format!("$response.body#/{prefix}_collection/0/entityId"),
        );
        Operation {
            operation_id: kind.name("list"),
            summary: format!("Lists those of the type `{prefix}` that the caller may see."),
            parameters,
            responses: [("200".to_owned(), Answer::Own(response)), not_modified()].into(),
            ..Operation::default()
        }
    }

    /// A list of the type's entities, with its headers.
    pub(super) fn list_response(&mut self, kind: &Type<'_>, formats: &[&str]) -> Response {
        let (prefix, fields) = (kind.prefix(), kind.fields());
        let mut response = self.response("The list.", formats, |generator| {
            let item = schema::entity(generator, prefix, fields, Purpose::Part);
            schema::collection(prefix, &item)
        });
        response.headers = [
            ("ETag", text_header("The version of the list.")),
            ("Link", text_header("The other parts of the list.")),
            ("X-Left-Out", text_header("What a file lacks.")),
            (
                "X-Total-Count",
                text_header("How many there are, where that was asked for."),
            ),
        ]
        .into();
        response
    }

    /// The query parameters of its list.
    pub(super) fn list_parameters(&mut self, kind: &Type<'_>) -> Vec<Parameter> {
        let common = LIST_PARAMETERS
            .iter()
            .map(|it| list_parameter(kind.fields(), it));
        let own = kind.route.parameters.iter().map(text_parameter);
        let mut parameters: Vec<Parameter> = common.chain(own).collect();
        for field in kind.fields().fields.iter().filter(|it| it.column.is_some()) {
            if parameters.iter().all(|it| it.name != field.name) {
                parameters.push(Parameter {
                    name: field.name.to_owned(),
                    location: Location::Query,
                    description: format!("Only those with this value. {}", field.doc),
                    required: false,
                    schema: schema::filter(&mut self.generator, field.kind),
                    example: None,
                });
            }
            parameters.extend(operators(field));
        }
        parameters.push(if_none_match());
        parameters
    }

    fn read(&mut self, kind: &Type<'_>) -> Operation {
        let formats = kind.entry.formats.entity.clone();
        let response = self.entity_response(("The entity.", Purpose::Part), kind, &formats);
        let parameters = [id()].into_iter().chain(entity_parameters(kind));
        Operation {
            operation_id: kind.name("read"),
            summary: format!("Reads one `{}`.", kind.prefix()),
            parameters: parameters.collect(),
            responses: [("200".to_owned(), Answer::Own(response)), not_modified()].into(),
            ..Operation::default()
        }
    }

    /// One of the type's entities, or a part of it, with its headers.
    pub(super) fn entity_response(
        &mut self,
        (description, purpose): (&str, Purpose),
        kind: &Type<'_>,
        formats: &[&str],
    ) -> Response {
        let (prefix, fields) = (kind.prefix(), kind.fields());
        let mut response = self.response(description, formats, |generator| {
            schema::entity(generator, prefix, fields, purpose)
        });
        response.headers.extend([
            ("ETag", text_header("The version of the entity.")),
            (
                "Last-Modified",
                text_header("When it last changed, where that is known."),
            ),
        ]);
        response
    }

    fn create(&mut self, kind: &Type<'_>) -> Operation {
        let formats = kind.entry.formats.entity.clone();
        let response = self.created_response(kind, &formats);
        Operation {
            operation_id: kind.name("create"),
            summary: format!("Creates one `{}`.", kind.prefix()),
            parameters: vec![prefer(), idempotency_key()],
            request_body: Some(self.body(kind, true, false)),
            responses: [("201".to_owned(), Answer::Own(response)), see_other()].into(),
            ..Operation::default()
        }
    }

    /// A new entity, with where it is. Forms are answered with its id as text.
    pub(super) fn created_response(&mut self, kind: &Type<'_>, formats: &[&str]) -> Response {
        let mut response = self.entity_response(("It is there now.", Purpose::Read), kind, formats);
        response.content.insert(
            "text/plain".to_owned(),
            Content {
                schema: Some(json_schema!({ "type": "string" })),
                example: None,
            },
        );
        response.headers.extend([
            ("Location", text_header("The address of what was created.")),
            ("EntityId", text_header("Its id, percent-encoded.")),
            (
                "EntityReference",
                text_header("Its reference, percent-encoded."),
            ),
        ]);
        response.links = links(kind, "$response.header.EntityId");
        response
    }

    fn change(&mut self, kind: &Type<'_>, verb: Verb) -> Operation {
        let formats = kind.entry.formats.entity.clone();
        let changed = self.entity_response(CHANGED, kind, &formats);
        let body = match verb {
            Verb::Patch => self.patch(kind),
            _ => self.body(kind, false, verb == Verb::Post),
        };
        let mut done = empty("It is changed.");
        done.headers
            .insert("ETag", text_header("The version of the entity."));
        let name = match verb {
            Verb::Put => "update",
            Verb::Patch => "patch",
            _ => "post",
        };
        let see = (verb != Verb::Patch).then(see_other);
        let key = (verb == Verb::Post).then(idempotency_key);
        let responses = [
            ("200".to_owned(), Answer::Own(changed)),
            ("204".to_owned(), Answer::Own(done)),
        ];
        Operation {
            operation_id: kind.name(name),
            parameters: [id(), if_match(), if_unmodified_since(), prefer()]
                .into_iter()
                .chain(key)
                .collect(),
            request_body: Some(body),
            responses: responses.into_iter().chain(see).collect(),
            ..Operation::default()
        }
    }
}

fn delete(kind: &Type<'_>) -> Operation {
    let gone = Answer::Own(empty("It is gone."));
    Operation {
        operation_id: kind.name("delete"),
        summary: format!("Deletes one `{}`.", kind.prefix()),
        parameters: vec![id(), if_match(), if_unmodified_since(), prefer()],
        responses: [("204".to_owned(), gone)].into(),
        ..Operation::default()
    }
}

/// The query parameters of an answer that is one entity.
pub(super) fn entity_parameters(kind: &Type<'_>) -> impl Iterator<Item = Parameter> {
    let is_shown = |it: &&ListParameter| Projection::PARAMETERS.contains(&it.name);
    let (fields, shown) = (kind.fields(), LIST_PARAMETERS.iter().filter(is_shown));
    shown
        .map(move |it| list_parameter(fields, it))
        .chain([if_none_match(), if_modified_since()])
}

/// The permission that the caller must hold, in words.
fn permission(entry: &TypeEntry, address: &Address) -> String {
    let operation = match address.operation {
        "list" => "read",
        "patch" => "update",
        "form" if address.path.ends_with("new") => "create",
        "form" if address.path.ends_with("edit") => "update",
        "form" => "delete",
        other => other,
    };
    let found = entry
        .permissions
        .iter()
        .find(|it| it.operation == operation);
    found
        .map(|it| format!("Needs {}.", it.permission))
        .unwrap_or_default()
}

pub(super) fn not_modified() -> (String, Answer) {
    let answer = empty("The client has this version.");
    ("304".to_owned(), Answer::Own(answer))
}

/// The answer to a browser that sent a form.
pub(super) fn see_other() -> (String, Answer) {
    let mut answer = empty("A page shows the result: for forms of those who accept HTML.");
    answer
        .headers
        .insert("Location", text_header("The address of the page."));
    ("303".to_owned(), Answer::Own(answer))
}

/// The links to the operations on the entity whose id is at `place` in an answer.
fn links(kind: &Type<'_>, place: &str) -> BTreeMap<String, Link> {
    kind.entry
        .addresses
        .iter()
        .filter(|it| it.place == Place::Entity)
        .map(|it| {
            let operation_id = match it.verb {
                Verb::Post => kind.name("post"),
                _ => kind.name(it.operation),
            };
            let link = Link {
                operation_id: operation_id.clone(),
                parameters: [(ID.to_owned(), place.to_owned())].into(),
            };
            (operation_id, link)
        })
        .collect()
}
