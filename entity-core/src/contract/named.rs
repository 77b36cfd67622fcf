//! The names that people read of a type and of its actions.

use super::action::{Action, Submit};
use super::provider::Provider;
use super::registry::{ActionRoute, Route};
use crate::primitives::label::{label, plural};

impl<P: Provider> Action<P> {
    /// Sets the label of the action, such as `Hand in`. Without it, the label is made from the name.
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

    /// Gives the form of the action several buttons in place of one with its label.
    #[must_use]
    pub fn submits(mut self, submits: &'static [Submit]) -> Self {
        self.words.submits = submits;
        self
    }

    /// Fills the form of the action with the part of the entity to which the JSON pointer leads, such as `/submissions/0`,
    /// and not with the entity itself.
    #[must_use]
    pub fn filled_from(mut self, pointer: &'static str) -> Self {
        self.words.filled_from = pointer;
        self
    }

    /// Shows the form of the action open, because the page is there for it.
    #[must_use]
    pub fn open(mut self) -> Self {
        self.words.is_open = true;
        self
    }

    /// Shows the form that the action answers on the page that offers it, in the place of the list of the type with the prefix
    /// `what` or of the field with this name.
    #[must_use]
    pub fn in_place_of(mut self, what: &'static str) -> Self {
        self.words.in_place_of = Some(what);
        self
    }
}

impl ActionRoute {
    /// Returns the label of the action.
    pub fn label(&self) -> String {
        self.words
            .label
            .map_or_else(|| label(self.name), ToOwned::to_owned)
    }

    /// Returns the sentence that a page says to whoever has run the action: `{}` in it stands for a title.
    pub fn done(&self) -> String {
        let made = || format!("Done: {}.", self.label());
        self.words.done.map_or_else(made, ToOwned::to_owned)
    }

    /// Returns the buttons of the action's form, if it has several.
    pub fn submits(&self) -> &'static [Submit] {
        self.words.submits
    }
}

impl Route {
    /// Returns the plural name of the type: the heading of its list.
    pub fn plural(&self) -> String {
        match self.plural {
            Some(said) => said.to_owned(),
            None => plural(self.prefix),
        }
    }

    /// Returns the name of one entity of the type.
    pub fn singular(&self) -> String {
        match self.singular {
            Some(said) => said.to_owned(),
            None => label(self.prefix),
        }
    }

    /// Returns what people call that which is their own of the type, and its path below the prefix, if the type declares
    /// that callers have some: one entity, or the list.
    pub fn own(&self) -> Option<(String, &'static str)> {
        let path = self.own?;
        let label = match path {
            "" => self.plural(),
            _ => self.singular(),
        };
        Some((label, path))
    }
}
