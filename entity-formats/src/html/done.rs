//! The page of an answer that says nothing but that all is well.

use askama::Template;
use entity_core::format::View;
use entity_core::primitives::label;

use super::frame::Frame;

/// Nothing to show.
#[derive(Template)]
#[template(path = "done.html")]
pub(super) struct DonePage<'a> {
    frame: Frame<'a>,
}

impl<'a> DonePage<'a> {
    /// The page of an answer without data.
    pub(super) fn of(view: &View<'a>) -> Self {
        let mut words = view.path.split('/').skip(1);
        let prefix = words.next().unwrap_or_default();
        let name = words.last().unwrap_or(prefix);
        Self {
            frame: Frame::new(label(name), view).below_type(prefix),
        }
    }
}
