//! The children of an entity, on its page: texts one below the other, so that a thread is read at once, anything else as
//! a table.

use askama::Template;
use askama::filters::HtmlSafe;
use entity_core::format::View;
use entity_core::reply::{Collection, Item, Related};
use entity_core::schema::{Field, Kind, Role, Writable};
use entity_core::{Result, encode_segment};
use serde_json::{Map, Value};

use super::facts::Facts;
use super::list::{self, Rows, Table};
use super::place::near;
use super::query::Query;
use super::sheet::Sheet;
use super::shown::SanitizedHtml;
use crate::render::tree;

/// The maximum number of bytes of the texts of one list.
const MOST_TEXT: usize = 40_000;

/// The entities of one type that belong to another one.
#[derive(Template)]
#[template(path = "children.html")]
pub(super) struct Children<'a> {
    id: String,
    label: String,
    href: String,
    posts: Vec<Post<'a>>,
    table: Option<Table<'a>>,
    rows: Option<Rows<'a>>,
    has_more: bool,
    /// The type, if it is talk, which is read while it goes on.
    live: Option<&'static str>,
    /// The address of the form for one more, if the reader may write one, and what it is called.
    new: Option<(String, String)>,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Children<'_> {}

/// An entity that is read as a text, with those that answer it.
#[derive(Template)]
#[template(path = "post.html")]
struct Post<'a> {
    /// The path below `/direct`.
    path: String,
    /// The path of what it answers.
    answers: Option<String>,
    title: String,
    facts: Facts<'a>,
    content: SanitizedHtml<'a>,
    replies: Vec<Post<'a>>,
}

/// A template escapes what it shows, so what it wrote is not escaped again.
impl HtmlSafe for Post<'_> {}

/// A list that a page shows.
pub(super) struct List<'a> {
    /// The address of all of it.
    pub(super) place: &'a Related,
    /// Its beginning.
    entities: &'a Collection,
    /// Its name, if it is a part of the course, whose page this is.
    part: Option<&'a str>,
}

/// Returns the lists that the page of `item`, which has the fields in `tree`, shows, of what belongs to it and of the parts
/// of a course: those in which there is something, unless a text that the service makes of it leads there already.
pub(super) fn shown<'a>(item: &Item, tree: &Value, view: &'a View<'_>) -> Vec<List<'a>> {
    let fields = item.schema().fields.iter();
    let made =
        fields.filter(|it| matches!(it.kind, Kind::Html(_)) && it.writable == Writable::Never);
    let made: Vec<&str> = made.filter_map(|it| tree.get(it.name)?.as_str()).collect();
    let is_told = |it: &Item| {
        let page = format!("/direct{}.html", it.reference().path());
        made.iter().any(|text| text.contains(&page))
    };
    let parts = view.allowed_actions.menu.iter();
    let parts = parts.map(|(label, place)| (place, Some(label.as_str())));
    let related = view.allowed_actions.related.iter().map(|it| (it, None));
    let lists = parts.chain(related).filter_map(|(place, part)| {
        Some(List {
            place,
            entities: place.first.as_deref()?,
            part,
        })
    });
    let lists = lists.filter(|it| !Sheet::replaces(it.place.prefix, view));
    let lists = lists.filter(|it| {
        let items = &it.entities.items;
        let is_there = !items.is_empty() || it.place.may_create;
        is_there && !items.iter().any(is_told)
    });
    let mut lists: Vec<_> = lists.collect();
    lists.sort_by_key(|it| it.entities.items.is_empty());
    lists
}

/// Returns the fields of the entities of each of the lists, as far as the page shows them.
pub(super) fn trees(lists: &[List<'_>], view: &View<'_>) -> Result<Vec<Vec<Value>>> {
    let whole = |item: &Item| tree::of_entity(item, view.base_url);
    let of_list = |list: &List<'_>| match list.content() {
        Some(_) => list.entities.items.iter().map(whole).collect(),
        None => list::trees(&list.entities.items, list.entities.schema),
    };
    lists.iter().map(of_list).collect()
}

impl List<'_> {
    /// Returns the field of the text that each entity is, if the page shows the texts and no table.
    fn content(&self) -> Option<&'static Field> {
        let content = self.entities.schema.role(Role::Content);
        content.filter(|it| matches!(it.kind, Kind::Html(_)) && self.part.is_none())
    }
}

