//! The words of an action for people: its label, and the message when it is done.

/// The words that people read of an action.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words {
    /// The label, if it is not made from the name.
    pub(crate) label: Option<&'static str>,
    /// The sentence that a page says when the action is done, if it is not made from the label.
    pub(crate) done: Option<&'static str>,
    /// The buttons of the form, if it has several.
    pub(crate) submits: &'static [Submit],
    /// The JSON pointer to the part of the entity with which the form is filled.
    pub(crate) filled_from: &'static str,
    /// True if pages show the form open.
    pub(crate) is_open: bool,
    /// The list or the field in whose place the page shows the form that the action answers.
    pub(crate) in_place_of: Option<&'static str>,
}

/// One of several buttons of the form of an action. The button sends a field of its own.
#[derive(Debug, PartialEq, Eq)]
pub struct Submit {
    /// The name and the value of the field.
    pub field: (&'static str, &'static str),
    /// The label of the button.
    pub label: &'static str,
    /// The sentence that a page says when the action is done by this button; see [`Action::done`](super::Action::done).
    pub done: &'static str,
}
