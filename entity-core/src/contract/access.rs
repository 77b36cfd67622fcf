//! Callers, the access requirements of entity types, and the authorizer that decides about them.

use std::sync::Arc;

use async_trait::async_trait;

use crate::contract::context::Context;
use crate::primitives::error::Result;

/// The identity on whose behalf a request runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The logged-in user, if there is one.
    pub user: Option<Arc<User>>,
    /// The handle of the session: it identifies the session but is no credential for it.
    pub session: Option<Arc<str>>,
}

/// The identifiers of a logged-in user, which every part of the service may need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The internal id.
    pub id: String,
    /// The external id, which the user types to log in.
    pub eid: String,
}

impl Caller {
    /// Creates a caller who is not logged in.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// Creates a caller who is the user with this id and external id, without a session: for tests and for work that
    /// the service does itself.
    pub fn user(id: impl Into<String>, eid: impl Into<String>) -> Self {
        Self {
            user: Some(Arc::new(User {
                id: id.into(),
                eid: eid.into(),
            })),
            session: None,
        }
    }

    /// Returns the internal id of the user, if the caller is logged in.
    pub fn user_id(&self) -> Option<&str> {
        self.user.as_ref().map(|it| it.id.as_str())
    }

    /// Returns whether the caller is not logged in.
    pub fn is_anonymous(&self) -> bool {
        self.user.is_none()
    }
}

/// An access requirement that a caller must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// No requirement: everybody is admitted.
    Public,
    /// The caller has a session.
    Session,
    /// The caller has super-user rights.
    Superuser,
    /// The caller holds this function in the site of the entity.
    Site(&'static str),
    /// The caller holds the first function in the site of the entity, or holds the second one there and owns the
    /// entity.
    SiteOrOwn(&'static str, &'static str),
    /// The caller holds this function at the level of the account, in no site.
    Account(&'static str),
    /// With a session, the caller meets the other need. Without one, the public holds this function in the site of the
    /// entity, as it does where the site is open to public view:
    /// `Need::PublicView("annc.read", &Need::Site("annc.read"))`. For an entity that the public may not see, an
    /// anonymous caller gets the same error as for one that does not exist: it asks for a login, which may help.
    PublicView(&'static str, &'static Self),
}

impl Need {
    /// Returns whether a caller without a session may meet this need.
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Public | Self::PublicView(..))
    }

    /// Returns the functions of which the need asks for one or another.
    pub(crate) fn functions(self) -> Vec<&'static str> {
        match self {
            Self::Public | Self::Session | Self::Superuser => Vec::new(),
            Self::Site(function) | Self::Account(function) => vec![function],
            Self::SiteOrOwn(any, own) => vec![any, own],
            Self::PublicView(function, need) => {
                let mut functions = need.functions();
                functions.push(function);
                functions
            }
        }
    }

    /// Resolves `PublicView` for `caller`: to `Site` for an anonymous caller, and to the other need for all others.
    pub(crate) fn of(self, caller: &Caller) -> Self {
        match self {
            Self::PublicView(function, _) if caller.is_anonymous() => Self::Site(function),
            Self::PublicView(_, need) => need.of(caller),
            need => need,
        }
    }

    /// Returns whether `caller` is anonymous and this need admits such callers only to what the public may see.
    pub(crate) fn is_partly_public(self, caller: &Caller) -> bool {
        caller.is_anonymous() && matches!(self, Self::PublicView(..))
    }
}

/// The access requirements of a type, one for each operation.
///
/// There is no default, so that a forgotten declaration can't expose data.
/// [`Provider::permits`](crate::Provider::permits) restricts the access to single entities further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The requirement to read an entity and to see it in lists.
    pub read: Need,
    /// The requirement to create an entity.
    pub create: Need,
    /// The requirement to change an entity.
    pub update: Need,
    /// The requirement to delete an entity.
    pub delete: Need,
}

impl Access {
    /// Everybody may read; only super users may write.
    pub const PUBLIC: Self = Self::new(Need::Public, Need::Superuser);
    /// Everybody with a session may read; only super users may write.
    pub const SESSION: Self = Self::new(Need::Session, Need::Superuser);
    /// Only super users may read and write.
    pub const SUPERUSER: Self = Self::new(Need::Superuser, Need::Superuser);

