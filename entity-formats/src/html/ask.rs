//! The forms of actions, on the pages where they are offered. They are made from the fields of the actions.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::reply::{Offer, Offered, Refusal, Sending};
use entity_core::schema::Field;
use entity_core::{Submit, Verb};
use serde_json::Value;

use super::control::{Chooser, Control, stored};
use super::refusal::{error, sent};
use super::wall_clock::WallClock;

/// The form of one action.
#[derive(Template)]
#[template(path = "ask.html")]
pub(super) struct Ask<'a> {
    href: String,
    /// True if it is what the page is there for, so that it is not folded.
    is_open: bool,
    submit: String,
    submits: &'static [Submit],
    sendings: &'static [Sending],
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
        let own = |it: &Offer| tree.pointer(it.filled_from).cloned().unwrap_or_default();
        asking
            .map(|it| Self {
                href: format!("/direct{}", it.path),
                is_open: it.is_open,
                submit: it.label.clone(),
                submits: it.submits,
                sendings: &[],
                csrf_token: view.csrf_token,
                controls: controls(it, &own(it), None),
                chooser: chooser(it),
            })
            .collect()
    }
}

/// The controls of an action's form: with what was sent if it was refused, else with what is stored in `tree`.
pub(super) fn controls(offer: &Offer, tree: &Value, refusal: Option<&Refusal>) -> Vec<Control> {
    let control = |field: &Field| {
        let value = match (refusal, tree.get(field.name)) {
            (Some(refusal), _) => sent(field, refusal),
            (None, Some(value)) => stored(field, value),
            (None, None) => Value::from(field.default),
        };
        let error = error(field.name, refusal);
        let control = Control::of(field, offer.asks, &value, WallClock::UTC, error);
        let choices = Offered::of(&offer.offered, field.name);
        let control = control
            .offering(field, choices, &value)
            .explained(field, offer.asks)
            .of_action(offer.name);
        // What is only taken away is asked for where there is some.
        let is_sent = refusal.is_some_and(|it| it.sent.contains_key(field.name));
        Some(control).filter(|it| !field.is_for_programs || it.is_group() || is_sent)
    };
    offer.asks.iter().filter_map(control).collect()
}

/// The chooser of files, if the action takes some.
pub(super) fn chooser(offer: &Offer) -> Option<Chooser> {
    offer.files.map(|most| Chooser {
        id: format!("{}-file", offer.name),
        takes_several: most > 1,
    })
}

/// Returns whether the action needs a form.
pub(super) fn is_asking(offer: &Offer) -> bool {
    offer.verb == Verb::Post
        && offer.reason.is_none()
        && (!offer.asks.is_empty() || offer.files.is_some())
}
