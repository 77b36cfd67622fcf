//! The words of an action: what people call it, and what they are told when it is done.

use super::Action;
use crate::contract::provider::Provider;

/// The words that people read of an action.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Words {
    /// The label, if it is not made from the name.
    pub(crate) label: Option<&'static str>,
    /// The sentence that a page says when the action is done, if it is not made from the label.
    pub(crate) done: Option<&'static str>,
}

impl<P: Provider> Action<P> {
    /// Sets what pages call the action, such as `Hand in`. Without it, the label is made from the name.
    #[must_use]
    pub fn label(mut self, label: &'static str) -> Self {
        self.words.label = Some(label);
        self
    }

    /// Sets the sentence that a page says to whoever has run the action by a form, such as `You have joined {}.`, where
    /// `{}` stands for the title of the entity that the page shows. Without it, the sentence is made from the label.
    #[must_use]
    pub fn done(mut self, sentence: &'static str) -> Self {
        self.words.done = Some(sentence);
        self
    }
}
