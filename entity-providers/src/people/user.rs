//! `/direct/user`: the people who can log in.
//!
//! Users see and change themselves. Whoever may not see others gets the same answer for those that exist and
//! those that don't, because ids and e-mail addresses can be guessed.

mod find;
pub mod known;
mod name;
pub mod operator;
mod password;
#[cfg(test)]
mod tests;
mod tries;
mod view;
mod write;

pub(crate) use write::check_eid;

use entity_core::db::{self, RowPolicy, Secret};
use entity_core::wire::{Millis, Moment};
use entity_core::{
    Access, Action, Actions, Arguments, Context, Delete, Done, Entity, Error, Need, Operation,
    Permit, Read, Result, Search, Verb, standard,
};
use serde::{Serialize, Serializer};

use crate::base::fields::Properties;

pub(crate) use find::{by_eid, by_names, lower};
pub use find::{credentials, find, keep_hash, note_login};
pub(crate) use name::{FULL_NAME, FULL_NAME_FOLDED, NAME_OR_NOTHING, SORT_NAME};
pub use name::{display_name, full_name, sort_name};
pub use password::{NewPassword, PasswordHash, PasswordService, Passwords};
pub use tries::{Guess, Tries, TryService};

/// The account-level function of those who may see others.
const VIEW_ANY: &str = "user.view.any";
/// The event that ends the sessions of a user, but for that in which they themselves changed something.
pub const CREDENTIALS: &str = "user.credentials";
/// The detail of that event which ends the private feeds of the user as well.
pub const ENDS_FEEDS: &str = "endsFeeds";
/// The kind of account that those make who are no super users, and that nobody asked to be another.
pub(crate) const USUAL_TYPE: &str = "registered";
/// The kind of account of teaching staff: the realm `!user.template.maintain` lets it make courses and enrol people.
pub(crate) const TEACHING_TYPE: &str = "maintain";

const ACCESS: Access = Access {
    read: Need::Session,
    create: Need::Account("user.add"),
    update: Need::Session,
    delete: Need::Superuser,
};

const PARAMETERS: &[(&str, &str)] = &[
    ("search", "words in the ids, names and e-mail addresses"),
    ("criteria", "the same as `search`"),
    ("email", "the e-mail address, in whatever case"),
];

/// Returns whether `name`, a segment of a path, is the caller: `me`, or the caller's internal or external id.
pub(crate) fn is_caller(cx: &Context, name: &str) -> bool {
    let own = cx.caller().user.as_ref();
    own.is_some_and(|it| name == "me" || it.id == name || it.eid == name)
}

/// A person who can log in.
#[standard(version, alias(display_id = eid, modified_date = last_modified))]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    prefix = "user",
    unlisted,
    own = "current",
    plural = "Accounts",
    singular = "Account",
    table = "user_account"
)]
#[entity(access = ACCESS, permits = Self::decide, settle = Self::settle, narrow = narrow)]
#[entity(verbs(list, create, update), order = "lastName,firstName,id", max = 500, parameters = PARAMETERS)]
pub struct User {
    /// The internal id.
    #[entity(id, owner)]
    pub id: String,
    /// The external id, which the user types to log in; null of the user that stands for nobody.
    #[serde(serialize_with = "nobody_as_null")]
    #[entity(on_create, unique, search, max = 99, label = "User name")]
    #[entity(hint = "The name with which the person logs in. It never changes.")]
    pub eid: String,
    /// The name.
    #[entity(title, computed = |it, _| display_name(&it.first_name, &it.last_name, &it.eid))]
    #[entity(label = "Name")]
    pub display_name: String,
    /// The name as lists are sorted by it.
    #[entity(computed = |it, _| sort_name(&it.first_name, &it.last_name, &it.eid), for_programs)]
    pub sort_name: String,
    /// The first name.
    #[entity(optional, search, max = 200)]
    pub first_name: String,
    /// The last name.
    #[entity(optional, search, max = 200)]
    pub last_name: String,
    /// The e-mail address, perhaps empty.
    #[entity(optional, search, email, max = 254, label = "E-mail")]
    pub email: String,
    /// True if the e-mail address is known to be the user's, because an administrator set it. Only then it stands for the
    /// account: at a login, in an invitation, where members are named, and as taken. An address that users set themselves
    /// is not. Only administrators see and change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(column = "is_email_verified", uncompared, sight = RowPolicy::Holds(VIEW_ANY))]
    #[entity(label = "E-mail is verified")]
    #[entity(
        hint = "Tick if it is certain that the address is the person’s. Only then it stands for the account, at a login for example."
    )]
    pub email_verified: Option<bool>,
    /// The kind of account, such as `registered`. Only administrators change it.
    #[entity(optional, max = 99, default = USUAL_TYPE, label = "Kind of account")]
    pub r#type: String,
    /// The reference of who made the account.
    #[entity(computed = |it, _| it.created_by.as_ref().map(|it| format!("/user/{it}")))]
    #[entity(for_programs)]
    pub owner: Option<String>,
    /// A new password, 8 to 1024 bytes. It is never shown.
    #[entity(computed, writable, new_password, max = 1024)]
    #[entity(hint = "At least 8 characters.")]
    pub password: Option<String>,
    /// The present password, which whoever changes their own sends along. It is never shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(computed, writable, password, max = 1024)]
    pub current_password: Option<String>,
    /// True if the private feeds go on when the password changes. They end unless this is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(computed, writable, label = "Private feeds go on")]
    #[entity(hint = "Tick if addresses of private feeds go on to work when the password changes.")]
    pub keep_feeds: Option<bool>,
    /// Further properties.
    #[entity(kind = Object, for_programs)]
    pub props: Properties,
    /// The reference.
    #[entity(computed = |it, _| format!("/user/{}", it.id), for_programs)]
    pub reference: String,
    /// The address of the user's files.
    #[entity(address, computed = Self::address, for_programs)]
    pub url: String,
    /// True if the account is shut. Only administrators see and change it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[entity(column = "is_disabled", uncompared, sight = RowPolicy::Holds(VIEW_ANY), label = "Shut")]
    pub disabled: Option<bool>,
    /// When the account was made.
    #[entity(column = "created", uncompared, read_only, label = "Created")]
    pub created_date: Option<Millis>,
    /// When the account was made.
    #[entity(computed = |it, _| it.created_date.map(|it| it.0.into()), for_programs)]
    pub created_time: Option<Moment>,
    /// When it last changed.
    #[entity(column = "modified", uncompared, read_only, label = "Last changed")]
    pub last_modified: Option<Millis>,
    /// When it last changed.
    #[entity(computed = |it, _| it.last_modified.map(|it| it.0.into()), for_programs)]
    pub modified_time: Option<Moment>,
    /// The hash of the password; none if another directory checks it.
    #[serde(skip)]
    #[entity(hidden)]
    pub password_hash: Secret,
    /// The internal id of who made the account.
    #[serde(skip)]
    #[entity(hidden)]
    pub created_by: Option<String>,
}

