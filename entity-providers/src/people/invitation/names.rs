//! The names by which the caller can be invited.

use entity_core::db::Sql;
use entity_core::{Context, Result};
use sea_orm::{ColumnTrait, Condition};

use crate::people::user;
use crate::storage::db::invitation::Column;

/// The names that the caller and nobody else has at this moment.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    /// The internal id, which is compared as it is.
    id: Option<String>,
    /// The external id and the e-mail address, in lower case.
    lower: Vec<String>,
}

impl Names {
    /// The names of the caller. A name that stands for somebody else, or an address that several accounts have, is none.
    pub(super) async fn of_caller(cx: &Context) -> Result<Self> {
        let id = cx.user_id()?;
        let Some(account) = user::find(cx, id).await? else {
            return Ok(Self::default());
        };
        let candidates = [
            account.id,
            lower(account.eid.trim()),
            lower(account.email.trim()),
        ];
        let found = user::by_names(cx, &candidates).await?;
        let [own, words @ ..] = candidates;
        let is_own = |name: &String| found.get(name).is_some_and(|it| it == id);
        Ok(Self {
            id: Some(own).filter(is_own),
            lower: words
                .into_iter()
                .filter(|it| !it.is_empty() && is_own(it))
                .collect(),
        })
    }

    /// Returns whether `invitee`, as it was typed, is one of them.
    pub(super) fn has(&self, invitee: &str) -> bool {
        self.id.as_deref() == Some(invitee) || self.lower.contains(&lower(invitee))
    }

    /// The condition that an invitation is to one of them.
    pub(super) fn condition(&self) -> Condition {
        let of_words = Condition::any().add(Column::InviteeLower.is_in(&self.lower));
        of_words.add_option(self.id.as_ref().map(|it| Column::Invitee.eq(it)))
    }

    /// The same of the invitation `i` in SQL.
    pub(super) fn write(&self, sql: &mut Sql) -> Result<()> {
        sql.push("(i.invitee = ")
            .bind(self.id.clone().unwrap_or_default());
        sql.push(" OR i.invitee_lower").bind_list(&self.lower)?;
        sql.push(")");
        Ok(())
    }
}

/// How names are compared: without regard to case, as at a login.
pub(super) fn lower(name: &str) -> String {
    name.to_ascii_lowercase()
}
