//! Users as they are found.

use entity_core::{Context, Entity, Page, Result, Search, db};
use sea_orm::sea_query::{Expr, ExprTrait, Func};
use sea_orm::{
    ColumnTrait, ConnectionTrait as _, EntityTrait, QueryFilter, QuerySelect, QueryTrait, Select,
};

use super::User;
use crate::db::user_account::{Column, Entity as Account, Model};

const TABLE: &str = "user_account";

/// The user with the internal id `id`, whoever asks.
///
/// # Errors
/// The database can't be read.
pub async fn find(cx: &Context, id: &str) -> Result<Option<User>> {
    let row = by_id(cx, id).await?;
    Ok(row.map(|it| shown(cx, it, true)))
}

/// `row` as a user; only those who see everybody see whether the account is shut.
pub(super) fn shown(cx: &Context, row: Model, sees_all: bool) -> User {
    let mut user = User::new(row, cx.base_url());
    if !sees_all {
        user.disabled = None;
    }
    user
}

pub(super) async fn by_id(cx: &Context, id: &str) -> Result<Option<Model>> {
    Ok(Account::find_by_id(id).one(cx.db()?).await?)
}

/// By the external id, whatever its case.
pub(super) async fn by_eid(cx: &Context, eid: &str) -> Result<Option<Model>> {
    let lower = Expr::expr(Func::lower(Expr::col(Column::Eid)));
    let statement = Account::find().filter(lower.eq(eid.to_ascii_lowercase()));
    Ok(statement.one(cx.db()?).await?)
}

/// By an e-mail address that only one account has.
pub(super) async fn by_email(cx: &Context, email: &str) -> Result<Option<Model>> {
    let statement = Account::find().filter(has_email(email)).limit(2);
    let mut rows = statement.all(cx.db()?).await?;
    match rows.len() {
        1 => Ok(rows.pop()),
        _ => Ok(None),
    }
}

/// By external id, by internal id, or by what follows `id=`.
pub(super) async fn by_any_id(cx: &Context, id: &str) -> Result<Option<Model>> {
    if let Some(id) = id.strip_prefix("id=") {
        return by_id(cx, id).await;
    }
    match by_eid(cx, id).await? {
        Some(row) => Ok(Some(row)),
        None => by_id(cx, id).await,
    }
}

/// The accounts with these internal ids.
pub(super) async fn by_ids(cx: &Context, ids: &[String]) -> Result<Vec<Model>> {
    let statement = Account::find().filter(Column::Id.is_in(ids));
    Ok(statement.all(cx.db()?).await?)
}

pub(super) async fn list(cx: &Context, search: &Search) -> Result<Page<User>> {
    let (mut statement, search) = asked(search)?;
    let query = QuerySelect::query(&mut statement);
    let backend = cx.db()?.get_database_backend();
    db::apply(backend, query, &search, User::schema(), TABLE)?;
    let measure = cx.measure(&search);
    let page = cx.db()?.models(statement.as_query(), measure).await?;
    Ok(page.map(|it| shown(cx, it, true)))
}

pub(super) async fn count(cx: &Context, search: &Search) -> Result<u64> {
    let (mut statement, search) = asked(search)?;
    let query = QuerySelect::query(&mut statement);
    let backend = cx.db()?.get_database_backend();
    query.cond_where(db::condition(backend, &search, User::schema(), TABLE)?);
    db::count_rows(cx, query.clone()).await
}

/// What the type's own parameters say, and the search with the words that are among them.
fn asked(search: &Search) -> Result<(Select<Account>, Search)> {
    let mut search = search.clone();
    crate::search::add_words(&mut search, &["search", "criteria"])?;
    let statement = match search.parameter("email") {
        Some(email) => Account::find().filter(has_email(&crate::search::plain("email", email)?)),
        None => Account::find(),
    };
    Ok((statement, search))
}

fn has_email(email: &str) -> sea_orm::sea_query::Expr {
    let lower = Expr::expr(Func::lower(Expr::col(Column::Email)));
    lower
        .eq(email.to_ascii_lowercase())
        .and(Column::Email.ne(""))
}
