//! The words of an action: what people call it, and what they are told when it is done.

/// The words that people read of an action.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words {
    /// The label, if it is not made from the name.
    pub(crate) label: Option<&'static str>,
    /// The sentence that a page says when the action is done, if it is not made from the label.
    pub(crate) done: Option<&'static str>,
}
