//! The contents of a page: its items and subpages in order, as existing clients read them and as one text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use entity_core::{Context, Error, Page, Result, Search, encode_segment, gate};
use schemars::JsonSchema;
use serde::Serialize;

use super::outline::item_key;
use super::{Lesson, LessonItem};
use crate::base::html::escape;

/// The kind of a page.
const PAGE: i64 = 2;

/// An item or a page of lessons, with what other clients read of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LessonContent")]
pub struct Content {
    /// The id.
    pub id: i64,
    /// The name; for what shows another entity, its title.
    pub name: String,
    /// The kind: 1 resource, 2 page, 3 assignment, 4 quiz, 5 text, 6 link, 8 forum, 14 break, 15 checklist, 20 folder, 100
    /// poll.
    pub r#type: i64,
    /// The page that it is on or, for a page, its own id.
    pub page_id: i64,
    /// True if it is locked until everything required before it is done.
    pub prerequisite: bool,
    /// True if what follows and has prerequisites is locked until it is done.
    pub required: bool,
    /// True if the caller sees no more than its name, because something before it is not done.
    pub locked: bool,
    /// True if the caller has done it.
    pub completed: bool,
    /// A description: plain text, or for pages sanitised HTML.
    pub description: Option<String>,
    /// The id of the entity that it shows.
    pub sakai_id: Option<String>,
    /// The text, sanitised HTML.
    pub html: Option<String>,
    /// The address of what it shows.
    pub url: Option<String>,
    /// The address of the contents of a page.
    #[serde(rename = "contentsURL")]
    pub contents_url: Option<String>,
    /// The media type of a resource.
    #[serde(rename = "contentType")]
    pub media_type: Option<String>,
    /// True if a link or resource opens in a new window.
    pub open_in_new_window: Option<bool>,
    /// The path of a folder.
    pub data_directory: Option<String>,
    /// The look of a break.
    pub format: Option<String>,
    /// The introduction of a quiz.
    pub question_text: Option<String>,
    /// The entries of a checklist.
    pub entries: Vec<String>,
    /// The items and subpages of a page, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contents_list: Option<Vec<Self>>,
}

/// Returns the address of the contents of the page `id`.
pub(super) fn address(cx: &Context, id: &str) -> String {
    let (base, id) = (cx.base_url(), encode_segment(id));
    format!("{base}/direct/lessons/lesson/{id}")
}

/// The contents of pages, by page, in order.
#[derive(Default)]
struct Shelf {
    pages: BTreeMap<String, Vec<Lesson>>,
    items: BTreeMap<String, Vec<LessonItem>>,
}

/// Returns the contents of `page` that the caller may read; with `is_whole` also those of all pages below.
pub(super) async fn of(cx: &Context, page: &Lesson, is_whole: bool) -> Result<Vec<Content>> {
    if page.locked {
        return Ok(Vec::new());
    }
    let mut search = Search::all();
    search.narrow_to_site::<Lesson>(&page.site_id)?;
    if !is_whole {
        search.narrow(Lesson::FIELD.parent_id.eq(&page.lesson_id));
    }
    let mut shelf = Shelf::default();
    for below in all(cx, gate::list::<Lesson>(cx, search).await)? {
        if let Some(parent) = below.parent_id.clone() {
            shelf.pages.entry(parent).or_default().push(below);
        }
    }
    let mut search = Search::all();
    search.narrow_to_site::<LessonItem>(&page.site_id)?;
    let ids = if is_whole {
        shelf.below(&page.lesson_id)
    } else {
        vec![page.lesson_id.clone()]
    };
    search.narrow(LessonItem::FIELD.lesson_id.is_in(ids));
    for item in all(cx, gate::list::<LessonItem>(cx, search).await)? {
        shelf
            .items
            .entry(item.lesson_id.clone())
            .or_default()
            .push(item);
    }
    Ok(shelf.contents(cx, &page.lesson_id, is_whole))
}

/// Returns all of a list. Nothing is there for those who may not read the list.
fn all<T: Serialize>(cx: &Context, listed: Result<Page<T>>) -> Result<Vec<T>> {
    let page = match listed {
        Err(error) if error.kind() == entity_core::ErrorKind::Forbidden => return Ok(Vec::new()),
        listed => listed?.within(cx.answer_bytes())?,
    };
    if page.has_more {
        return Err(Error::insufficient_storage(
            "these lessons are too large for one answer: read their pages one by one",
        ));
    }
    Ok(page.items)
}

impl Shelf {
    /// Returns the id of the page `id` and of all below it. Pages are on the shelf of one page each, and in no circle.
    fn below(&self, id: &str) -> Vec<String> {
        let mut ids = vec![id.to_owned()];
        let pages = self.pages.get(id).into_iter().flatten();
        ids.extend(pages.flat_map(|it| self.below(&it.lesson_id)));
        ids
    }

