//! The pages with forms: those on which an entity is created, changed and deleted, made from the schema, questionnaires, and
//! forms of actions that are given back.

use askama::Template;
use entity_core::engine::Route;
use entity_core::format::View;
use entity_core::recurrence::Tz;
use entity_core::reply::{ActionForm, Form, FormPurpose, Item, Questionnaire, Refusal, Sending};
use entity_core::schema::{Field, Schema};
use entity_core::{Reference, Submit, Version};
use serde_json::Value;

use super::ask;
use super::control::{Chooser, Control, stored};
use super::entity::title;
use super::frame::Frame;
use super::query::Query;
use super::refusal::{Complaint, error, of_program, sent};
use super::sheet::Sheet;
use super::shown::Shown;
use super::wall_clock::WallClock;

/// A form.
#[derive(Template)]
#[template(path = "form.html")]
pub(super) struct FormPage<'a> {
    frame: Frame<'a>,
    /// The zone by whose clock the form is filled in.
    zone: Option<&'static str>,
    action: String,
    method: Option<&'static str>,
    version: Option<Version>,
    complaint: Option<Complaint>,
    controls: Vec<Control>,
    chooser: Option<Chooser>,
    /// The whole form, if it is a table.
    sheet: Option<Sheet<'a>>,
    /// The only button, unless there are others.
    submit: String,
    submits: &'static [Submit],
    sendings: &'a [Sending],
    /// The instant until which it can be sent, if there is one.
    ends_on: Option<Shown<'a>>,
}

/// A question whether an entity is to be deleted.
#[derive(Template)]
#[template(path = "delete.html")]
pub(super) struct DeletePage<'a> {
    frame: Frame<'a>,
    entity: String,
    /// The label of the button that deletes it.
    removal: &'static str,
    action: String,
    version: Option<Version>,
    is_outdated: bool,
}

impl<'a> FormPage<'a> {
    /// The page of `form`, filled with the fields in `tree` if it is about an entity.
    pub(super) fn of(form: &Form, tree: &Value, view: &View<'a>) -> Self {
        let is_new = form.purpose != FormPurpose::Update;
        let fields = form.schema.writable(is_new);
        let fields: Vec<_> = fields
            .filter(|it| !form.left_out.contains(&it.name))
            .filter(|it| !it.is_for_programs || it.is_required)
            .collect();
        let reference = match &form.item {
            Some(item) if !is_new => item.reference(),
            _ => Reference::collection(form.prefix),
        };
        let path = match form.item.is_none() && !is_new {
            // What the form changes is known to its address only.
            true => view.path.to_owned(),
            false => reference.path(),
        };
        let refusal = form.refusal.as_ref();
        let route = view.registry.route(form.prefix);
        let takes_files = route.is_some_and(Route::receives_in_forms);
        let prefilled = Query::of(view);
        let control = |field: &&Field| {
            let value = value(field, refusal, tree, &prefilled);
            let clock = WallClock::of(
                form.schema,
                field,
                tree.as_object(),
                view.allowed_actions.zone,
            );
            let error = error(field.name, refusal);
            let control = Control::of(field, form.schema.fields, &value, clock, error);
            let control = control.offering(field, form.offered(field.name), &value);
            let own = || stored(field, tree.get(field.name).unwrap_or(&Value::Null));
            match form.is_outdated() {
                true => control.beside(field, &own(), clock),
                false => control,
            }
        };
        let controls: Vec<_> = fields.iter().map(control).collect();
        let mut frame = frame(form, view);
        frame.state = refusal.map(|_| match form.is_outdated() {
            true => "Changed in the meantime",
            false => "Not accepted",
        });
        let complaint = refusal.map(|it| match form.is_outdated() {
            true => Complaint::of_outdated(&reference),
            false => Complaint::of(it, controls.iter()),
        });
        Self {
            zone: view.allowed_actions.zone.map(Tz::name),
            action: format!("/direct{path}"),
            method: (!is_new).then_some("PUT"),
            version: form.version(),
            chooser: takes_files.then(|| Chooser {
                id: "file".to_owned(),
                takes_several: false,
            }),
            submit: match form.purpose {
                FormPurpose::Create => "Create",
                FormPurpose::Update => "Save",
                FormPurpose::Delete => "Delete",
                FormPurpose::LogIn => "Log in",
            }
            .to_owned(),
            ..Self::with(frame, complaint, controls)
        }
    }

    fn with(frame: Frame<'a>, complaint: Option<Complaint>, controls: Vec<Control>) -> Self {
        Self {
            frame,
            zone: None,
            action: String::new(),
            method: None,
            version: None,
            complaint,
            controls,
            chooser: None,
            sheet: None,
            submit: String::new(),
            submits: &[],
            sendings: &[],
            ends_on: None,
        }
    }

    /// The page of `questionnaire`, which belongs to the entity whose action answered it: with what was sent, if that was
    /// refused.
    pub(super) fn of_questionnaire(
        questionnaire: &'a Questionnaire,
        refusal: Option<&Refusal>,
        frame: Frame<'a>,
        view: &View<'a>,
    ) -> Self {
        if let Some(sheet) = Sheet::of(questionnaire, refusal, view) {
            let complaint = refusal.map(|it| Complaint::of(it, sheet.asked()));
            return Self {
                sheet: Some(sheet),
                ..Self::with(frame.wide(), complaint, Vec::new())
            };
        }
        let prompts = (1..).zip(&questionnaire.prompts);
        let controls: Vec<_> = prompts
            .map(|(number, it)| Control::of_prompt(it, number, refusal))
            .collect();
        Self {
            sendings: &questionnaire.sendings,
            ends_on: questionnaire
                .ends_on
                .map(|it| Shown::of_instant(it, frame.clock)),
            ..Self::with(
                frame,
                refusal.map(|it| Complaint::of(it, controls.iter())),
                controls,
            )
        }
    }

