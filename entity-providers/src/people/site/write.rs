//! Sites as they are made, changed and deleted.

use entity_core::{Context, Entity as _, Error, Fields, Result, db};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};

use super::{Site, find, id, joiner_role, maintain_role};
use crate::base::fields::{flag, properties, text};
use crate::base::limits;
use crate::people::authorizer;
use crate::storage::db::membership::{self, Origin};
use crate::storage::db::site::{ActiveModel, Column, Entity as Sites};
use crate::storage::db::{realm_grant, site_page, site_tool};

/// The function of those who make courses, and as many sites as they need.
const MAKES_COURSES: &str = "site.add.course";

/// The pages that a new site begins with, each with one tool. Those marked are for courses only.
const PAGES: [(&str, &str, bool); 9] = [
    ("Announcements", "sakai.announcements", false),
    ("Syllabus", "sakai.syllabus", true),
    ("Calendar", "sakai.schedule", false),
    ("Resources", "sakai.resources", false),
    ("Assignments", "sakai.assignment.grades", true),
    ("Tests & Quizzes", "sakai.samigo", true),
    ("Gradebook", "sakai.gradebookng", true),
    ("Discussions", "sakai.forums", false),
    ("People", "sakai.siteinfo", false),
];

pub(super) async fn create(cx: &Context, draft: &Fields) -> Result<Site> {
    let id = match text(draft, "id").flatten().filter(|it| !it.is_empty()) {
        Some(id) => id::check(cx, &id)?,
        None => cx.new_id(),
    };
    let kind = chosen_type(cx, draft).await?;
    let owner = cx.user_id()?;
    demand_room(cx, owner).await?;
    let now = cx.now().timestamp_millis();
    let mut row = ActiveModel {
        id: Set(id.clone()),
        r#type: Set(kind.clone()),
        is_pub_view: Set(false),
        is_joinable: Set(false),
        joiner_role: Set(Some(joiner_role(kind.as_deref()).to_owned())),
        owner_id: Set(Some(owner.to_owned())),
        created: Set(now),
        modified: Set(now),
        version: Set(1),
        ..Default::default()
    };
    set(&mut row, draft)?;
    let row: ActiveModel = db::folded(row, Site::schema())?;
    Sites::insert(row)
        .exec_without_returning(cx.db()?)
        .await
        .map_err(id::taken)?;
    id::claim_ids(cx, std::slice::from_ref(&id)).await?;
    enrol(cx, &id, owner, maintain_role(kind.as_deref())).await?;
    furnish(cx, &id, kind.as_deref() == Some("course")).await?;
    check_joiner_role(cx, &id, draft).await?;
    find(cx, &id).await?.ok_or_else(Error::not_found)
}

pub(super) async fn update(cx: &Context, current: &Site, changes: &Fields) -> Result<Site> {
    check_joiner_role(cx, &current.id, changes).await?;
    let mut row = ActiveModel {
        modified: Set(cx.now().timestamp_millis()),
        version: Set(current.row_version.saturating_add(1)),
        ..Default::default()
    };
    set(&mut row, changes)?;
    let done = Sites::update_many()
        .set(db::folded(row, Site::schema())?)
        .filter(Column::Id.eq(&current.id))
        .filter(Column::Version.eq(current.row_version))
        .exec(cx.db()?)
        .await?;
    match done.rows_affected {
        0 => Err(Error::precondition_failed()),
        _ => find(cx, &current.id).await?.ok_or_else(Error::not_found),
    }
}

pub(super) async fn delete(cx: &Context, current: &Site) -> Result<()> {
    if current.id.starts_with('!') {
        return Err(Error::conflict(
            "the service itself needs this site: it can't be deleted",
        ));
    }
    realm_grant::Entity::delete_many()
        .filter(realm_grant::Column::Realm.eq(authorizer::realm_of(&current.id)))
        .exec(cx.db()?)
        .await?;
    Sites::delete_by_id(&current.id).exec(cx.db()?).await?;
    Ok(())
}

/// The type of the new site, if the caller may make sites of it. A site without a type is like a project.
async fn chosen_type(cx: &Context, draft: &Fields) -> Result<Option<String>> {
    let kind = text(draft, "type").flatten().filter(|it| !it.is_empty());
    let function = format!("site.add.{}", kind.as_deref().unwrap_or("project"));
    match cx.authorizer().holds(cx, &function).await? {
        true => Ok(kind),
        false => Err(Error::forbidden()),
    }
}

