//! `/direct/user`: the people who can log in.
//!
//! Users see and change themselves. Whoever may not see others gets the same answer for those that exist and
//! those that don't, because ids and e-mail addresses can be guessed.

pub mod known;
mod login;
mod lookup;
mod name;
pub mod operator;
mod password;
mod query;
mod tries;
mod unique;
mod write;

use std::collections::BTreeMap;

use entity_core::db::Counted;
use entity_core::wire::{Millis, Moment};
use entity_core::{
    Access, Action, Actions, Answers, Arguments, Context, Create, Delete, Entity, Error, Fields,
    List, Need, Operation, Outcome, Page, Permit, Provider, Read, Result, Search, Update, Verb,
    Version,
};
use serde::Serialize;

use crate::db::user_account;

pub use login::{Credentials, credentials, keep_hash, note_login};
pub(crate) use lookup::by_names;
pub(crate) use name::{FULL_NAME, NAME_OR_NOTHING, SORT_NAME};
pub use name::{display_name, full_name, sort_name};
pub use password::{NewPassword, PasswordHash, PasswordService, Passwords};
pub use query::find;
pub use tries::{Guess, Tries, TryService};
pub(crate) use write::{TEACHING_TYPE, USUAL_TYPE};

/// The account-level function of those who may see others.
const VIEW_ANY: &str = "user.view.any";
/// The event that ends the sessions of a user, but for that in which they themselves changed something.
pub const CREDENTIALS: &str = "user.credentials";
/// The detail of that event which ends the private feeds of the user as well.
pub const ENDS_FEEDS: &str = "endsFeeds";

/// The provider of users.
#[derive(Clone, Copy, Debug)]
pub struct Users;

entity_core::register!(Users);

/// What is known of a person counts for that person, whoever made the account.
const ACCOUNT: Counted = Counted::new(
    "user_account",
    &["eid", "email", "first_name", "last_name", "type", "props"],
)
.owned_by("id");

/// A person who can log in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(version = Self::to_version)]
pub struct User {
    /// The internal id.
    #[entity(id, column)]
    pub id: String,
    /// The external id, which the user types to log in.
    #[entity(required, on_create, search, max = 99, column)]
    pub eid: String,
    /// The external id, as people are shown it.
    pub display_id: String,
    /// The name.
    #[entity(title)]
    pub display_name: String,
    /// The name as lists are sorted by it.
    pub sort_name: String,
    /// The first name.
    #[entity(writable, search, max = 200, column = "first_name")]
    pub first_name: String,
    /// The last name.
    #[entity(writable, search, max = 200, column = "last_name")]
    pub last_name: String,
    /// The e-mail address, perhaps empty.
    #[entity(writable, search, email, max = 254, column)]
    pub email: String,
    /// The kind of account, such as `registered`. Only administrators change it.
    #[entity(writable, max = 99, column, default = write::USUAL_TYPE)]
    pub r#type: String,
    /// The reference of who made the account.
    pub owner: Option<String>,
    /// A new password, 8 to 1024 bytes. It is never shown.
    #[entity(writable, new_password, max = 1024)]
    pub password: Option<String>,
    /// The present password, which whoever changes their own sends along. It is never shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(writable, password, max = 1024)]
    pub current_password: Option<String>,
    /// Whether the private feeds go on when the password changes. They end unless this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(writable)]
    pub keep_feeds: Option<bool>,
    /// Further properties.
    #[entity(kind = Object, writable)]
    pub props: BTreeMap<String, String>,
    /// The reference.
    pub reference: String,
    /// The address of the user's files.
    #[entity(address)]
    pub url: String,
    /// Whether the account is shut. Only administrators see and change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(writable)]
    pub disabled: Option<bool>,
    /// When the account was made.
    pub created_date: Option<Millis>,
    /// When the account was made.
    pub created_time: Option<Moment>,
    /// When it last changed.
    pub last_modified: Option<Millis>,
    /// When it last changed.
    pub modified_date: Option<Millis>,
    /// When it last changed.
    pub modified_time: Option<Moment>,
    #[serde(skip)]
    #[entity(skip)]
    pub(crate) row_version: i64,
}

impl User {
    fn new(row: user_account::Model, base_url: &str) -> Self {
        let created = crate::db::instant(row.created);
        let modified = crate::db::instant(row.modified);
        Self {
            display_id: row.eid.clone(),
            display_name: display_name(&row.first_name, &row.last_name, &row.eid),
            sort_name: sort_name(&row.first_name, &row.last_name, &row.eid),
            owner: row.created_by.map(|it| format!("/user/{it}")),
            password: None,
            current_password: None,
            keep_feeds: None,
            props: serde_json::from_str(&row.props).unwrap_or_default(),
            reference: format!("/user/{}", row.id),
            url: format!(
                "{base_url}/access/user/{}",
                entity_core::encode_segment(&row.id)
            ),
            disabled: Some(row.is_disabled),
            created_date: Some(Millis(created)),
            created_time: Some(created.into()),
            last_modified: Some(Millis(modified)),
            modified_date: Some(Millis(modified)),
            modified_time: Some(modified.into()),
            row_version: row.version,
            id: row.id,
            eid: row.eid,
            first_name: row.first_name,
            last_name: row.last_name,
            email: row.email,
            r#type: row.r#type,
        }
    }

