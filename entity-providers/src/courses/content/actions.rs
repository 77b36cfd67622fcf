//! The actions on files: the lists that existing clients read, moving and copying.

use entity_core::db;
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, Entity as _, Error, Need,
    Provider as _, Result, Search, Verb, gate, shape,
};

use super::place::{Place, emit_event, may_read};
use super::{ACCESS, ContentItem, copy, node, open, upload, zip};
use crate::people::user;

const PLACE: &[(&str, &str)] = &[
    (
        "folderId",
        "the folder into which it goes; without it, the one in which it is",
    ),
    ("name", "its name there; without it, the name that it has"),
];

const UPLOAD: &[(&str, &str)] = &[
    (
        "folderId",
        "the folder into which it goes; without it, the root folder of the site",
    ),
    ("name", "its name, unless it comes with the file"),
];

impl Actions for ContentItem {
    fn actions() -> Vec<Action<Self>> {
        let Access { read, update, .. } = ACCESS;
        vec![
            Action::list("site", Need::Public, of_site)
                .doc("The files, folders and links of a site, in the order of their paths: none for whoever may not read them.")
                .argument("siteId", "The site."),
            Action::list("my", Need::Public, of_caller)
                .doc("The files, folders and links that the caller made, in all sites."),
            Action::list("user", Need::Session, of_user)
                .doc("The files, folders and links that somebody made, in all sites of the caller.")
                .argument("userId", "The person: an internal or external id."),
            Action::collection(Verb::Get, "resources", Need::Session, node::tree)
                .doc(
                    "A folder as a tree, with what is in it down to some depth. If there is more than an answer holds, the \
                     header `Link` leads to the rest: to trees of the same folder, in each of which are further files.",
                )
                .rest("path", "The path of the folder, such as `group/{siteId}/Week 1`.")
                .parameters(node::PARAMETERS)
                .answers(Answers::Value(shape::of::<node::Trees>)),
            Action::collection(Verb::Get, "htmlForRef", Need::Session, open::html)
                .doc("A file as a piece of HTML that shows it or leads to it.")
                .parameters(&[("ref", "the reference, such as `/content/group/{siteId}/a.png`")]),
            Action::entity(Verb::Get, "zip", read, zip::pack)
                .doc("A folder as a zip archive with all files in it that the caller may open, or one file in such an archive. Links are left out.")
                .answers(Answers::Bytes(&["application/zip"])),
            Action::collection(Verb::Post, "upload", ACCESS.create, upload::add)
                .doc("Puts a file into a folder of a site: the body as a whole, or the file of a form.")
                .argument("siteId", "The site.")
                .parameters(UPLOAD)
                .receiving(),
            Action::collection(Verb::Post, "attachment", Need::Site("site.visit"), upload::attach)
                .doc("Stores a file to be attached to other entities of the site, and answers what their `attachments` take. Until then only the caller can open it.")
                .argument("siteId", "The site.")
                .parameters(&[("name", "the name of the file, unless it comes with the file")])
                .receiving(),
            Action::collection(Verb::Get, "loose", Need::Site("site.visit"), upload::loose)
                .doc("The files that the caller stored to be attached and that nothing names yet. They go a day after they came.")
                .argument("siteId", "The site."),
            Action::collection(Verb::Delete, "loose", Need::Site("site.visit"), upload::remove_loose)
                .doc("Removes such a file.")
                .argument("siteId", "The site.")
                .argument("fileId", "The segment of the address of the file before its name."),
            Action::entity(Verb::Put, "bytes", update, upload::replace)
                .doc("Replaces the bytes of a file, whose id and address stay.")
                .receiving(),
            Action::entity(Verb::Post, "move", update, move_to)
                .doc("Moves a file, folder or link into another folder of the site, or gives it another name there.")
                .parameters(PLACE),
            Action::entity(Verb::Post, "copy", read, copy::copy)
                .doc("Copies a file, link or folder with what the caller sees in it, into a folder of any site.")
                .parameters(PLACE),
        ]
    }
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<ActionResult<ContentItem>> {
    let site = arguments.argument("siteId")?;
    Ok(match may_read(cx, site).await? {
        true => ActionResult::List(arguments.search_in_site::<ContentItem>(site)?),
        false => ActionResult::empty(arguments.search()?.clone()),
    })
}

async fn of_caller(cx: &Context, arguments: Arguments) -> Result<Search> {
    let own = cx.caller().user_id().ok_or_else(Error::forbidden)?;
    Ok(of_author(arguments.search()?.clone(), own))
}

/// Tells only those who may view people whether there is somebody.
async fn of_user(cx: &Context, arguments: Arguments) -> Result<Search> {
    let name = arguments.argument("userId")?;
    let search = arguments.search()?.clone();
    if user::is_caller(cx, name) {
        return Ok(of_author(search, cx.user_id()?));
    }
    let found = match user::may_view(cx).await? {
        true => user::find(cx, name).await?,
        false => None,
    };
    let found = found.ok_or_else(Error::not_found)?;
    Ok(of_author(search, &found.id))
}

fn of_author(mut search: Search, author: &str) -> Search {
    search.narrow(ContentItem::FIELD.author_id.eq(author));
    search
}

async fn move_to(cx: &Context, item: ContentItem, arguments: Arguments) -> Result<ContentItem> {
    let place = Place::of(&arguments)?;
    let mut moved = item.clone();
    if let Some(folder) = place.folder
        && item.folder_id.as_ref() != Some(&folder)
    {
        gate::demand_in_site(cx, ContentItem::ACCESS.create, item.site()).await?;
        moved.folder_id = Some(folder);
    }
    if let Some(name) = place.name {
        moved.rename(&name);
    }
    let moved = db::replace(cx, item, moved).await?;
    emit_event(cx, "content.revise", &moved);
    Ok(moved)
}
