//! The actions of lessons: the addresses that existing clients read, the order of contents, and progress.

use std::collections::BTreeSet;

use entity_core::reply::{Choice, Prompt, Questionnaire, Sending};
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, Data, Done, Error, ErrorKind,
    Input, Need, Operation, Read as _, Result, Search, Verb, gate, leads, shape,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::contents::{self, Content};
use super::outline::Outline;
use super::progress::{self, Ticks};
use super::{Lesson, LessonItem, READ, WRITE, tree};
use crate::base::parameters;

/// The parameter that puts something in order.
const ORDER: &[(&str, &str)] = &[("order", "in the body: all ids, in the new order")];
/// The parameter that ticks the entries of a checklist.
const ENTRIES: &[(&str, &str)] = &[(
    "entries",
    "in the body: the ids of the entries that are ticked",
)];

impl Actions for Lesson {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("site", Need::Session, of_site)
                .doc("The pages of the first level of a site, in order.")
                .argument("siteId", "The site."),
            Action::list("user", Need::Session, of_user)
                .doc("The pages of the first level of all sites of the caller."),
            Action::collection(Verb::Get, "lesson", Need::Session, whole)
                .doc("A page with its items and subpages.")
                .argument("lessonId", "The page.")
                .parameters(&[
                    ("type", "`simple` to leave out the texts"),
                    ("fullTree", "`true` for the contents of all subpages, too"),
                ]),
            Action::collection(Verb::Get, "progress", Need::Site(READ), own_progress)
                .doc("How far the caller has come with the lessons of a site.")
                .argument("siteId", "The site."),
            Action::collection(Verb::Post, "orderPages", Need::Site(WRITE), order_pages)
                .doc("Puts the pages of the first level in the order of the ids in `order`.")
                .parameters(ORDER)
                .argument("siteId", "The site."),
            Action::entity(Verb::Post, "order", Need::Site(WRITE), order_contents)
                .doc("Puts the items and subpages of the page in the order of the ids in `order`.")
                .parameters(ORDER),
            Action::entity(Verb::Post, "done", Need::Site(READ), visit)
                .offered_if(|it| !it.locked && !it.completed)
                .done("You have seen {}.")
                .doc("Completes the page for the caller, unless something required on it is not done."),
        ]
    }
}

impl Actions for LessonItem {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::list("lessons", Need::Session, of_page)
                .doc("The items of a page, in order.")
                .argument("lessonId", "The page."),
            Action::entity(Verb::Post, "done", Need::Site(READ), do_item)
                .done("{} is done.")
                .offered_if(|it| !it.locked && !it.completed && it.kind != "checklist")
                .doc("Notes that the caller has done the item or, with `done` false, that it is not done."),
            Action::entity(Verb::Get, "entries", Need::Site(READ), entries)
                .doc("The entries of a checklist, as a form in which the caller ticks them.")
                .label("Tick off")
                .offered_if(|it| !it.locked && it.kind == "checklist")
                .answers(Answers::Value(shape::of::<Questionnaire>)),
            Action::entity(Verb::Post, "tick", Need::Site(READ), tick)
                .parameters(ENTRIES)
                .doc("Ticks those entries of a checklist whose ids are in `entries`, and no others. The item is done when all are ticked."),
        ]
    }
}

/// The caller's progress in the lessons of a site.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "LessonsProgress")]
struct Progress {
    /// The site.
    site_id: String,
    /// The number of pages that the caller sees.
    pages: usize,
    /// The number of those that the caller has completed.
    completed: usize,
    /// The number of those that are locked.
    locked: usize,
}