    /// Creates requirements from one need for reading and one for all writes.
    pub const fn new(read: Need, write: Need) -> Self {
        Self {
            read,
            create: write,
            update: write,
            delete: write,
        }
    }

    /// Returns the need for `operation`.
    pub const fn need(&self, operation: Operation) -> Need {
        match operation {
            Operation::Read => self.read,
            Operation::Create => self.create,
            Operation::Update => self.update,
            Operation::Delete => self.delete,
        }
    }
}

/// An operation on an entity, as permissions distinguish operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The entity is shown, alone, in a list or in a feed.
    Read,
    /// The entity is created.
    Create,
    /// The entity is changed.
    Update,
    /// The entity is deleted.
    Delete,
}

/// The decision of a provider about an operation on one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// The provider has no objection.
    Allowed,
    /// The caller may know of the entity but may not carry out the operation.
    Forbidden,
    /// The caller must not learn that the entity exists.
    Hidden,
}

/// The decision of the authorizer about a function in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The caller holds the function.
    Granted,
    /// The caller does not hold the function.
    Denied,
    /// The site does not exist.
    UnknownSite,
}

impl Decision {
    /// Returns whether the caller holds the function.
    pub fn is_granted(self) -> bool {
        self == Self::Granted
    }
}

/// The sites whose entities a list may show. The default is none, so that a search that did not pass the gate finds
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All sites, and the entities that belong to no site.
    Everything,
    /// Only the sites with these ids.
    Sites(Vec<String>),
}

impl Default for Scope {
    fn default() -> Self {
        Self::Sites(Vec::new())
    }
}

impl Scope {
    /// Returns whether `site` is within the scope.
    pub fn contains(&self, site: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Sites(sites) => sites.iter().any(|it| it == site),
        }
    }
}

/// Decides who holds which function in which site. Nothing else knows about roles.
///
/// Functions are named permissions such as `annc.read`. A function whose stem occurs in no role follows the rights on
/// the site itself: `….read` requires `site.visit`, every other function `site.upd`.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Returns whether the caller holds `function` in `site`.
    ///
    /// # Errors
    /// Returns an error if the question can't be decided. The same holds for every method below, and no caller takes an
    /// error for a grant.
    async fn decide(&self, cx: &Context, function: &str, site: &str) -> Result<Decision>;

    /// Returns whether the caller's account holds `function`, in no site.
    async fn holds(&self, cx: &Context, function: &str) -> Result<bool>;

    /// Returns whether the caller is a super user.
    async fn is_superuser(&self, cx: &Context) -> Result<bool>;

    /// Returns the sites in which the caller holds `function`.
    async fn scope(&self, cx: &Context, function: &str) -> Result<Scope>;

    /// Returns the table that says who is in which group, with the columns `group_id` and `user_id`; `None` if the
    /// authorizer knows no groups.
    fn group_members(&self) -> Option<&'static str> {
        None
    }

    /// Returns one of `groups` that is not a group of `site`, if there is one.
    async fn unknown_group(
        &self,
        _cx: &Context,
        _site: &str,
        groups: &[String],
    ) -> Result<Option<String>> {
        Ok(groups.first().cloned())
    }

    /// Returns one of `users`, which are internal ids, that is no member of `site`, if there is one. An authorizer that
    /// knows no members takes everybody for one.
    async fn stranger(
        &self,
        _cx: &Context,
        _site: &str,
        _users: &[&str],
    ) -> Result<Option<String>> {
        Ok(None)
    }

    /// Returns the ids of the sites that the caller belongs to, whatever the caller may do there.
    async fn own_sites(&self, _cx: &Context) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Returns a number that differs after every change to the data on which decisions depend, as the unit of work of
    /// `cx` sees that data; `None` if the authorizer does not count changes.
    async fn epoch(&self, _cx: &Context) -> Result<Option<i64>> {
        Ok(None)
    }
}
