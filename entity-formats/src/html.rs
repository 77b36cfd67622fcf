//! Answers as pages: whole documents for people, without script and without inline style.

mod ask;
mod children;
mod choices;
mod clock;
mod control;
mod describe;
mod done;
mod entity;
mod explorer;
mod facts;
pub mod folder;
mod form;
mod frame;
mod list;
mod mark;
mod pivot;
mod place;
pub mod portal;
mod problem;
mod query;
mod reference;
mod refusal;
mod repeats;
mod sheet;
mod shown;
mod subscribe;
mod subscription;
mod value;
mod wall_clock;
mod words;

use askama::Template;
use askama::filters::{Escaper as _, Html as Markup};
use entity_core::format::{Format, Problem, Renderer, View};
use entity_core::reply::{Body, Form, FormPurpose, Value};
use entity_core::{Error, Result};

use self::done::DonePage;
use self::entity::EntityPage;
pub use self::explorer::page as explorer_page;
use self::form::{DeletePage, FormPage, frame_of};
use self::list::ListPage;
use self::problem::ProblemPage;
use self::subscribe::Subscribe;
use self::subscription::SubscriptionPage;
use self::value::ValuePage;
use crate::primitives::buffer::Buffer;
use crate::primitives::text::replace_forbidden;
use crate::render::tree;

/// Writes HTML.
#[derive(Clone, Copy, Debug, Default)]
pub struct Html;

impl Renderer for Html {
    fn format(&self) -> Format {
        Format {
            name: "html",
            media_type: "text/html; charset=utf-8",
            aliases: &["application/xhtml+xml"],
            is_feed: false,
        }
    }

    fn accepts(&self, body: &Body) -> bool {
        body.is_data() || matches!(body, Body::Form(_) | Body::Action(_))
    }

    fn render(&self, body: &Body, view: &View<'_>) -> Result<Vec<u8>> {
        if let Some(own) = view.own_address {
            return write(&SubscriptionPage::of(body, own, view)?);
        }
        match body {
            Body::Empty => write(&DonePage::of(view)),
            Body::Entity(item) => {
                let tree = tree::of_entity(item, view.base_url)?;
                let frame = EntityPage::frame(item, &tree, view).with_formats(body, view);
                let lists = children::shown(item, &tree, view);
                let below = children::trees(&lists, view)?;
                let page = EntityPage::of(item, &tree, (&lists, &below), frame, view);
                write(&page)
            }
            Body::Collection(it) => {
                let trees = list::trees(&it.items, it.schema)?;
                let frame = ListPage::frame(it, &trees, view).with_formats(body, view);
                let feed = Subscribe::of(body, &frame.title, view);
                let page = ListPage::of(it, &trees, frame, view).with_feed(feed);
                write_into(Buffer::of(body, view), &page, body.count())
            }
            Body::Value(Value {
                questionnaire: Some(it),
                ..
            }) => write(&FormPage::of_questionnaire(
                it,
                None,
                frame_of(it, view),
                view,
            )),
            Body::Value(it) => {
                let tree = tree::of_value(&it.data)?;
                match it.name.as_str() {
                    describe::NAME => describe::write(tree, view),
                    name => write(&ValuePage::of(name, &tree, view)),
                }
            }
            Body::Form(it) => write_form(it, view),
            Body::Action(it) => write(&FormPage::of_action(it, view)),
            _ => Err(Error::not_acceptable(&["json"])),
        }
    }

    fn render_problem(&self, problem: &Problem, view: &View<'_>) -> Option<Vec<u8>> {
        write(&ProblemPage::of(problem, view)).ok()
    }
}

fn write_form(form: &Form, view: &View<'_>) -> Result<Vec<u8>> {
    let Some(item) = &form.item else {
        return write(&FormPage::of(form, &serde_json::Value::Null, view));
    };
    match form.purpose {
        FormPurpose::Delete => write(&DeletePage::of(form, item, view)),
        FormPurpose::Create | FormPurpose::Update | FormPurpose::LogIn => {
            let tree = tree::of_entity(item, view.base_url)?;
            write(&FormPage::of(form, &tree, view))
        }
    }
}

fn write(page: &impl Template) -> Result<Vec<u8>> {
    write_into(Buffer::unlimited(), page, 1)
}

/// Writes the page of `count` entities. How many of them fit if not all do is not known: half of them are tried.
fn write_into(mut buffer: Buffer, page: &impl Template, count: usize) -> Result<Vec<u8>> {
    let written = page.render_into(&mut buffer).map_err(Error::internal);
    buffer.check(written, count.div_ceil(2))?;
    Ok(buffer.into_bytes())
}

/// `text` as pages show it: nothing in it is markup.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    // Nothing fails that writes to memory.
    let _done = Markup.write_escaped_str(&mut escaped, &replace_forbidden(text));
    escaped
}
