//! The description of the whole service as an OpenAPI document, made from the registered types and endpoints.
//!
//! Nothing here is a list of its own: the operations come from the dispatcher, the formats from the renderers, the
//! fields from the schema.

mod actions;
mod batch;
mod bodies;
mod endpoints;
mod entities;
mod feeds;
mod forms;
mod own;
mod parameters;
mod refusals;
mod schema;

use std::collections::BTreeMap;

use entity_core::format::Formats;
use entity_core::schemars::SchemaGenerator;
use entity_core::{Error, ErrorKind, Need, Registry, Result, Verb, shape};
use entity_formats::openapi::{
    Answer, Content, Document, Header, Info, Operation, Response, SecurityScheme, Server, Tag,
};

use crate::base::config::{Config, CsrfMode};
use crate::guard::csrf;
use crate::web::api::Endpoints;
use crate::web::app::App;

use refusals::Mount;

/// The security scheme of the session cookie, which every browser has.
const SESSION: &str = "session";
/// The security scheme of the CSRF token, which unsafe requests must send.
const TOKEN: &str = "csrfToken";
/// HTTP Basic, where it was switched on.
const BASIC: &str = "basic";
/// The path of the shapes of data in the document.
const SCHEMAS: &str = "/components/schemas";
/// The version of OpenAPI that is written.
const VERSION: &str = "3.1.0";

/// The introduction before the operations.
const ABOUT: &str = "\
Everything under `/direct` is an entity with a type, the first segment of its path. What the types have in common:\n\n\
- **Formats.** Add an extension such as `.json` or `.xml` to a path, or send `Accept`. JSON is the default.\n\
- **Versions.** Entities have an `ETag`. Send it as `If-None-Match` to read only what changed, \
and as `If-Match` to write only what did not.\n\
- **Errors.** An error is an object `error` with `status`, `message`, `timestamp` and `requestId`, and with `fields` \
if fields of the input were refused; `Accept: application/problem+json` gets the same after RFC 9457.\n\
- **HEAD** is GET without the body, and **OPTIONS** tells what a path takes.\n";

impl App {
    /// Returns the OpenAPI document of the service. It is made when it is first asked for, which a service does before
    /// it listens.
    ///
    /// # Errors
    /// Two operations have the same name.
    pub fn description(&self) -> Result<&Document> {
        if let Some(made) = self.description.get() {
            return Ok(made);
        }
        let (registry, endpoints) = (self.dispatcher.registry(), &self.endpoints);
        let made = describe(registry, endpoints, &self.formats, &self.config);
        let checked = endpoints.check_beside(registry, &made);
        checked.map_err(Error::internal)?;
        Ok(self.description.get_or_init(|| made))
    }
}

/// Describes a service with these types, endpoints, formats and settings.
pub fn describe(
    registry: &Registry,
    endpoints: &Endpoints,
    formats: &Formats,
    config: &Config,
) -> Document {
    let mut builder = Builder::new(registry, formats, config);
    for endpoint in endpoints.iter() {
        builder.add_endpoint(endpoint);
    }
    builder.add_own();
    builder.add_private_feeds();
    for route in registry.routes() {
        builder.add_type(route);
    }
    builder.finish()
}

/// The document while it is made.
struct Builder<'a> {
    document: Document,
    generator: SchemaGenerator,
    formats: &'a Formats,
    registry: &'a Registry,
    config: &'a Config,
}

impl<'a> Builder<'a> {
    fn new(registry: &'a Registry, formats: &'a Formats, config: &'a Config) -> Self {
        let mut builder = Self {
            document: Document {
                openapi: VERSION,
                info: Info {
                    title: "Lectern".to_owned(),
                    version: env!("CARGO_PKG_VERSION").to_owned(),
                    description: ABOUT.to_owned(),
                },
                servers: vec![Server {
                    url: config.server_url(),
                }],
                ..Document::default()
            },
            generator: shape::generator(SCHEMAS),
            formats,
            registry,
            config,
        };
        builder.add_security();
        builder.add_refusals();
        builder
    }

    fn finish(mut self) -> Document {
        let schemas = &mut self.document.components.schemas;
        for (name, schema) in self.generator.take_definitions(true) {
            schemas.insert(name, schema);
        }
        schemas.sort_keys();
        self.document
    }

