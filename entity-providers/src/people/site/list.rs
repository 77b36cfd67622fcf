//! Which sites a list holds.

use entity_core::{Context, Entity, Error, Page, Result, Scope, Search, db};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait as _, EntityTrait, QueryFilter, QuerySelect, Select,
};

use super::{Site, parts};
use crate::people::authorizer;
use crate::storage::db::site::{Column, Entity as Sites, Model};

const TABLE: &str = "site";

pub(super) async fn list(cx: &Context, search: &Search) -> Result<Page<Site>> {
    let (mut statement, search) = asked(cx, search).await?;
    let query = QuerySelect::query(&mut statement);
    let backend = cx.db()?.get_database_backend();
    db::apply(backend, query, &search, Site::schema(), TABLE)?;
    let measure = cx.measure(&search);
    let page: Page<Model> = cx.db()?.select_page(&statement, measure).await?;
    Ok(Page {
        items: complete(cx, page.items).await?,
        has_more: page.has_more,
        places: page.places,
    })
}

/// How many there are, where all that are found may be read too.
pub(super) async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
    if !matches!(select(search), "access" | "any" | "joinable") {
        return Ok(None);
    }
    let (mut statement, search) = asked(cx, search).await?;
    let query = QuerySelect::query(&mut statement);
    let backend = cx.db()?.get_database_backend();
    query.cond_where(db::condition(backend, &search, Site::schema(), TABLE)?);
    db::count_rows(cx, query.clone()).await.map(Some)
}

/// The sites with these ids, as lists show them.
pub(super) async fn by_ids(cx: &Context, ids: &[String]) -> Result<Vec<Site>> {
    let statement = Sites::find().filter(Column::Id.is_in(ids));
    complete(cx, cx.db()?.select(&statement).await?).await
}

async fn complete(cx: &Context, rows: Vec<Model>) -> Result<Vec<Site>> {
    let rows = rows.into_iter();
    let mut sites: Vec<Site> = rows.map(|it| Site::new(it, cx.base_url())).collect();
    parts::complete(cx, &mut sites).await?;
    Ok(sites)
}

/// Returns the query of the type's own parameters, and the search with the words that are among them.
async fn asked(cx: &Context, search: &Search) -> Result<(Select<Sites>, Search)> {
    let mut search = search.clone();
    crate::base::search::add_words(&mut search, &["search", "criteria"])?;
    let statement = Sites::find().filter(selected(cx, &search).await?);
    Ok((statement, search))
}

fn select(search: &Search) -> &str {
    search
        .parameter("select")
        .or_else(|| search.parameter("selectionType"))
        .unwrap_or("access")
}

/// The condition that `select` stands for.
async fn selected(cx: &Context, search: &Search) -> Result<Condition> {
    let is_superuser = cx.authorizer().is_superuser(cx).await?;
    let condition = Condition::all();
    Ok(match select(search) {
        "any" if is_superuser => condition,
        "access" | "any" => condition.add(Column::Id.is_in(visited(cx).await?)),
        "update" => within(cx.authorizer().scope(cx, "site.upd").await?),
        "joinable" => ordinary()
            .add(Column::IsJoinable.eq(true))
            .add(Column::IsPublished.eq(true)),
        "pubView" => ordinary()
            .add(Column::IsPubView.eq(true))
            .add(Column::IsPublished.eq(true)),
        _ => {
            return Err(Error::field(
                "select",
                "must be access, update, joinable, pubView or any",
            ));
        }
    })
}

/// Sites that people made, not those that the service itself needs.
fn ordinary() -> Condition {
    Condition::all().add(Column::Id.not_like("!%"))
}

/// The sites that the caller belongs to and may visit. Super users may visit all and belong to few.
pub(super) async fn visited(cx: &Context) -> Result<Vec<String>> {
    match cx.authorizer().scope(cx, "site.visit").await? {
        Scope::Sites(ids) => Ok(ids),
        Scope::Everything => {
            let standing = authorizer::of(cx)?.standing(cx, cx.user_id()?).await?;
            let active = standing.members.iter().filter(|(_, it)| it.is_active);
            Ok(active.map(|(id, _)| id.clone()).collect())
        }
    }
}

fn within(scope: Scope) -> Condition {
    match scope {
        Scope::Everything => Condition::all(),
        Scope::Sites(ids) => Condition::all().add(Column::Id.is_in(ids)),
    }
}
