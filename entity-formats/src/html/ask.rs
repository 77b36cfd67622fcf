//! The forms of actions, on the pages where they are offered. They are made from what the actions ask for.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::Verb;
use entity_core::format::View;
use entity_core::reply::{Offer, Offered};
use entity_core::schema::Field;
use serde_json::Value;

use super::control::{Chooser, Control, stored};
use super::wall_clock::WallClock;
use super::words::prose;

/// The form of one action.
#[derive(Template)]
#[template(path = "ask.html")]
pub(super) struct Ask<'a> {
    href: String,
    submit: String,
    doc: String,
    csrf_token: Option<&'a str>,
    controls: Vec<Control>,
    chooser: Option<Chooser>,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Ask<'_> {}

impl<'a> Ask<'a> {
    /// The forms of those of the `offers` that ask for something, filled with the fields of the same names in `tree`.
    pub(super) fn all(offers: &[Offer], tree: &Value, view: &View<'a>) -> Vec<Self> {
        let asking = offers.iter().filter(|it| is_asking(it));
        asking
            .map(|it| {
                let control = |field: &Field| {
                    let value = match tree.get(field.name) {
                        Some(value) => stored(field, value),
                        None => Value::from(field.default),
                    };
                    let control = Control::of(field, it.asks, &value, WallClock::UTC, None);
                    let choices = Offered::of(&it.offered, field.name);
                    let control = control.offering(field, choices, &value);
                    control.of_action(it.name)
                };
                Self {
                    href: format!("/direct{}", it.path),
                    submit: it.label.clone(),
                    doc: prose(it.doc, it.asks),
                    csrf_token: view.csrf_token,
                    controls: it.asks.iter().map(control).collect(),
                    chooser: it.files.map(|most| Chooser {
                        id: format!("{}-file", it.name),
                        takes_several: most > 1,
                    }),
                }
            })
            .collect()
    }
}

/// Returns whether the action needs a form.
pub(super) fn is_asking(offer: &Offer) -> bool {
    offer.verb == Verb::Post
        && offer.reason.is_none()
        && (!offer.asks.is_empty() || offer.files.is_some())
}