impl<'a> Children<'a> {
    /// Returns the lists on the page of `parent`, with the fields that [`trees`] returns.
    pub(super) fn all(
        parent: &Item,
        lists: &[List<'_>],
        trees: &'a [Vec<Value>],
        view: &View<'_>,
    ) -> Vec<Self> {
        let lists = lists.iter().zip(trees).enumerate();
        let lists = lists.map(|(index, (list, trees))| {
            let found = list.entities;
            let entities: Vec<_> = trees.iter().filter_map(Value::as_object).collect();
            let posts = list.content();
            let posts = posts.map(|it| posts_of(parent, (found, it), &entities, view));
            let is_table = posts.is_none() && list.part.is_none() && !entities.is_empty();
            let is_cut = posts.as_ref().is_some_and(|it| it.len() < entities.len());
            let plural = || view.registry.plural(list.place.prefix);
            Self {
                id: format!("list-{index}"),
                live: list::live(found),
                label: list.part.map_or_else(plural, ToOwned::to_owned),
                href: near(list.place, view),
                has_more: (found.has_more || is_cut) && list.part.is_none(),
                posts: nested(posts.unwrap_or_default()),
                new: list.place.may_create.then(|| new_one(list.place, view)),
                table: is_table.then(|| Table::below(parent, found, &entities, view)),
                rows: list.part.map(|_| Rows::of(found, &entities, view)),
            }
        });
        lists.collect()
    }
}

/// The address of the form for one more entity of the list, and what it is called.
fn new_one(list: &Related, view: &View<'_>) -> (String, String) {
    let query = list.query.iter();
    let query = query.fold(Query::default(), |all, (name, value)| {
        all.with(name, value.clone())
    });
    let path = format!("/direct/{}/new.html", encode_segment(list.prefix));
    let kind = view.registry.singular(list.prefix).to_lowercase();
    (query.behind(&path), format!("New {kind}"))
}

/// Returns the first of the entities as texts.
fn posts_of<'a>(
    parent: &Item,
    (list, content): (&Collection, &Field),
    entities: &[&'a Map<String, Value>],
    view: &View<'_>,
) -> Vec<Post<'a>> {
    let mut bytes = 0_usize;
    let mut posts = Vec::new();
    for (item, entity) in list.items.iter().zip(entities) {
        let text = entity.get(content.name).and_then(Value::as_str);
        let text = text.unwrap_or_default();
        bytes = bytes.saturating_add(text.len());
        if bytes > MOST_TEXT && !posts.is_empty() {
            break;
        }
        let facts = Facts::of(item, entity, view);
        let author = facts.author.as_ref().map(|it| it.name.clone());
        let title = item
            .title()
            .filter(|it| Some(it) != parent.title().as_ref());
        let names: Vec<String> = title.into_iter().chain(author).collect();
        let answered = item.feed_entry().and_then(|it| it.in_reply_to);
        posts.push(Post {
            path: item.reference().path(),
            answers: answered.map(|it| it.path()),
            title: match names.is_empty() {
                true => view.registry.singular(item.prefix()),
                false => names.join(", "),
            },
            facts,
            content: SanitizedHtml(text),
            replies: Vec::new(),
        });
    }
    posts
}

/// Puts each text below the one that it answers, if that is among them.
fn nested(posts: Vec<Post<'_>>) -> Vec<Post<'_>> {
    let paths: Vec<String> = posts.iter().map(|it| it.path.clone()).collect();
    let is_reply = |it: &Post<'_>| it.answers.as_ref().is_some_and(|it| paths.contains(it));
    let (mut replies, first): (Vec<_>, Vec<_>) = posts.into_iter().partition(is_reply);
    let threads = first.into_iter().map(|it| it.with_replies(&mut replies));
    let mut threads: Vec<_> = threads.collect();
    // Those that answer each other in a circle.
    threads.append(&mut replies);
    threads
}

impl Post<'_> {
    /// The same with its own of `replies`, each with its own.
    fn with_replies(mut self, replies: &mut Vec<Self>) -> Self {
        let is_own = |it: &mut Self| it.answers.as_ref() == Some(&self.path);
        let own: Vec<_> = replies.extract_if(.., is_own).collect();
        let own = own.into_iter().map(|it| it.with_replies(replies));
        self.replies = own.collect();
        self
    }
}