/// Checks that the caller may enter the site, which does not exist for others.
async fn enter(cx: &Context, site: &str) -> Result<()> {
    match gate::holds(cx, "site.visit", site).await? {
        true => Ok(()),
        false => Err(Error::not_found()),
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<Search> {
    let site = arguments.argument("siteId")?;
    enter(cx, site).await?;
    let mut search = arguments.search_in_site::<Lesson>(site)?;
    search.narrow(Lesson::FIELD.parent_id.is_null());
    Ok(search)
}

async fn of_page(_cx: &Context, arguments: Arguments) -> Result<Search> {
    let mut search = arguments.search()?.clone();
    let page = arguments.argument("lessonId")?;
    search.narrow(LessonItem::FIELD.lesson_id.eq(page));
    Ok(search)
}

async fn of_user(cx: &Context, arguments: Arguments) -> Result<Search> {
    let mut search = arguments.search()?.clone();
    search.narrow_to_sites::<Lesson>(cx.authorizer().own_sites(cx).await?)?;
    search.narrow(Lesson::FIELD.parent_id.is_null());
    Ok(search)
}

async fn whole(cx: &Context, arguments: Arguments) -> Result<Data<Content>> {
    let id = arguments.argument("lessonId")?;
    let is_simple = match arguments.parameter("type") {
        None | Some("") => false,
        Some("simple") => true,
        Some(_) => return Err(Error::field("type", "must be `simple` or left out")),
    };
    let is_whole = parameters::truth(&arguments, "fullTree")?;
    let page = Lesson::read(cx, id).await?.ok_or_else(Error::not_found)?;
    enter(cx, &page.site_id).await?;
    gate::require::<Lesson>(cx, &page, Operation::Read).await?;
    let mut content = Content::of_page(&page);
    content.html = Some(page.html.clone());
    content.contents_list = Some(if is_whole {
        contents::of(cx, &page, true).await?
    } else {
        page.contents_list
    });
    if is_simple {
        content.simplify();
    }
    Ok(Data(content))
}

async fn own_progress(cx: &Context, arguments: Arguments) -> Result<Data<Progress>> {
    let site = arguments.argument("siteId")?;
    let mut search = Search::all();
    search.narrow_to_site::<Lesson>(site)?;
    let pages = gate::list::<Lesson>(cx, search).await?.items;
    Ok(Data(Progress {
        site_id: site.to_owned(),
        pages: pages.len(),
        completed: pages.iter().filter(|it| it.completed).count(),
        locked: pages.iter().filter(|it| it.locked).count(),
    }))
}

/// Reads the list of ids `name` out of a body.
fn ids(input: Input, name: &str) -> Result<Vec<String>> {
    let mut fields = input.fields;
    let sent = fields
        .remove(name)
        .ok_or_else(|| Error::field(name, "is required"))?;
    if let Some(other) = fields.keys().next() {
        return Err(Error::field(other, "is not a field of this action"));
    }
    let wrong = |_| Error::field(name, "must be a list of ids");
    let sent = match sent {
        // What a form sends before all ids, so that none can be sent, too.
        Value::String(text) if text.is_empty() && input.is_form => Value::Array(Vec::new()),
        Value::Array(mut items) if input.is_form => {
            items.retain(|it| it != "");
            Value::Array(items)
        }
        other => other,
    };
    let ids = Vec::<Id>::deserialize(sent).map_err(wrong)?;
    Ok(ids.into_iter().map(Id::into_text).collect())
}

/// An id as clients send it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(u32),
    Text(String),
}

impl Id {
    fn into_text(self) -> String {
        match self {
            Self::Number(it) => it.to_string(),
            Self::Text(it) => it,
        }
    }
}

async fn order_pages(cx: &Context, arguments: Arguments) -> Result<Done> {
    let site = arguments.argument("siteId")?.to_owned();
    tree::arrange(cx, &site, None, &ids(arguments.input, "order")?).await?;
    cx.emit("lessonbuilder.upd", format!("/site/{site}"), Some(&site));
    Ok(Done)
}

async fn order_contents(cx: &Context, page: Lesson, arguments: Arguments) -> Result<Lesson> {
    let order = ids(arguments.input, "order")?;
    tree::arrange(cx, &page.site_id, Some(&page.lesson_id), &order).await?;
    cx.emit_about::<Lesson>("lessonbuilder.upd", &page);
    gate::read::<Lesson>(cx, &page.lesson_id).await
}

/// Refuses to do what is locked.
fn check_open(is_locked: bool) -> Result<()> {
    if is_locked {
        return Err(Error::conflict(
            "this is locked: complete what is required before it",
        ));
    }
    Ok(())
}

async fn visit(cx: &Context, page: Lesson, _: Arguments) -> Result<Lesson> {
    check_open(page.locked)?;
    let outline = Outline::of(cx, &BTreeSet::from([&*page.site_id])).await?;
    if !outline.is_done_but(&page.site_id, &page.lesson_id, "") {
        return Err(Error::conflict(
            "something required on this page is not done",
        ));
    }
    progress::complete(cx, &page, &outline).await?;
    gate::read::<Lesson>(cx, &page.lesson_id).await
}

async fn do_item(cx: &Context, item: LessonItem, arguments: Arguments) -> Result<LessonItem> {
    check_open(item.locked)?;
    if item.kind == "checklist" {
        return Err(Error::new(
            ErrorKind::Conflict,
            "a checklist is done when all its entries are ticked",
        ));
    }
    let done = arguments
        .input
        .fields
        .get("done")
        .map(|it| it.as_bool().or_else(|| it.as_str()?.parse().ok()));
    let is_done = match done {
        None => true,
        Some(done) => done.ok_or_else(|| Error::field("done", "must be true or false"))?,
    };
    if let Some((prefix, id)) = item.target().filter(|_| is_done)
        && leads::is_done(cx, prefix, &id).await? == Some(false)
    {
        return Err(Error::conflict(
            "it is done when you have handed it in, voted or written there: do that first",
        ));
    }
    progress::do_item(cx, &item, is_done, Ticks::default()).await?;
    gate::read::<LessonItem>(cx, &item.item_id).await
}

async fn entries(
    _cx: &Context,
    item: LessonItem,
    _: Arguments,
) -> Result<ActionResult<LessonItem>> {
    if item.locked || item.kind != "checklist" {
        return Err(Error::not_found());
    }
    let choices = item.entries.iter().map(|it| Choice {
        value: it.id.clone(),
        label: it.name.clone(),
        is_chosen: item.ticked.0.contains(&it.id),
    });
    Ok(ActionResult::Questionnaire(Questionnaire {
        title: item.name.clone(),
        ends_on: None,
        prompts: vec![Prompt {
            name: "entries".to_owned(),
            text: item.name.clone(),
            hint: String::new(),
            choices: choices.collect(),
            takes_several: true,
            value: String::new(),
        }],
        sendings: vec![Sending {
            path: format!("/direct/lesson-item/{}/tick", item.item_id),
            label: "Save".to_owned(),
        }],
        ..Questionnaire::default()
    }))
}

async fn tick(cx: &Context, item: LessonItem, arguments: Arguments) -> Result<LessonItem> {
    check_open(item.locked)?;
    let sent = ids(arguments.input, "entries")?;
    let is_there = |id: &String| item.entries.iter().any(|it| it.id == *id);
    if item.kind != "checklist" || !sent.iter().all(is_there) {
        return Err(Error::field(
            "entries",
            "must be ids of entries of this checklist",
        ));
    }
    let ticked: Vec<String> = item
        .entries
        .iter()
        .map(|it| it.id.clone())
        .filter(|it| sent.contains(it))
        .collect();
    let is_done = ticked.len() == item.entries.len();
    progress::do_item(cx, &item, is_done, Ticks(ticked)).await?;
    gate::read::<LessonItem>(cx, &item.item_id).await
}
