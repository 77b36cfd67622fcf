//! `/direct/term`: the terms of the university, to which courses belong.

use std::collections::BTreeMap;

use entity_core::engine::DirectPath;
use entity_core::{
    Context, DateTimeUtc, Entity, Error, Provider as _, Result, Search, Window, check_name, gate,
    standard,
};
use serde::Serialize;

/// A term, such as a semester.
#[standard(version)]
#[derive(Clone, Debug, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(prefix = "term", table = "term", access = Session, check = Self::check)]
#[entity(
    verbs(read, list, create, update, delete),
    order = "from_desc,id",
    max = 1000
)]
pub struct Term {
    /// The id, which sites name as `term_eid`. Whoever creates a term may choose it.
    #[entity(id, on_create, max = 99)]
    #[entity(hint = "A short word for addresses, such as 2026-fall, which never changes.")]
    pub id: String,
    /// The title.
    #[entity(title, search, max = 99)]
    pub title: String,
    /// When it begins.
    #[entity(column = "begins")]
    pub from: DateTimeUtc,
    /// When it ends.
    #[entity(column = "ends")]
    pub to: DateTimeUtc,
    /// True if it goes on now.
    #[entity(computed = Self::is_current, label = "Goes on now")]
    pub current: bool,
}

entity_core::register!(Term);

impl Term {
    fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if self.to < self.from {
            return Err(Error::disordered("from", "to"));
        }
        match before {
            Some(_) => Ok(()),
            None => check_id(cx, &self.id),
        }
    }

    fn is_current(&self, cx: &Context) -> bool {
        self.from <= cx.now() && cx.now() < self.to
    }
}

/// Refuses an id that can't stand in an address.
fn check_id(cx: &Context, id: &str) -> Result<()> {
    let path = DirectPath::new(Term::PREFIX, [id]);
    let is_legal = id.trim() == id
        && DirectPath::parse(&path.to_string(), |_| false).is_ok_and(|parsed| parsed == path);
    match is_legal {
        true => check_name(cx, Term::PREFIX, "id", id),
        false => Err(Error::field(
            "id",
            "must not have white space around it, nor a slash, a semicolon or a control character",
        )),
    }
}

/// Returns the titles of all terms, by id.
pub(crate) async fn titles(cx: &Context) -> Result<BTreeMap<String, String>> {
    let terms = gate::list::<Term>(cx, Search::part(Window::FIRST)).await?;
    Ok(terms
        .items
        .into_iter()
        .map(|it| (it.id, it.title))
        .collect())
}
