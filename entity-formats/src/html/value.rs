//! The page of data that is no entity.

use askama::Template;
use entity_core::format::View;
use serde_json::Value;

use super::frame::Frame;
use super::label;
use super::shown::Shown;

/// Data.
#[derive(Template)]
#[template(path = "value.html")]
pub(super) struct ValuePage<'a> {
    frame: Frame<'a>,
    data: Shown<'a>,
}

impl<'a> ValuePage<'a> {
    /// The page of the data `tree`, which is called `name`.
    pub(super) fn of(name: &str, tree: &'a Value, view: &View<'a>) -> Self {
        Self {
            frame: Frame::new(label(name), view).with_data(view),
            data: Shown::of(tree),
        }
    }
}
