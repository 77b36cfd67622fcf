//! The page of data that is no entity.

use askama::Template;
use entity_core::engine::ActionRoute;
use entity_core::format::View;
use entity_core::primitives::label;
use serde_json::Value;

use super::ask::Ask;
use super::clock::Clock;
use super::frame::Frame;
use super::shown::Shown;

/// Data.
#[derive(Template)]
#[template(path = "value.html")]
pub(super) struct ValuePage<'a> {
    frame: Frame<'a>,
    data: Shown<'a>,
    asks: Vec<Ask<'a>>,
}

impl<'a> ValuePage<'a> {
    /// The page of the data `tree`, which is called `name`.
    pub(super) fn of(name: &str, tree: &'a Value, view: &View<'a>) -> Self {
        Self {
            frame: frame(name, view).with_data(view),
            data: Shown::of(tree, Clock::of(view)),
            asks: Ask::all(&view.allowed_actions.actions, &Value::Null, view),
        }
    }
}

/// The frame of what the action `name` answers, below the page of its type.
fn frame<'a>(name: &str, view: &View<'a>) -> Frame<'a> {
    let prefix = view.path.split('/').nth(1).unwrap_or_default();
    let Some(route) = view.registry.route(prefix) else {
        return Frame::new(label(name), view);
    };
    let action = route.actions.iter().find(|it| it.name == name);
    let title = action.map_or_else(|| label(name), ActionRoute::label);
    let site = view.allowed_actions.site.as_deref();
    Frame::new(title, view).below_list(route.prefix, site, view)
}