    /// The page of the form of an action, given back.
    pub(super) fn of_action(form: &'a ActionForm, view: &View<'a>) -> Self {
        let (offer, refusal) = (&form.offer, Some(&form.refusal));
        let mut frame = Frame::new(offer.label.as_str(), view).below_type(form.prefix);
        if let Some(item) = &form.about {
            frame = frame.below_entity(&item.reference().path(), title(item, view));
        }
        frame.state = Some("Not accepted");
        if let Some(questionnaire) = &form.questionnaire {
            return Self::of_questionnaire(questionnaire, refusal, frame, view);
        }
        let controls = match offer.asks.is_empty() {
            true => Control::of_sent(&form.refusal),
            false => ask::controls(offer, &Value::Null, refusal),
        };
        Self {
            action: format!("/direct{}", offer.path),
            method: Some("POST"),
            chooser: ask::chooser(offer),
            submit: offer.label.clone(),
            submits: offer.submits,
            ..Self::with(
                frame,
                refusal.map(|it| Complaint::of(it, controls.iter())),
                controls,
            )
        }
    }
}

/// The frame of the page of `questionnaire`, which the address answers.
pub(super) fn frame_of<'a>(questionnaire: &'a Questionnaire, view: &View<'a>) -> Frame<'a> {
    let frame = Frame::new(questionnaire.title.as_str(), view).with_data(view);
    match owner(view.path) {
        Some((prefix, action)) if is_of_type(prefix, action, view) => {
            frame.below_list(prefix, view.allowed_actions.site.as_deref(), view)
        }
        Some((prefix, entity)) => frame
            .below_type(prefix)
            .below_entity(entity, questionnaire.title.clone()),
        None => frame,
    }
}

/// The type, and the path of the entity, to which the action at `path` belongs: `/poll/7/ballot` is one of
/// `/poll/7`.
fn owner(path: &str) -> Option<(&str, &str)> {
    let (entity, _action) = path.rsplit_once('/')?;
    let (prefix, _id) = entity.strip_prefix('/')?.split_once('/')?;
    Some((prefix, entity))
}

/// Returns whether `action` is the path of an action of the type, and not that of an entity.
fn is_of_type(prefix: &str, action: &str, view: &View<'_>) -> bool {
    let name = action.split('/').nth(2);
    let route = view.registry.route(prefix);
    let mut actions = route.iter().flat_map(|it| &it.actions);
    actions.any(|it| !it.is_on_entity && Some(it.name) == name)
}

fn frame<'a>(form: &Form, view: &View<'a>) -> Frame<'a> {
    match &form.item {
        None if form.purpose == FormPurpose::LogIn => Frame::new("Log in", view),
        Some(item) => Frame::new(format!("Edit {}", title(item, view)), view)
            .below_type(form.prefix)
            .below_entity(&item.reference().path(), title(item, view)),
        None => {
            let kind = view.registry.singular(form.prefix).to_lowercase();
            let verb = match form.purpose {
                FormPurpose::Update => "Edit",
                _ => "New",
            };
            Frame::new(format!("{verb} {kind}"), view).below_type(form.prefix)
        }
    }
}

/// Returns the value of a field's control: the sent one, else that of the entity, else the one in the address or, for
/// a new entity, the default one.
fn value(field: &Field, refusal: Option<&Refusal>, tree: &Value, prefilled: &Query) -> Value {
    match (refusal, tree.get(field.name), prefilled.get(field.name)) {
        (Some(refusal), ..) => sent(field, refusal),
        (None, Some(own), _) => stored(field, own),
        (None, None, "") if tree.is_null() => of_program(field, Value::from(field.default)),
        (None, None, suggested) => of_program(field, Value::from(suggested)),
    }
}

impl<'a> DeletePage<'a> {
    /// Returns whether it is called as usual.
    fn is_deleted(&self) -> bool {
        self.removal == "Delete"
    }

    /// The page that asks whether `item`, which `form` is about, is to be deleted.
    pub(super) fn of(form: &Form, item: &Item, view: &View<'a>) -> Self {
        let path = item.reference().path();
        let removal = view.allowed_actions.removal.unwrap_or("Delete");
        let heading = match view.allowed_actions.removal {
            Some(removal) => format!("{removal}?"),
            None => format!("Delete {}?", title(item, view)),
        };
        let mut frame = Frame::new(heading, view)
            .below_type(item.prefix())
            .below_entity(&path, title(item, view));
        frame.state = form.is_outdated().then_some("Changed in the meantime");
        Self {
            frame,
            entity: title(item, view),
            removal,
            action: format!("/direct{path}"),
            version: form.version(),
            is_outdated: form.is_outdated(),
        }
    }
}

/// Returns whether `name` is a field that the form for a new entity asks for.
pub(super) fn is_prefilled(schema: &Schema, name: &str) -> bool {
    schema.field(name).is_some_and(|it| it.may_be_written(true))
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
