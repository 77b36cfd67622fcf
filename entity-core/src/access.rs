//! Who asks, what a type demands, and who decides.

use std::sync::Arc;

use async_trait::async_trait;

use crate::context::Context;
use crate::error::Result;

/// On whose behalf a request runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The logged-in user, if there is one.
    pub user: Option<Arc<User>>,
    /// The handle of the session: names it without being its credential.
    pub session: Option<Arc<str>>,
}

/// The facts of a logged-in user that every part of the service may need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The internal id.
    pub id: String,
    /// The external id, which the user types to log in.
    pub eid: String,
}

impl Caller {
    /// Nobody.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// The user with this id and external id, without a session: for tests and for work of the service itself.
    pub fn user(id: impl Into<String>, eid: impl Into<String>) -> Self {
        Self {
            user: Some(Arc::new(User {
                id: id.into(),
                eid: eid.into(),
            })),
            session: None,
        }
    }

    /// The internal id of the user, if somebody is logged in.
    pub fn user_id(&self) -> Option<&str> {
        self.user.as_ref().map(|it| it.id.as_str())
    }

    /// Whether nobody is logged in.
    pub fn is_anonymous(&self) -> bool {
        self.user.is_none()
    }
}

/// What a caller must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Public,
    /// A session.
    Session,
    /// Super-user rights.
    Superuser,
    /// This function in the entity's site.
    Site(&'static str),
    /// The first function in the entity's site, or the second one and be the entity's owner.
    SiteOrOwn(&'static str, &'static str),
    /// This function at the level of the account, in no site.
    Account(&'static str),
    /// With a session, the other need. Without one, this function in the entity's site, which the public holds
    /// where the site is open to its view: `Need::PublicView("annc.read", &Need::Site("annc.read"))`. What the
    /// public may not see is refused as if it were not there: a login may help.
    PublicView(&'static str, &'static Self),
}

impl Need {
    /// Whether somebody without a session may have it.
    pub const fn is_public(self) -> bool {
        matches!(self, Self::Public | Self::PublicView(..))
    }

    /// What it comes to for `caller`.
    pub(crate) fn of(self, caller: &Caller) -> Self {
        match self {
            Self::PublicView(function, _) if caller.is_anonymous() => Self::Site(function),
            Self::PublicView(_, need) => need.of(caller),
            need => need,
        }
    }

    /// Whether `caller` sees some of what needs it only because that is public.
    pub(crate) fn is_partly_public(self, caller: &Caller) -> bool {
        caller.is_anonymous() && matches!(self, Self::PublicView(..))
    }
}

/// What a type demands of those who read and write its entities.
///
/// There is no default: a forgotten declaration must not be a leak.
/// [`Provider::permits`](crate::Provider::permits) narrows it for one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// To read one and to see it in lists.
    pub read: Need,
    /// To create one.
    pub create: Need,
    /// To change one.
    pub update: Need,
    /// To delete one.
    pub delete: Need,
}

impl Access {
    /// Everybody reads, nobody but super users writes.
    pub const PUBLIC: Self = Self::new(Need::Public, Need::Superuser);
    /// Whoever has a session reads, nobody but super users writes.
    pub const SESSION: Self = Self::new(Need::Session, Need::Superuser);
    /// Super users only.
    pub const SUPERUSER: Self = Self::new(Need::Superuser, Need::Superuser);

    /// One need to read and one for all writes.
    pub const fn new(read: Need, write: Need) -> Self {
        Self {
            read,
            create: write,
            update: write,
            delete: write,
        }
    }

    /// What `operation` demands.
    pub const fn need(&self, operation: Operation) -> Need {
        match operation {
            Operation::Read => self.read,
            Operation::Create => self.create,
            Operation::Update => self.update,
            Operation::Delete => self.delete,
        }
    }
}

/// What is done with an entity, as permissions see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// It is shown, alone, in a list or in a feed.
    Read,
    /// It comes into being.
    Create,
    /// It changes.
    Update,
    /// It is deleted.
    Delete,
}

/// A provider's word on one entity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// Nothing speaks against it.
    Allowed,
    /// The caller may know of it and may not do this.
    Forbidden,
    /// The caller must not know that it exists.
    Hidden,
}

/// The authorizer's word on a function in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The caller holds it.
    Granted,
    /// The caller does not hold it.
    Denied,
    /// There is no such site.
    UnknownSite,
}

impl Decision {
    /// Whether the caller holds it.
    pub fn is_granted(self) -> bool {
        self == Self::Granted
    }
}

/// The sites that a list may show entities of.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Scope {
    /// Every site, and what belongs to none.
    #[default]
    Everything,
    /// These.
    Sites(Vec<String>),
}

impl Scope {
    /// Whether `site` is within.
    pub fn contains(&self, site: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Sites(sites) => sites.iter().any(|it| it == site),
        }
    }
}

/// Decides who holds which function where. The only place that knows roles.
///
/// Functions are names such as `annc.read`. A function whose stem no role knows follows the site's own
/// rights: `….read` needs `site.visit`, everything else `site.upd`.
#[async_trait]
pub trait Authorizer: Send + Sync {
    /// Whether the caller holds `function` in `site`.
    ///
    /// # Errors
    /// The question could not be decided. Every method below says so in the same way, and no caller takes
    /// an error for a yes.
    async fn decide(&self, cx: &Context, function: &str, site: &str) -> Result<Decision>;

    /// Whether the caller's account holds `function`, in no site.
    async fn holds(&self, cx: &Context, function: &str) -> Result<bool>;

    /// Whether the caller is a super user.
    async fn is_superuser(&self, cx: &Context) -> Result<bool>;

    /// The sites in which the caller holds `function`.
    async fn scope(&self, cx: &Context, function: &str) -> Result<Scope>;

    /// A number that is another one after every change to what decisions are made of, as the unit of work of `cx` sees
    /// it; `None` if the authorizer counts no changes.
    async fn epoch(&self, _cx: &Context) -> Result<Option<i64>> {
        Ok(None)
    }
}
