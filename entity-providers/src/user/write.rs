//! Users as they are made, changed and deleted.

use std::collections::BTreeMap;

use entity_core::{Context, Entity as _, Error, Fields, Result, check_name, db};
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::{ActiveModelTrait as _, ColumnTrait, EntityTrait, QueryFilter};
use serde_json::{Map, Value};

use super::password::PasswordHash;
use super::unique::require_free;
use super::{CREDENTIALS, ENDS_FEEDS, User, password, query};
use crate::db::user_account::{ActiveModel, Column, Entity as Account};
use crate::fields::{flag, properties, text};

/// The kind of account that those make who are no super users, and that nobody asked to be another.
pub(crate) const USUAL_TYPE: &str = "registered";
/// The kind of account of teaching staff: the realm `!user.template.maintain` lets it make courses and enrol people.
pub(crate) const TEACHING_TYPE: &str = "maintain";

pub(super) async fn create(cx: &Context, draft: Fields) -> Result<User> {
    let hash = password::hash(cx, "", &draft).await?;
    let user = insert(cx, &draft, hash.as_ref()).await?;
    hash.map_or(Ok(()), |it| it.refuse_known(&user))?;
    Ok(user)
}

/// Makes the account with the password that `hash` was made of, whatever `draft` says.
pub(super) async fn insert(
    cx: &Context,
    draft: &Fields,
    hash: Option<&PasswordHash>,
) -> Result<User> {
    let eid = text(draft, "eid").flatten().unwrap_or_default();
    let eid = check_eid(cx, eid.trim())?;
    require_free(cx, "eid", eid, "").await?;
    let id = cx.new_id();
    let now = cx.now().timestamp_millis();
    let mut row = ActiveModel {
        id: Set(id.clone()),
        eid: Set(eid.to_owned()),
        email: Set(String::new()),
        first_name: Set(String::new()),
        last_name: Set(String::new()),
        r#type: Set(USUAL_TYPE.to_owned()),
        password_hash: Set(hash.map(|it| it.hash.clone())),
        is_disabled: Set(false),
        props: Set("{}".to_owned()),
        last_login: Set(None),
        created: Set(now),
        created_by: Set(cx.caller().user_id().map(ToOwned::to_owned)),
        modified: Set(now),
        version: Set(1),
        ..Default::default()
    };
    let usual = User {
        r#type: USUAL_TYPE.to_owned(),
        disabled: Some(false),
        ..User::default()
    };
    set(cx, &mut row, draft, &usual).await?;
    let row: ActiveModel = db::folded(row, User::schema())?;
    row.insert(cx.db()?).await.map_err(taken)?;
    reread(cx, &id).await
}

pub(super) async fn update(cx: &Context, current: User, changes: Fields) -> Result<User> {
    let hash = password::hash(cx, &current.id, &changes).await?;
    let Some(stored) = query::by_id(cx, &current.id).await? else {
        return Err(Error::not_found());
    };
    let before = User::new(stored, cx.base_url());
    let mut row = ActiveModel {
        password_hash: hash
            .as_ref()
            .map_or(NotSet, |it| Set(Some(it.hash.clone()))),
        ..Default::default()
    };
    set(cx, &mut row, &changes, &before).await?;
    let keeps_feeds = flag(&changes, "keepFeeds").unwrap_or_default();
    let user = store(cx, &current, row, keeps_feeds).await?;
    hash.map_or(Ok(()), |it| it.refuse_known(&user))?;
    Ok(user)
}

/// Stores what `row` sets of `current`. A new password ends the private feeds as well, unless they are kept.
pub(super) async fn store(
    cx: &Context,
    current: &User,
    row: ActiveModel,
    keeps_feeds: bool,
) -> Result<User> {
    let has_password = row.password_hash.is_set();
    let ends_sessions = has_password || row.is_disabled.is_set();
    let row = ActiveModel {
        modified: Set(cx.now().timestamp_millis()),
        version: Set(current.row_version.saturating_add(1)),
        ..row
    };
    let done = Account::update_many()
        .set(db::folded(row, User::schema())?)
        .filter(Column::Id.eq(&current.id))
        .filter(Column::Version.eq(current.row_version))
        .exec(cx.db()?)
        .await?;
    if done.rows_affected == 0 {
        return Err(Error::precondition_failed());
    }
    if ends_sessions {
        let ends_feeds = has_password && !keeps_feeds;
        let details = Map::from_iter([(ENDS_FEEDS.to_owned(), Value::Bool(ends_feeds))]);
        cx.emit_with(CREDENTIALS, &current.reference, None, details);
        if has_password {
            let whose = match cx.caller().user_id() == Some(&current.id) {
                true => "other sessions",
                false => "all sessions",
            };
            let feeds = if ends_feeds { ", private feeds" } else { "" };
            cx.remark("x-ended", format!("{whose}{feeds}"));
        }
    }
    reread(cx, &current.id).await
}