    fn add_security(&mut self) {
        let schemes = &mut self.document.components.security_schemes;
        schemes.insert(
            SESSION,
            SecurityScheme::ApiKey {
                description: "The cookie that a login sets.",
                name: self.config.session.cookie_name.clone(),
                location: "cookie",
            },
        );
        if self.config.csrf.mode == CsrfMode::Token {
            schemes.insert(
                TOKEN,
                SecurityScheme::ApiKey {
                    description: "The token that a login and `/direct/session/current` tell.",
                    name: csrf::TOKEN_HEADER.as_str().to_owned(),
                    location: "header",
                },
            );
        }
        if self.config.auth.basic {
            schemes.insert(
                BASIC,
                SecurityScheme::Http {
                    description: "User name and password in every request, over TLS.",
                    scheme: "basic",
                },
            );
        }
    }

    fn add_tag(&mut self, name: &str, title: Option<String>, description: &str) {
        if self.document.tags.iter().all(|it| it.name != name) {
            self.document.tags.push(Tag {
                name: name.to_owned(),
                title,
                description: description.to_owned(),
            });
        }
    }

    /// Adds `operation`, of which `refusals` and the ones that everything has can be the answer.
    fn add(
        &mut self,
        (mount, path): (Mount, &str),
        verb: Verb,
        (need, refusals): (Need, &[ErrorKind]),
        mut operation: Operation,
    ) {
        operation.security = self.security(need, verb);
        tell_what_was_done(&mut operation);
        let kinds = refusals::of(mount, verb, need, self.config)
            .into_iter()
            .chain(refusals.iter().copied());
        let (status, answer) = refusals::overlong();
        operation.responses.insert(status, answer);
        for kind in kinds {
            let (status, answer) = refusals::answer(mount, kind);
            operation.responses.entry(status).or_insert(answer);
        }
        self.document.add(path, method(verb), operation);
    }

    /// The security requirements of a request, each alternative by itself.
    fn security(&self, need: Need, verb: Verb) -> Vec<BTreeMap<&'static str, Vec<String>>> {
        let mut session = BTreeMap::from([(SESSION, Vec::new())]);
        if self.config.csrf.mode == CsrfMode::Token && !verb.is_safe() {
            session.insert(TOKEN, Vec::new());
        }
        let nothing = need.is_public().then(BTreeMap::new);
        let basic = self
            .config
            .auth
            .basic
            .then(|| BTreeMap::from([(BASIC, Vec::new())]));
        nothing.into_iter().chain([session]).chain(basic).collect()
    }

    /// An answer with data in `formats`; JSON alone has a schema.
    fn response(
        &mut self,
        description: &str,
        formats: &[&str],
        shape: impl FnOnce(&mut SchemaGenerator) -> entity_core::schemars::Schema,
    ) -> Response {
        let mut schema = Some(shape(&mut self.generator));
        let content = formats
            .iter()
            .filter_map(|it| Some(self.formats.renderer(it)?.format()))
            .map(|format| {
                let schema = (format.name == "json").then(|| schema.take()).flatten();
                let content = Content {
                    schema,
                    example: None,
                };
                (format.essence().to_owned(), content)
            })
            .collect();
        Response {
            description: description.to_owned(),
            content,
            ..Response::default()
        }
    }
}

/// Adds the headers of answers about an applied preference and a replay.
fn tell_what_was_done(operation: &mut Operation) {
    for (parameter, name, description) in [
        (
            parameters::PREFER,
            "Preference-Applied",
            "What of `Prefer` was heeded.",
        ),
        (
            parameters::IDEMPOTENCY_KEY,
            "Idempotency-Replayed",
            "`true` if this is the answer to an earlier request.",
        ),
    ] {
        if operation.parameters.iter().all(|it| it.name != parameter) {
            continue;
        }
        for answer in operation.responses.values_mut() {
            if let Answer::Own(response) = answer {
                response.headers.insert(name, text_header(description));
            }
        }
    }
}

/// The method of `verb` as OpenAPI writes it.
fn method(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "get",
        Verb::Post => "post",
        Verb::Put => "put",
        Verb::Patch => "patch",
        Verb::Delete => "delete",
    }
}

/// A field of an answer's header that is text.
fn text_header(description: &str) -> Header {
    Header {
        description: description.to_owned(),
        schema: entity_core::schemars::json_schema!({ "type": "string" }),
    }
}

/// Bytes of one of these media types.
fn bytes(types: &[&str]) -> Response {
    let content = |it: &&str| ((*it).to_owned(), Content::default());
    Response {
        content: types.iter().map(content).collect(),
        ..empty("The bytes.")
    }
}

/// An answer without a body.
fn empty(description: &str) -> Response {
    Response {
        description: description.to_owned(),
        ..Response::default()
    }
}
