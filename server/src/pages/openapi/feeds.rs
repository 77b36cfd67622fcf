//! The operation of a private feed, for the holder of its address.

use entity_core::catalog::LIST_PARAMETERS;
use entity_core::schemars::json_schema;
use entity_core::search::Window;
use entity_core::{Entity as _, ErrorKind, Need, Provider as _, Verb};
use entity_formats::openapi::{Answer, Content, Operation, Parameter, Response, SECRET};

use super::entities::not_modified;
use super::parameters::{if_modified_since, if_none_match, list_parameter, segment};
use super::refusals::Mount;
use super::{Builder, text_header};
use crate::base::mount::FEEDS;
use crate::pages::feed::{Feed, PAGE};

impl Builder<'_> {
    pub(super) fn add_private_feeds(&mut self) {
        let operation = Operation {
            operation_id: "readPrivateFeed".to_owned(),
            tags: vec![Feed::PREFIX.to_owned()],
            summary: "Reads a private feed, as its owner may read it now.".to_owned(),
            description: "Needs nothing but the token, which an owner is told once, with the whole address. \
                What is unknown, revoked, expired, out of the owner's reach or of an account that is shut looks \
                the same."
                .to_owned(),
            parameters: parameters(),
            responses: [
                ("200".to_owned(), Answer::Own(self.private_feed())),
                not_modified(),
            ]
            .into(),
            ..Operation::default()
        };
        // Errors are told as below `/api`: no format of a feed has words for them.
        let path = format!("{FEEDS}/{{token}}/{{name}}");
        self.add(
            (Mount::Api, &path),
            Verb::Get,
            (
                Need::Public,
                &[ErrorKind::NotFound, ErrorKind::TooManyRequests],
            ),
            operation,
        );
    }

    /// The feed, in the formats that feeds are written in.
    fn private_feed(&self) -> Response {
        let formats = self.formats.all();
        let formats = formats.filter(|it| it.is_feed || it.name == PAGE);
        let headers = [
            ("ETag", "The version of the feed."),
            ("Link", "The other parts of the feed."),
        ];
        Response {
            description: "The feed, in the format that the name ends with; a page about it for those who prefer `text/html`.".to_owned(),
            content: formats
                .map(|it| (it.essence().to_owned(), Content::default()))
                .collect(),
            headers: headers
                .map(|(name, meaning)| (name, text_header(meaning)))
                .into(),
            ..Response::default()
        }
    }
}

fn parameters() -> Vec<Parameter> {
    let path = [
        Parameter {
            schema: json_schema!({ "type": "string", "minLength": 1, "format": SECRET }),
            ..segment("token", "The token.")
        },
        segment(
            "name",
            "What the feed is called in its address, with its format, such as `biology-101.atom`.",
        ),
    ];
    let parts = LIST_PARAMETERS
        .iter()
        .filter(|it| Window::is_set_by(it.name))
        .map(|it| list_parameter(Feed::schema(), it));
    path.into_iter()
        .chain(parts)
        .chain([if_none_match(), if_modified_since()])
        .collect()
}
