//! The actions of a type: one operation for each number of further segments that an action takes.

use entity_core::action::Argument;
use entity_core::engine::ActionRoute;
use entity_core::{Answers, ErrorKind, Need, Verb};
use entity_formats::openapi::{Answer, Operation, Parameter, Response};

use super::bodies;
use super::entities::{Type, capital, entity_parameters, not_modified, see_other};
use super::parameters::{id, idempotency_key, if_none_match, prefer, segment, text_parameter};
use super::refusals::Mount;
use super::schema::Purpose;
use super::{Builder, bytes, empty};

impl Builder<'_> {
    pub(super) fn add_action(&mut self, kind: &Type<'_>, action: &ActionRoute) {
        for count in action.segments() {
            let arguments = action.arguments.get(..count).unwrap_or(&action.arguments);
            let operation = self.action(kind, action, arguments);
            self.add(
                (Mount::Direct, &path(kind, action, arguments)),
                action.verb,
                (action.need.unwrap_or(Need::Superuser), refusals(action)),
                operation,
            );
        }
    }

    fn action(
        &mut self,
        kind: &Type<'_>,
        action: &ActionRoute,
        arguments: &[Argument],
    ) -> Operation {
        let entry = kind.entry.actions.iter().find(|it| {
            (it.name, it.method) == (action.name, action.verb.name())
                && (it.target == "entity") == action.is_on_entity
        });
        let permission = entry.map(|it| format!("Needs {}.", it.permission));
        let is_read = action.verb.is_safe();
        let has_version = !matches!(action.answers, Answers::Nothing | Answers::Done);
        let mut parameters: Vec<Parameter> = action
            .is_on_entity
            .then(id)
            .into_iter()
            .chain(arguments.iter().map(|it| segment(it.name, it.doc)))
            .chain(action.parameters.iter().map(text_parameter))
            .chain(conditions(kind, action))
            .collect();
        for parameter in self.searched(kind, action) {
            // What the path says the query need not say again.
            if parameters.iter().all(|it| it.name != parameter.name) {
                parameters.push(parameter);
            }
        }
        let answers = self.answers(kind, action.answers);
        let redirection = match is_read {
            true => has_version.then(not_modified),
            false => Some(see_other()),
        };
        Operation {
            operation_id: operation_id(kind, action, arguments.len()),
            tags: vec![kind.prefix().to_owned()],
            summary: action.doc.to_owned(),
            description: permission.unwrap_or_default(),
            parameters,
            request_body: action.takes_whole_files().then(bodies::files),
            responses: answers
                .into_iter()
                .map(|(status, answer)| (status.to_owned(), Answer::Own(answer)))
                .chain(redirection)
                .collect(),
            ..Operation::default()
        }
    }

    /// The query parameters of a list, for an action that takes them too.
    fn searched(&mut self, kind: &Type<'_>, action: &ActionRoute) -> Vec<Parameter> {
        let other = match action.answers {
            Answers::CollectionOf(other) => self.registry.route(other),
            _ => None,
        };
        match other {
            Some(other) => self.list_parameters(&Type::of(other, self.formats)),
            None if action.is_searched() => self.list_parameters(kind),
            None => Vec::new(),
        }
    }

    fn answers(&mut self, kind: &Type<'_>, answers: Answers) -> Vec<(&'static str, Response)> {
        let entity = kind.entry.formats.entity.clone();
        match answers {
            Answers::Unsaid => vec![
                ("200", self.any()),
                ("201", self.any()),
                ("204", empty("It is done.")),
            ],
            Answers::Nothing => vec![("204", empty("It is so, or it is done."))],
            Answers::Done => vec![("200", empty("It is so, or it is done."))],
            Answers::Entity => {
                let response = self.entity_response(("The entity.", Purpose::Part), kind, &entity);
                vec![("200", response)]
            }
            Answers::EntityOf(other) => {
                let other = self.registry.route(other);
                let response = match other.map(|it| Type::of(it, self.formats)) {
                    Some(other) => {
                        let formats = other.entry.formats.entity.clone();
                        let part = ("The entity.", Purpose::Part);
                        self.entity_response(part, &other, &formats)
                    }
                    None => self.any(),
                };
                vec![("200", response)]
            }
            Answers::Created => vec![("201", self.created_response(kind, &entity))],
            Answers::Collection => {
                let formats = kind.entry.formats.list.clone();
                vec![("200", self.list_response(kind, &formats))]
            }
            Answers::CollectionOf(other) => {
                let other = self
                    .registry
                    .route(other)
                    .map(|it| Type::of(it, self.formats));
                let response = match other {
                    Some(other) => {
                        let formats = other.entry.formats.list.clone();
                        self.list_response(&other, &formats)
                    }
                    None => self.any(),
                };
                vec![("200", response)]
            }
            Answers::Bytes(types) => vec![("200", bytes(types))],
            Answers::Value(shape) => {
                let formats = self.formats_of_data();
                vec![("200", self.response("The data.", &formats, shape))]
            }
        }
    }

    /// Data of which nothing is known.
    fn any(&mut self) -> Response {
        let formats = self.formats_of_data();
        self.response("What the summary says.", &formats, |_| true.into())
    }

    /// The formats that data are written in which are no entities.
    pub(super) fn formats_of_data(&self) -> Vec<&'static str> {
        let sample = entity_core::reply::Value::sample();
        self.formats
            .offered(&entity_core::reply::Body::Value(sample))
    }
}

/// The headers of conditions and preferences that a request may have.
fn conditions(kind: &Type<'_>, action: &ActionRoute) -> Vec<Parameter> {
    match (action.verb, action.answers) {
        (Verb::Get, Answers::Nothing | Answers::Done) => Vec::new(),
        (Verb::Get, Answers::Entity) => entity_parameters(kind).collect(),
        (Verb::Get, _) => vec![if_none_match()],
        (Verb::Post, _) => vec![prefer(), idempotency_key()],
        _ => vec![prefer()],
    }
}

fn path(kind: &Type<'_>, action: &ActionRoute, arguments: &[Argument]) -> String {
    let id = if action.is_on_entity { "/{id}" } else { "" };
    let mut behind = format!("{id}/{}", action.name);
    for argument in arguments {
        behind = format!("{behind}/{{{}}}", argument.name);
    }
    kind.path(&behind)
}

/// `getSitePages` on one entity; `getAnyUserCurrent` on the type; `With1` if the action also goes without.
fn operation_id(kind: &Type<'_>, action: &ActionRoute, count: usize) -> String {
    let any = if action.is_on_entity { "" } else { "Any" };
    let counts = action.segments();
    let with = match counts.start() == counts.end() {
        true => String::new(),
        false => format!("With{count}"),
    };
    format!(
        "{}{any}{}{}{with}",
        super::method(action.verb),
        capital(kind.prefix()),
        capital(action.name)
    )
}

/// The errors of `action` besides those that all operations have in common.
fn refusals(action: &ActionRoute) -> &'static [ErrorKind] {
    let is_about_something =
        action.is_on_entity || !action.arguments.is_empty() || !action.parameters.is_empty();
    match (action.verb.is_safe(), is_about_something) {
        // The query of a list can name a site, also where anybody may ask.
        (true, _) if action.is_searched() => &[ErrorKind::NotFound, ErrorKind::Forbidden],
        (true, false) => &[],
        (true, true) => &[ErrorKind::NotFound],
        (false, _) => &[
            ErrorKind::NotFound,
            ErrorKind::Conflict,
            ErrorKind::PreconditionFailed,
        ],
    }
}
