//! Operations of the service itself below `/direct`: descriptions, and the login.

use entity_core::catalog::{Catalog, TypeEntry};
use entity_core::schemars::json_schema;
use entity_core::shape::{self, Shape};
use entity_core::{ErrorKind, Need, Verb};
use entity_formats::openapi::{Answer, Content, Operation, Parameter, RequestBody};

use super::entities::AT_FORM;
use super::forms::page;
use super::parameters::segment;
use super::refusals::Mount;
use super::{Builder, empty, text_header};
use crate::base::media;
use crate::guard::auth::schema::{credentials, credentials_example};
use crate::web::session_post;

/// The group of the descriptions.
const TAG: &str = "description";
/// The type that stands for logins.
const SESSION: &str = "session";

impl Builder<'_> {
    pub(super) fn add_own(&mut self) {
        self.add_tag(TAG, None, "What is here, for people and for programs.");
        self.add_description(
            ("/direct/describe", "describeAll"),
            "Describes all types of entities.",
            (Vec::new(), shape::of::<Catalog>),
        );
        self.add_description(
            ("/direct/{prefix}/describe", "describeType"),
            "Describes one type of entities.",
            (
                vec![segment("prefix", "The prefix of the type.")],
                shape::of::<TypeEntry>,
            ),
        );
        self.add_login_form();
        self.add_login();
        self.add_batches();
    }

    fn add_description(
        &mut self,
        (path, id): (&str, &str),
        summary: &str,
        (parameters, shape): (Vec<Parameter>, Shape),
    ) {
        let formats = self.formats_of_data();
        let response = self.response("The description.", &formats, shape);
        let need = match self.config.describe_public {
            true => Need::Public,
            false => Need::Session,
        };
        let refusals: &[ErrorKind] = match parameters.is_empty() {
            true => &[],
            false => &[ErrorKind::NotFound],
        };
        let operation = Operation {
            operation_id: id.to_owned(),
            tags: vec![TAG.to_owned()],
            summary: summary.to_owned(),
            parameters,
            responses: [
                ("200".to_owned(), Answer::Own(response)),
                super::entities::not_modified(),
            ]
            .into(),
            ..Operation::default()
        };
        self.add(
            (Mount::Direct, path),
            Verb::Get,
            (need, refusals),
            operation,
        );
    }

    fn add_login_form(&mut self) {
        let operation = Operation {
            operation_id: "formToLogIn".to_owned(),
            tags: vec![SESSION.to_owned()],
            summary: "Shows a form that logs in.".to_owned(),
            responses: [("200".to_owned(), page("The form."))].into(),
            ..Operation::default()
        };
        let at = (Mount::Direct, "/direct/session/new");
        self.add(at, Verb::Get, (Need::Public, &[]), operation);
    }

    fn add_login(&mut self) {
        let content = |example| Content {
            schema: Some(credentials(session_post::NAMES)),
            example: Some(example),
        };
        let example = credentials_example(session_post::NAMES);
        let mut created = empty("The session has begun; its id as text.");
        created.content.insert(
            "text/plain".to_owned(),
            Content {
                schema: Some(json_schema!({ "type": "string" })),
                example: None,
            },
        );
        created.headers.extend([
            ("Set-Cookie", text_header("The cookie of the session.")),
            ("Location", text_header("The address of the session.")),
            ("EntityId", text_header("The id of the session.")),
        ]);
        let operation = Operation {
            operation_id: "logInForSession".to_owned(),
            tags: vec![SESSION.to_owned()],
            summary: "Logs in and sets the session cookie.".to_owned(),
            request_body: Some(RequestBody {
                description: "User name and password; in the query if there is no body.".to_owned(),
                required: false,
                content: [media::JSON, media::FORM]
                    .map(|it| (it.to_owned(), content(example.clone())))
                    .into(),
            }),
            responses: [
                ("201".to_owned(), Answer::Own(created)),
                super::entities::see_other(),
            ]
            .into(),
            ..Operation::default()
        };
        let refusals = &[ErrorKind::TooManyRequests];
        let at_form = Operation {
            operation_id: format!("{}{AT_FORM}", operation.operation_id),
            ..operation.clone()
        };
        for (path, operation) in [
            ("/direct/session", operation),
            ("/direct/session/new", at_form),
        ] {
            let at = (Mount::Direct, path);
            self.add(at, Verb::Post, (Need::Public, refusals), operation);
        }
    }
}
