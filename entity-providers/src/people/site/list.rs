//! Which sites a list holds.

use entity_core::{Context, Error, Page, Result, Scope, Search, db};

use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};

use super::{Site, parts, site};
use crate::people::authorizer;

pub(super) async fn list(cx: &Context, search: &Search) -> Result<Page<Site>> {
    let mut page = db::list(cx, &asked(cx, search).await?).await?;
    parts::complete(cx, &mut page.items).await?;
    Ok(page)
}

/// Returns the number of sites found, where all of them may be read too.
pub(super) async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
    match select(search) {
        "access" | "any" | "joinable" => {
            let count = db::count::<Site>(cx, &asked(cx, search).await?).await?;
            Ok(Some(count))
        }
        _ => Ok(None),
    }
}

fn select(search: &Search) -> &str {
    search
        .parameter("select")
        .or_else(|| search.parameter("selectionType"))
        .unwrap_or("access")
}

/// Returns the search with what the type's own parameters say. They choose sites beyond those that the caller visits, so
/// they take the place of the scope.
async fn asked(cx: &Context, search: &Search) -> Result<Search> {
    let mut asked = search.clone();
    crate::base::search::add_words(&mut asked, &["search", "criteria"])?;
    let (site, is_superuser) = (Site::FIELD, cx.authorizer().is_superuser(cx).await?);
    asked.scope = Scope::Everything;
    match select(search) {
        "any" if is_superuser => return Ok(asked),
        "access" | "any" => asked.narrow(site.id.is_in(visited(cx).await?)),
        "update" => {
            if let Scope::Sites(ids) = cx.authorizer().scope(cx, "site.upd").await? {
                asked.narrow(site.id.is_in(ids));
            }
        }
        "joinable" => asked.narrow(site.joinable.eq(true)),
        "pubView" => asked.narrow(site.pub_view.eq(true)),
        _ => {
            return Err(Error::field(
                "select",
                "must be access, update, joinable, pubView or any",
            ));
        }
    }
    if matches!(select(search), "joinable" | "pubView") {
        asked.narrow(site.published.eq(true));
        // The ids of sites that the service itself needs begin with `!`, and those that people choose with a letter or digit.
        asked.narrow(site.id.gte("0"));
    }
    Ok(asked)
}

/// Returns whether there is a site yet that somebody has made.
pub(crate) async fn has_any(cx: &Context) -> Result<bool> {
    let made = site::Entity::find().filter(site::Column::Id.gte("0"));
    let made: Vec<Site> = db::load(cx, made.limit(1)).await?;
    Ok(!made.is_empty())
}

/// The sites that the caller belongs to and may visit. Super users may visit all and belong to few.
pub(super) async fn visited(cx: &Context) -> Result<Vec<String>> {
    match cx.authorizer().scope(cx, "site.visit").await? {
        Scope::Sites(ids) => Ok(ids),
        Scope::Everything => {
            let subject = authorizer::of(cx)?.subject(cx, cx.user_id()?).await?;
            let active = subject.members.iter().filter(|(_, it)| it.is_active);
            Ok(active.map(|(id, _)| id.clone()).collect())
        }
    }
}