entity_core::register!(User, edge = password::edge);

/// Programs that log people in ask whether the external id is null, and let in whoever has one.
fn nobody_as_null<S: Serializer>(eid: &str, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    match eid {
        "" => serializer.serialize_none(),
        eid => serializer.serialize_str(eid),
    }
}

impl User {
    fn address(&self, cx: &Context) -> String {
        let id = entity_core::encode_segment(&self.id);
        format!("{}/access/user/{id}", cx.base_url())
    }

    async fn decide(cx: &Context, user: &Self, operation: Operation) -> Result<Permit> {
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

/// Returns whether the caller may see others.
pub(crate) async fn may_view(cx: &Context) -> Result<bool> {
    cx.authorizer().holds(cx, VIEW_ANY).await
}

async fn demand_view(cx: &Context) -> Result<()> {
    match may_view(cx).await? {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

/// The internal id of the caller, if `id` names them: an internal or external id or `id=` and the internal id.
fn own_id<'a>(cx: &'a Context, id: &str) -> Option<&'a str> {
    let is_named = |it: &&entity_core::access::User| {
        it.id == id || id.strip_prefix("id=") == Some(&it.id) || it.eid.eq_ignore_ascii_case(id)
    };
    let caller = cx.caller().user.as_deref().filter(is_named);
    caller.map(|it| it.id.as_str())
}

impl Read for User {
    /// By internal or external id, or as `id=` and the internal id.
    async fn read(cx: &Context, id: &str) -> Result<Option<Self>> {
        if let Some(own) = own_id(cx, id) {
            return db::read(cx, own).await;
        }
        demand_view(cx).await?;
        match id.strip_prefix("id=") {
            Some(id) => db::read(cx, id).await,
            None => find::by_any_id(cx, id).await,
        }
    }

    /// By internal ids.
    async fn read_many(cx: &Context, ids: &[String]) -> Result<Vec<Self>> {
        db::read_many(cx, ids).await
    }
}

/// Only those who may see others list them, by the parameters of existing clients as well.
async fn narrow(cx: &Context, search: &mut Search) -> Result<()> {
    demand_view(cx).await?;
    crate::base::search::add_words(search, &["search", "criteria"])?;
    if let Some(email) = search.parameter("email") {
        let email = crate::base::search::plain("email", email)?;
        let found = find::by_email(cx, &email).await?;
        search.narrow(User::FIELD.id.is_in(found.into_iter().map(|it| it.id)));
    }
    Ok(())
}

impl Delete for User {
    async fn delete(cx: &Context, current: Self) -> Result<()> {
        if cx.caller().user_id() == Some(&current.id) {
            return Err(Error::conflict(
                "nobody deletes their own account: ask another administrator",
            ));
        }
        cx.emit(CREDENTIALS, &current.reference, None);
        db::delete_of_person(cx, &current.id).await?;
        db::delete(cx, current).await
    }
}

impl Actions for User {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "current", Need::Public, current)
                .doc("The user who asks; one without an id if nobody is logged in."),
            Action::entity(Verb::Get, "exists", Need::Session, exists)
                .doc("Whether there is such a user."),
        ]
    }
}

async fn current(cx: &Context, _arguments: Arguments) -> Result<User> {
    let Some(id) = cx.caller().user_id() else {
        return Ok(User::default());
    };
    let found = db::read(cx, id).await?;
    found.ok_or_else(Error::unauthenticated)
}

async fn exists(_cx: &Context, _user: User, _: Arguments) -> Result<Done> {
    Ok(Done)
}