    fn to_version(&self) -> Version {
        Version::of(&(&self.id, self.row_version, self.disabled))
    }
}

impl Provider for Users {
    type Entity = User;
    const PREFIX: &'static str = "user";
    const PLURAL: Option<&'static str> = Some("People");
    const ACCESS: Access = Access {
        read: Need::Session,
        create: Need::Account("user.add"),
        update: Need::Session,
        delete: Need::Superuser,
    };
    const COUNTED: &'static [Counted] = &[ACCOUNT];

    async fn permits(cx: &Context, user: &User, operation: Operation) -> Result<Permit> {
        // Nobody has no id, and neither has the user that stands for nobody.
        let is_self = cx.caller().user_id().unwrap_or_default() == user.id;
        let is_allowed = match operation {
            Operation::Read => is_self || may_view(cx).await?,
            Operation::Update if is_self => cx.authorizer().holds(cx, "user.upd.own").await?,
            Operation::Update => cx.authorizer().is_superuser(cx).await?,
            Operation::Create | Operation::Delete => true,
        };
        match is_allowed {
            true => Ok(Permit::Allowed),
            false => Ok(Permit::Forbidden),
        }
    }
}

/// Whether the caller may see others.
pub(crate) async fn may_view(cx: &Context) -> Result<bool> {
    cx.authorizer().holds(cx, VIEW_ANY).await
}

/// Whether `id`, an internal or external id or `id=` and the internal id, is that of the caller.
fn is_self(cx: &Context, id: &str) -> bool {
    cx.caller().user.as_deref().is_some_and(|it| {
        it.id == id || id.strip_prefix("id=") == Some(&it.id) || it.eid.eq_ignore_ascii_case(id)
    })
}

impl Read for Users {
    /// By internal or external id, or as `id=` and the internal id.
    async fn read(cx: &Context, id: &str) -> Result<Option<User>> {
        let caller = cx.caller().user.as_deref();
        let is_self = is_self(cx, id);
        let sees_all = may_view(cx).await?;
        if !is_self && !sees_all {
            return Err(Error::forbidden());
        }
        let found = match (is_self, caller) {
            (true, Some(caller)) => query::by_id(cx, &caller.id).await?,
            _ => query::by_any_id(cx, id).await?,
        };
        Ok(found.map(|row| query::shown(cx, row, sees_all)))
    }

    /// By internal ids.
    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<User>> {
        let sees_all = may_view(cx).await?;
        let rows = query::by_ids(cx, ids).await?.into_iter();
        Ok(rows.map(|it| query::shown(cx, it, sees_all)).collect())
    }
}

impl List for Users {
    const PARAMETERS: &'static [(&'static str, &'static str)] = &[
        ("search", "words in the ids, names and e-mail addresses"),
        ("criteria", "the same as `search`"),
        ("email", "the e-mail address, in whatever case"),
    ];
    const MAX: u64 = 500;
    const ORDER: &'static str = "lastName,firstName,id";

    async fn list(cx: &Context, search: &Search) -> Result<Page<User>> {
        if !may_view(cx).await? {
            return Err(Error::forbidden());
        }
        query::list(cx, search).await
    }

    async fn count(cx: &Context, search: &Search) -> Result<Option<u64>> {
        if !may_view(cx).await? {
            return Err(Error::forbidden());
        }
        query::count(cx, search).await.map(Some)
    }
}

impl Create for Users {
    type Draft = Fields;

    fn site(_draft: &Fields) -> Option<&str> {
        None
    }

    async fn create(cx: &Context, draft: Fields) -> Result<User> {
        write::create(cx, draft).await
    }
}

impl Update for Users {
    type Changes = Fields;

    async fn update(cx: &Context, current: User, changes: Fields) -> Result<User> {
        write::update(cx, current, changes).await
    }
}

impl Delete for Users {
    async fn delete(cx: &Context, current: User) -> Result<()> {
        write::delete(cx, current).await
    }
}

impl Actions for Users {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "current", Need::Public, current)
                .doc("The user who asks; one without an id if nobody is logged in.")
                .answers(Answers::Entity),
            Action::on_entity(
                Verb::Get,
                "exists",
                Need::Session,
                |_cx, _user, _arguments| Box::pin(async { Ok(Outcome::Done) }),
            )
            .doc("Whether there is such a user.")
            .answers(Answers::Nothing),
        ]
    }
}

async fn current(cx: &Context, _arguments: Arguments) -> Result<Outcome<Users>> {
    let Some(id) = cx.caller().user_id() else {
        return Ok(Outcome::Entity(User::default()));
    };
    let found = query::by_id(cx, id).await?;
    let row = found.ok_or_else(Error::unauthenticated)?;
    Ok(Outcome::Entity(query::shown(cx, row, may_view(cx).await?)))
}

#[cfg(test)]
mod tests;
