//! The rules for new and changed accounts, and the consequences of a change.

use entity_core::db;
use entity_core::wire::Millis;
use entity_core::{Context, Error, Result, check_name};
use sea_orm::sea_query::ExprTrait as _;
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};
use serde_json::{Map, Value};

use super::find::is;
use super::tries::{Guess, TryService};
use super::{CREDENTIALS, ENDS_FEEDS, USUAL_TYPE, User, password, user};

impl User {
    pub(super) async fn settle(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let hash = password::take(cx, self, before)?;
        let keeps_feeds = self.keep_feeds.take().unwrap_or_default();
        for text in [
            &mut self.eid,
            &mut self.email,
            &mut self.first_name,
            &mut self.last_name,
        ] {
            *text = text.trim().to_owned();
        }
        self.check_names(cx, before).await?;
        self.check_verified(cx, before).await?;
        let is_shut_or_opened = self.check_reserved(cx, before).await?;
        let has_password = hash.is_some();
        if let Some(hash) = hash {
            hash.refuse_known(self)?;
            self.password_hash = hash.hash.clone();
        }
        self.last_modified = Some(Millis(cx.now()));
        if before.is_none() {
            self.created_date = self.last_modified;
            self.created_by = cx.caller().user_id().map(ToOwned::to_owned);
        } else if has_password || is_shut_or_opened {
            self.end_sessions(cx, has_password, has_password && !keeps_feeds);
        }
        Ok(())
    }

    /// Ends the sessions of the user, and the private feeds if a new password does so.
    pub(super) fn end_sessions(&self, cx: &Context, has_password: bool, ends_feeds: bool) {
        let details = Map::from_iter([(ENDS_FEEDS.to_owned(), Value::Bool(ends_feeds))]);
        cx.emit_with(CREDENTIALS, &self.reference, None, details);
        if has_password {
            let whose = match cx.caller().user_id() == Some(&self.id) {
                true => "other sessions",
                false => "all sessions",
            };
            let feeds = if ends_feeds { ", private feeds" } else { "" };
            cx.add_header("x-ended", format!("{whose}{feeds}"));
        }
    }

    /// Whoever sends back what they read changes nothing.
    async fn check_names(&self, cx: &Context, before: Option<&Self>) -> Result<()> {
        if before.is_none() {
            check_eid(cx, &self.eid)?;
            require_free(cx, "eid", &self.eid, "").await?;
        }
        let (own, email) = before.map_or(("", ""), |it| (&it.id, &it.email));
        if self.email != email {
            check_email(&self.email)?;
        }
        match self.email.eq_ignore_ascii_case(email) {
            true => Ok(()),
            false => require_free(cx, "email", &self.email, own).await,
        }
    }

    /// An address is verified when an administrator sets it, and not when somebody else does. What somebody sets for
    /// themselves proves nothing.
    async fn check_verified(&mut self, cx: &Context, before: Option<&Self>) -> Result<()> {
        let was_verified = before.and_then(|it| it.email_verified);
        let is_same = before.is_some_and(|it| it.email.eq_ignore_ascii_case(&self.email));
        let is_superuser = cx.authorizer().is_superuser(cx).await?;
        if self.email_verified == Some(true) && was_verified != Some(true) && !is_superuser {
            return Err(Error::forbidden());
        }
        // Whoever takes the mark away together with the address means it.
        let is_taken = was_verified == Some(true) && self.email_verified == Some(false);
        if !is_same {
            self.email_verified = Some(is_superuser && !is_taken && !self.email.is_empty());
        }
        Ok(())
    }

    /// Refuses what only administrators change, and answers whether the account is shut or opened. Others may send back
    /// what they read. Whoever does not see whether their account is shut knows it: it is not.
    async fn check_reserved(&mut self, cx: &Context, before: Option<&Self>) -> Result<bool> {
        let kind = before.map_or(USUAL_TYPE, |it| &it.r#type);
        let was_disabled = before.map_or(Some(false), |it| it.disabled);
        let is_sent = |it: &bool| *it != was_disabled.unwrap_or_default();
        let shut_or_opened = self.disabled.filter(is_sent);
        self.disabled = shut_or_opened.or(was_disabled);
        if self.r#type.trim().is_empty() {
            kind.clone_into(&mut self.r#type);
        }
        if self.r#type == kind && shut_or_opened.is_none() {
            return Ok(false);
        }
        if !cx.authorizer().is_superuser(cx).await? {
            return Err(Error::forbidden());
        }
        match shut_or_opened == Some(true) && cx.caller().user_id() == Some(&self.id) {
            true => Err(Error::conflict(
                "nobody shuts their own account: ask another administrator",
            )),
            false => Ok(shut_or_opened.is_some()),
        }
    }
}

pub(crate) fn check_eid(cx: &Context, eid: &str) -> Result<()> {
    check_name(cx, "user", "eid", eid)?;
    let is_usual = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '@' | '+' | '\'');
    match eid.starts_with(char::is_alphanumeric) && eid.chars().all(is_usual) {
        true => Ok(()),
        false => Err(Error::field(
            "eid",
            "must begin with a letter or digit and have only letters, digits and . - _ @ + '",
        )),
    }
}

fn check_email(email: &str) -> Result<()> {
    let is_one = |(local, domain): (&str, &str)| {
        !local.is_empty() && !domain.is_empty() && !domain.contains('@')
    };
    let has_space = email.contains(char::is_whitespace);
    match email.is_empty() || (!has_space && email.split_once('@').is_some_and(is_one)) {
        true => Ok(()),
        false => Err(Error::field("email", "must be an e-mail address")),
    }
}

/// Insists that no account but `own` has `word` for a verified e-mail address or an external id, if it is an address: it is
/// to be the `field` of the account. A word by which people log in means one account.
///
/// That is no constraint of the table, because it may hold such addresses already, and because super users, who are not
/// asked, may let people share one: whoever shares it logs in with the external id. Two who write the same address at
/// once may both have it: it is verified of neither, so that it means nobody.
///
/// # Errors
/// Another account has it; the caller has asked too often, whatever the answers were.
async fn require_free(cx: &Context, field: &str, word: &str, own: &str) -> Result<()> {
    // Of external ids that are no address the table takes care.
    if !word.contains('@') || cx.authorizer().is_superuser(cx).await? {
        return Ok(());
    }
    let tries = cx.service::<TryService>()?;
    let account = cx.caller().user_id().unwrap_or_default();
    tries.0.ask(Guess::Address, account, cx.steady())?;
    let addressed = user::Column::EmailVerified
        .eq(true)
        .and(is(user::Column::Email, word));
    let others = user::Entity::find()
        .filter(user::Column::Id.ne(own))
        .filter(addressed.or(is(user::Column::Eid, word)))
        .limit(1);
    let others: Vec<User> = db::load(cx, others).await?;
    match others.is_empty() {
        true => Ok(()),
        false => Err(Error::taken(
            field,
            "belongs to another account: use another one",
        )),
    }
}
