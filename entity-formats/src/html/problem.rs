//! The page of an error: its message, and the remedy.

use askama::Template;
use entity_core::ErrorKind;
use entity_core::engine::OUTCOME_UNKNOWN;
use entity_core::format::{Problem, View};

use super::frame::{Frame, log_in};
use super::words::sentence;

/// An error.
#[derive(Template)]
#[template(path = "problem.html")]
pub(super) struct ProblemPage<'a> {
    frame: Frame<'a>,
    status: u16,
    message: String,
    timestamp: &'a str,
    request_id: &'a str,
    remedy: Option<Remedy>,
}

/// A way out.
struct Remedy {
    before: &'static str,
    link: Option<(String, &'static str)>,
}

impl<'a> ProblemPage<'a> {
    pub(super) fn of(problem: &'a Problem, view: &View<'a>) -> Self {
        Self {
            frame: Frame::new(heading(problem.kind), view),
            status: problem.status,
            message: sentence(&problem.message),
            timestamp: &problem.timestamp,
            request_id: &problem.request_id,
            remedy: remedy(problem, view),
        }
    }
}

fn heading(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::BadRequest | ErrorKind::Unprocessable => "The request is not right",
        ErrorKind::Unauthenticated => "Log in first",
        ErrorKind::Forbidden => "Not allowed",
        ErrorKind::NotFound => "Not found",
        ErrorKind::MethodNotAllowed => "Not possible here",
        ErrorKind::NotAcceptable => "Not in this format",
        ErrorKind::Conflict | ErrorKind::PreconditionFailed => "Changed in the meantime",
        ErrorKind::TooLarge | ErrorKind::UriTooLong => "Too large",
        ErrorKind::RangeNotSatisfiable => "Not that much is there",
        ErrorKind::UnsupportedMediaType => "Not a type that is read here",
        ErrorKind::TooManyRequests => "Too many requests",
        ErrorKind::Unavailable => "Not available now",
        ErrorKind::InsufficientStorage => "A limit is reached",
        ErrorKind::Internal => "Something failed",
    }
}

fn remedy(problem: &Problem, view: &View<'_>) -> Option<Remedy> {
    let text = |before| Some(Remedy { before, link: None });
    if problem.code == Some(OUTCOME_UNKNOWN) {
        return text("Look whether what you sent has arrived, before you send it again.");
    }
    match problem.kind {
        ErrorKind::Unauthenticated => Some(Remedy {
            before: "This is for people with an account.",
            link: Some((log_in(view), "Log in")),
        }),
        ErrorKind::BadRequest | ErrorKind::Unprocessable => {
            text("Go back, correct what was sent, and send it again.")
        }
        ErrorKind::PreconditionFailed | ErrorKind::Conflict => {
            text("Go back, load the page again, and repeat your change.")
        }
        ErrorKind::TooManyRequests | ErrorKind::Unavailable => {
            text("Wait a little, then load this page again.")
        }
        ErrorKind::Internal => text(
            "Try again. If it fails again, send the number of the request below to your support.",
        ),
        _ => None,
    }
}
