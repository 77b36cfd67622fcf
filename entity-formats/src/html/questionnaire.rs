//! The page of a form whose questions are data.

use askama::Template;
use entity_core::format::View;
use entity_core::reply::{Prompt, Questionnaire};

use super::frame::Frame;
use super::shown::Shown;

/// A form that is filled in and sent.
#[derive(Template)]
#[template(path = "questionnaire.html")]
pub(super) struct QuestionnairePage<'a> {
    frame: Frame<'a>,
    ends_on: Option<Shown<'a>>,
    prompts: &'a [Prompt],
    /// The path of each way to send it, with the label of its button.
    sendings: Vec<(&'a str, &'a str)>,
}

impl<'a> QuestionnairePage<'a> {
    /// The page of `questionnaire`, which belongs to the entity whose action answered it.
    pub(super) fn of(questionnaire: &'a Questionnaire, view: &View<'a>) -> Self {
        let mut frame = Frame::new(questionnaire.title.as_str(), view).with_data(view);
        if let Some((prefix, entity)) = owner(view.path) {
            frame = frame
                .below_type(prefix)
                .below_entity(entity, questionnaire.title.clone());
        }
        Self {
            frame,
            ends_on: questionnaire.ends_on.map(Shown::of_instant),
            prompts: &questionnaire.prompts,
            sendings: questionnaire
                .sendings
                .iter()
                .map(|it| (it.path.as_str(), it.label.as_str()))
                .collect(),
        }
    }
}

/// The type, and the path of the entity, to which the action at `path` belongs: `/poll/7/ballot` is one of
/// `/poll/7`.
fn owner(path: &str) -> Option<(&str, &str)> {
    let (entity, _action) = path.rsplit_once('/')?;
    let (prefix, _id) = entity.strip_prefix('/')?.split_once('/')?;
    Some((prefix, entity))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_of_an_entity_is_below_its_page() {
        assert_eq!(owner("/poll/7/ballot"), Some(("poll", "/poll/7")));
        assert_eq!(owner("/poll/ballot"), None);
    }
}