pub(super) async fn delete(cx: &Context, current: User) -> Result<()> {
    if cx.caller().user_id() == Some(&current.id) {
        return Err(Error::conflict(
            "nobody deletes their own account: ask another administrator",
        ));
    }
    Account::delete_by_id(&current.id).exec(cx.db()?).await?;
    cx.emit(CREDENTIALS, &current.reference, None);
    Ok(())
}

/// Sets what `fields` change of `before`.
async fn set(cx: &Context, row: &mut ActiveModel, fields: &Fields, before: &User) -> Result<()> {
    if let Some(email) = text(fields, "email") {
        let email = email.unwrap_or_default();
        let email = check_email(email.trim())?;
        // Whoever sends back what they read changes nothing.
        if !email.eq_ignore_ascii_case(&before.email) {
            require_free(cx, "email", email, &before.id).await?;
        }
        row.email = Set(email.to_owned());
    }
    if let Some(name) = text(fields, "firstName") {
        row.first_name = Set(name.unwrap_or_default().trim().to_owned());
    }
    if let Some(name) = text(fields, "lastName") {
        row.last_name = Set(name.unwrap_or_default().trim().to_owned());
    }
    if let Some(props) = properties(fields, "props")? {
        row.props = Set(write_properties(&props)?);
    }
    set_reserved(cx, row, fields, before).await
}

/// Sets what only administrators change. Others may send back what they read.
async fn set_reserved(
    cx: &Context,
    row: &mut ActiveModel,
    fields: &Fields,
    before: &User,
) -> Result<()> {
    let kind = text(fields, "type")
        .flatten()
        .filter(|it| !it.trim().is_empty() && *it != before.r#type);
    let is_disabled = flag(fields, "disabled").filter(|it| Some(*it) != before.disabled);
    if kind.is_none() && is_disabled.is_none() {
        return Ok(());
    }
    if !cx.authorizer().is_superuser(cx).await? {
        return Err(Error::forbidden());
    }
    if is_disabled == Some(true) && cx.caller().user_id() == Some(&before.id) {
        return Err(Error::conflict(
            "nobody shuts their own account: ask another administrator",
        ));
    }
    if let Some(kind) = kind {
        row.r#type = Set(kind);
    }
    if let Some(is_disabled) = is_disabled {
        row.is_disabled = Set(is_disabled);
    }
    Ok(())
}

fn check_eid<'e>(cx: &Context, eid: &'e str) -> Result<&'e str> {
    check_name(cx, "user", "eid", eid)?;
    let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '+' | '\'');
    match eid.starts_with(char::is_alphanumeric) && eid.chars().all(is_usual) {
        true => Ok(eid),
        false => Err(Error::field(
            "eid",
            "must begin with a letter or digit and have only letters, digits and . - _ @ + '",
        )),
    }
}

fn check_email(email: &str) -> Result<&str> {
    let is_one = |(local, domain): (&str, &str)| {
        !local.is_empty() && !domain.is_empty() && !domain.contains('@')
    };
    let has_space = email.contains(char::is_whitespace);
    match email.is_empty() || (!has_space && email.split_once('@').is_some_and(is_one)) {
        true => Ok(email),
        false => Err(Error::field("email", "must be an e-mail address")),
    }
}

fn write_properties(props: &BTreeMap<String, String>) -> Result<String> {
    serde_json::to_string(props).map_err(Error::internal)
}

fn taken(error: sea_orm::DbErr) -> Error {
    use sea_orm::SqlErr::UniqueConstraintViolation;
    match error.sql_err() {
        Some(UniqueConstraintViolation(_)) => {
            Error::conflict("there is already a user with this eid").with_source(error)
        }
        _ => error.into(),
    }
}

async fn reread(cx: &Context, id: &str) -> Result<User> {
    query::find(cx, id).await?.ok_or_else(Error::not_found)
}