    fn contents(&self, cx: &Context, id: &str, is_whole: bool) -> Vec<Content> {
        let pages = self.pages.get(id).into_iter().flatten().map(|page| {
            let mut content = Content::of_page(page);
            if is_whole && !page.locked {
                content.contents_list = Some(self.contents(cx, &page.lesson_id, true));
            }
            ((page.position, page.lesson_id.clone()), content)
        });
        let items = self.items.get(id).into_iter().flatten();
        let items = items.map(|it| {
            (
                (it.position, item_key(&it.item_id)),
                Content::of_item(cx, it),
            )
        });
        let mut contents: Vec<_> = pages.chain(items).collect();
        contents.sort_by(|one, other| one.0.cmp(&other.0));
        contents.into_iter().map(|it| it.1).collect()
    }
}

impl Content {
    /// Returns a page without its contents.
    pub(super) fn of_page(page: &Lesson) -> Self {
        Self {
            id: page.id,
            name: page.lesson_title.clone(),
            r#type: PAGE,
            page_id: page.id,
            prerequisite: page.prerequisite,
            required: page.required,
            locked: page.locked,
            completed: page.completed,
            description: some(&page.description),
            sakai_id: Some(page.lesson_id.clone()),
            contents_url: Some(page.contents_url.clone()),
            ..Self::default()
        }
    }

    fn of_item(cx: &Context, item: &LessonItem) -> Self {
        let (base, id) = (cx.base_url(), item.item_id.as_str());
        let shown = item
            .target()
            .filter(|_| !item.locked)
            .map(|(prefix, target)| {
                let target: Vec<_> = target.split('/').map(encode_segment).collect();
                match prefix {
                    // A path opens the file itself; an id alone is that of its page.
                    "content" if target.len() > 1 => format!(
                        "{base}/access/content/{}",
                        target.join("/").trim_start_matches('/')
                    ),
                    _ => format!("{base}/direct/{prefix}/{}", target.join("/")),
                }
            });
        let is_opened = matches!(item.r#type, 1 | 6).then_some(item.open_in_new_window);
        Self {
            id: item.id,
            name: item.name.clone(),
            r#type: item.r#type,
            page_id: super::number(&item.lesson_id),
            prerequisite: item.prerequisite,
            required: item.required,
            locked: item.locked,
            completed: item.completed,
            description: some(&item.description),
            sakai_id: some(&item.sakai_id),
            html: some(&item.html),
            url: some(&item.url).or(shown),
            contents_url: Some(format!("{base}/direct/lesson-item/{id}")),
            media_type: (item.r#type == 1).then(|| "*/*".to_owned()),
            open_in_new_window: is_opened,
            data_directory: some(&item.sakai_id).filter(|_| item.r#type == 20),
            format: some(&item.format),
            question_text: some(&item.description).filter(|_| item.r#type == 4),
            entries: item.entries.iter().map(|it| it.name.clone()).collect(),
            ..Self::default()
        }
    }

    /// Leaves out the texts, for an overview.
    pub(super) fn simplify(&mut self) {
        (self.description, self.html, self.question_text) = (None, None, None);
        self.contents_list
            .iter_mut()
            .flatten()
            .for_each(Self::simplify);
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Returns the contents as one text for people. The only HTML in it that others wrote was sanitised before it was stored.
pub(super) fn to_html(cx: &Context, contents: &[Content]) -> String {
    let mut text = String::new();
    for it in contents {
        let state = match (it.locked, it.completed) {
            (true, _) => " (locked: complete what is required before)",
            (_, true) => " (done)",
            _ if it.required => " (required)",
            _ => "",
        };
        // Writing to a text does not fail.
        let _ = match it.r#type {
            14 => write!(text, "<hr>"),
            _ if it.name.is_empty() => Ok(()),
            PAGE => {
                let (base, name) = (cx.base_url(), escape(&it.name));
                write!(
                    text,
                    "<h3><a href=\"{base}/direct/lessons/{}.html\">{name}</a>{state}</h3>",
                    it.id
                )
            }
            _ => {
                let (base, name) = (cx.base_url(), escape(&it.name));
                write!(
                    text,
                    "<h3><a href=\"{base}/direct/lesson-item/{}.html\">{name}</a>{state}</h3>",
                    it.id
                )
            }
        };
        if let Some(description) = it.description.as_ref().filter(|_| it.r#type != PAGE) {
            let description = escape(description).replace('\n', "<br>");
            let _ = write!(text, "<p>{description}</p>");
        }
        text.push_str(it.html.as_deref().unwrap_or_default());
        if let Some(url) = it.url.as_deref().map(escape) {
            let shown = if it.r#type == 6 { url.as_str() } else { "Open" };
            let _ = write!(
                text,
                "<p><a href=\"{url}\" rel=\"noopener noreferrer nofollow\">{shown}</a></p>"
            );
        }
        if !it.entries.is_empty() {
            let entries: Vec<_> = it
                .entries
                .iter()
                .map(|it| format!("<li>{}</li>", escape(it)))
                .collect();
            let _ = write!(text, "<ul>{}</ul>", entries.concat());
        }
    }
    text
}
