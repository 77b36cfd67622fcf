//! Sites as they are made, changed and deleted.

use entity_core::db::{self, Record as _};
use entity_core::wire::Millis;
use entity_core::{Context, Error, Fields, Result};
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};

use super::{Site, find, id, joiner_role, maintain_role, site};
use crate::base::fields::text;
use crate::base::limits;
use crate::people::authorizer;
use crate::storage::db::membership::{self, Origin};
use crate::storage::db::realm_grant;
use crate::storage::db::site_parts::{SitePage, SiteTool};

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

pub(super) async fn create(cx: &Context, draft: Fields) -> Result<Site> {
    let id = match text(&draft, "id").flatten().filter(|it| !it.is_empty()) {
        Some(id) => id::check(cx, &id)?,
        None => cx.new_id(),
    };
    let kind = chosen_type(cx, &draft).await?;
    let owner = cx.user_id()?;
    demand_room(cx, owner).await?;
    let joiner = joiner(&draft);
    let made = Site::make(cx, draft)?;
    let usual_joiner = || joiner_role(kind.as_deref()).to_owned();
    let mut made = Site {
        id: id.clone(),
        owner: Some(owner.to_owned()),
        joiner_role: Some(joiner.clone().unwrap_or_else(usual_joiner)),
        created_date: Millis(cx.now()),
        r#type: kind,
        ..made
    };
    made.check(cx, None)?;
    db::insert(cx, &made).await.map_err(id::taken)?;
    id::claim_ids(cx, std::slice::from_ref(&id)).await?;
    let kind = made.r#type.as_deref();
    enrol(cx, &id, owner, maintain_role(kind)).await?;
    create_default_pages(cx, &id, kind == Some("course")).await?;
    check_joiner_role(cx, &id, joiner).await?;
    find(cx, &id).await?.ok_or_else(Error::not_found)
}

pub(super) async fn update(cx: &Context, current: Site, changes: Fields) -> Result<Site> {
    let id = current.id.clone();
    check_joiner_role(cx, &id, joiner(&changes)).await?;
    db::update(cx, current, changes).await?;
    find(cx, &id).await?.ok_or_else(Error::not_found)
}

pub(super) async fn delete(cx: &Context, current: Site) -> Result<()> {
    if current.id.starts_with('!') {
        return Err(Error::conflict(
            "the service itself needs this site: it can't be deleted",
        ));
    }
    realm_grant::Entity::delete_many()
        .filter(realm_grant::Column::Realm.eq(authorizer::realm_of(&current.id)))
        .exec(cx.db()?)
        .await?;
    db::delete(cx, current).await
}

impl Site {
    pub(super) fn check(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if self.title.trim().is_empty() {
            return Err(Error::field("title", "is required"));
        }
        if self.joiner_role.as_ref().is_none_or(String::is_empty) {
            self.joiner_role = before.and_then(|it| it.joiner_role.clone());
        }
        self.modified_date = Millis(cx.now());
        let mut props = self.props.0.clone();
        let term = props.remove("term");
        let has_letters = |it: &String| it.is_empty() || !it.chars().all(|c| c.is_ascii_digit());
        if term.as_ref().is_some_and(has_letters) {
            return Err(Error::field("props", "must have only digits in `term`"));
        }
        self.term = term;
        self.term_eid = props.remove("term_eid");
        match props.into_keys().next() {
            Some(unknown) => Err(Error::field(
                "props",
                format!("has `term` and `term_eid`, not `{unknown}`"),
            )),
            None => Ok(()),
        }
    }
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
    let made = site::Entity::find()
        .filter(site::Column::Owner.eq(owner))
        .count(cx.db()?)
        .await?;
    match made < most {
        true => Ok(()),
        false => Err(Error::limit_reached(format!(
            "an account may have {most} sites (`sites.perAccount`), and you have {made}: delete one of them first"
        ))),
    }
}

/// The role of those who join by themselves, if the client names one.
fn joiner(fields: &Fields) -> Option<String> {
    let role = text(fields, "joinerRole").flatten();
    role.filter(|it| !it.is_empty())
}

/// Insists that people who join by themselves get a role that the site has and that does not maintain it.
async fn check_joiner_role(cx: &Context, id: &str, role: Option<String>) -> Result<()> {
    let Some(role) = role else {
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
async fn create_default_pages(cx: &Context, site: &str, is_course: bool) -> Result<()> {
    let mut pages = Vec::new();
    let mut tools = Vec::new();
    let wanted = PAGES.iter().filter(|it| is_course || !it.2);
    for (position, (title, tool, _)) in (1..).zip(wanted) {
        let page = cx.new_id();
        tools.push(SiteTool {
            id: cx.new_id(),
            page_id: page.clone(),
            site_id: site.to_owned(),
            tool_id: (*tool).to_owned(),
            title: (*title).to_owned(),
            position: 1,
        });
        pages.push(SitePage {
            id: page,
            site_id: site.to_owned(),
            title: (*title).to_owned(),
            position,
            layout: 0,
        });
    }
    db::insert_many(cx, &pages).await?;
    db::insert_many(cx, &tools).await
}