/// Refuses one more site than an account may have made. Whoever may make courses has no limit.
async fn demand_room(cx: &Context, owner: &str) -> Result<()> {
    if cx.authorizer().holds(cx, MAKES_COURSES).await? {
        return Ok(());
    }
    limits::lock_account(cx, owner).await?;
    let most = limits::of(cx)?.sites_per_account;
    let made = Sites::find()
        .filter(Column::OwnerId.eq(owner))
        .count(cx.db()?)
        .await?;
    match made < most {
        true => Ok(()),
        false => Err(Error::limit_reached(format!(
            "an account may have {most} sites (`sites.perAccount`), and you have {made}: delete one of them first"
        ))),
    }
}

/// Sets what `fields` change. What clients may not write is not among them.
fn set(row: &mut ActiveModel, fields: &Fields) -> Result<()> {
    if let Some(title) = text(fields, "title") {
        let title = title.filter(|it| !it.trim().is_empty());
        row.title = Set(title.ok_or_else(|| Error::field("title", "is required"))?);
    }
    for (name, column) in [
        ("description", &mut row.description),
        ("shortDescription", &mut row.short_description),
        ("contactName", &mut row.contact_name),
        ("contactEmail", &mut row.contact_email),
        ("skin", &mut row.skin),
    ] {
        if let Some(text) = text(fields, name) {
            *column = Set(text);
        }
    }
    if let Some(role) = joiner(fields) {
        row.joiner_role = Set(Some(role));
    }
    for (name, column) in [
        ("published", &mut row.is_published),
        ("pubView", &mut row.is_pub_view),
        ("joinable", &mut row.is_joinable),
    ] {
        if let Some(flag) = flag(fields, name) {
            *column = Set(flag);
        }
    }
    set_term(row, fields)
}

fn set_term(row: &mut ActiveModel, fields: &Fields) -> Result<()> {
    let Some(mut props) = properties(fields, "props")? else {
        return Ok(());
    };
    let term = props.remove("term");
    let has_letters = |it: &String| it.is_empty() || !it.chars().all(|c| c.is_ascii_digit());
    if term.as_ref().is_some_and(has_letters) {
        return Err(Error::field("props", "must have only digits in `term`"));
    }
    row.term = Set(term);
    row.term_eid = Set(props.remove("term_eid"));
    match props.into_keys().next() {
        Some(unknown) => Err(Error::field(
            "props",
            format!("has `term` and `term_eid`, not `{unknown}`"),
        )),
        None => Ok(()),
    }
}

/// The role of those who join by themselves, if the client names one.
fn joiner(fields: &Fields) -> Option<String> {
    let role = text(fields, "joinerRole").flatten();
    role.filter(|it| !it.is_empty())
}

/// Insists that people who join by themselves get a role that the site has and that does not maintain it.
async fn check_joiner_role(cx: &Context, id: &str, fields: &Fields) -> Result<()> {
    let Some(role) = joiner(fields) else {
        return Ok(());
    };
    let facts = authorizer::of(cx)?.site(cx, id).await?;
    let is_harmless = (*facts)
        .as_ref()
        .is_some_and(|it| it.has_role(&role) && !it.role_holds(&role, "site.upd"));
    match is_harmless {
        true => Ok(()),
        false => Err(Error::field(
            "joinerRole",
            "must be a role of the site that does not look after it",
        )),
    }
}

async fn enrol(cx: &Context, site: &str, user: &str, role: &str) -> Result<()> {
    let row = membership::Model {
        is_pinned: false,
        ..membership::Model::new(user, site, role, cx.now(), Origin::Creation)
    };
    membership::Entity::insert(row.into_active_model())
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}

/// Gives a new site its first pages.
async fn furnish(cx: &Context, site: &str, is_course: bool) -> Result<()> {
    let mut pages = Vec::new();
    let mut tools = Vec::new();
    let wanted = PAGES.iter().filter(|it| is_course || !it.2);
    for (position, (title, tool, _)) in (1..).zip(wanted) {
        let page = cx.new_id();
        tools.push(site_tool::ActiveModel {
            id: Set(cx.new_id()),
            page_id: Set(page.clone()),
            site_id: Set(site.to_owned()),
            tool_id: Set((*tool).to_owned()),
            title: Set((*title).to_owned()),
            position: Set(1),
        });
        pages.push(site_page::ActiveModel {
            id: Set(page),
            site_id: Set(site.to_owned()),
            title: Set((*title).to_owned()),
            position: Set(position),
            layout: Set(0),
        });
    }
    site_page::Entity::insert_many(pages)
        .exec_without_returning(cx.db()?)
        .await?;
    site_tool::Entity::insert_many(tools)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}
