//! Which sites a list holds.

use entity_core::{Context, Entity, Error, Page, Result, Scope, Search};
use sea_orm::{ColumnTrait, Condition, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{Site, parts};
use crate::authorizer;
use crate::db::site::{Column, Entity as Sites};

pub(super) async fn list(cx: &Context, search: &Search) -> Result<Page<Site>> {
    let mut search = search.clone();
    crate::search::add_words(&mut search, &["search", "criteria"])?;
    let mut statement = Sites::find().filter(selected(cx, &search).await?);
    if search.order.is_empty() {
        statement = statement.order_by_asc(Column::Title);
    }
    entity_core::db::apply(
        QuerySelect::query(&mut statement),
        &search,
        Site::schema(),
        "site",
        "id",
    );
    let rows = statement.all(cx.db()?).await?;
    let page = Page::cut(rows, search.limit);
    let sites = page.items.into_iter();
    let mut sites: Vec<Site> = sites.map(|it| Site::new(it, cx.base_url())).collect();
    parts::complete(cx, &mut sites).await?;
    Ok(Page {
        items: sites,
        has_more: page.has_more,
    })
}

/// The condition that `select` stands for.
async fn selected(cx: &Context, search: &Search) -> Result<Condition> {
    let is_superuser = cx.authorizer().is_superuser(cx).await?;
    let select = search
        .parameter("select")
        .or_else(|| search.parameter("selectionType"));
    let condition = Condition::all();
    Ok(match select.unwrap_or("access") {
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
async fn visited(cx: &Context) -> Result<Vec<String>> {
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
