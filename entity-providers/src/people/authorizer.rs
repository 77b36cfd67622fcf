//! The authorizer: roles in sites, the functions that they hold, and super users.
//!
//! The facts of decisions are kept in memory, because every request asks several times. Anything kept
//! is dropped when this process commits a change to it ([`RoleAuthorizer::forget`]), and within a second when
//! another machine does: each such change counts up the epoch in the database, which is looked at now and then.
//! A unit of work that writes asks its own transaction instead, and so sees what it has just changed.
//!
//! Whatever reads the database is boxed where it begins: a decision from memory is taken a hundred times for a
//! list, and should not carry the state of queries that it does not make.

mod epoch;
mod grants;
mod loading_cache;
mod maintained;
mod roles;
mod sites;
mod subject;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use async_trait::async_trait;
use entity_core::access::Authorizer;
use entity_core::db::Session;
use entity_core::engine::Event;
use entity_core::{Context, Decision, Result, Scope};

use epoch::Epoch;
use grants::Grants;
use loading_cache::LoadingCache;

use crate::people::membership::named::active_members;
use crate::people::site::id::ADMIN_SITE;

pub(crate) use grants::{OF_SITE, realm_of, stem};
pub(crate) use maintained::keep_maintained;
pub use sites::SiteFacts;
pub use subject::{Member, Subject};

/// The maximum number of users, and of sites, that are kept in memory.
const KEPT_USERS: usize = 20_000;
const KEPT_SITES: usize = 20_000;
/// There is one: the rest is room that the cache needs to work.
const KEPT_GRANTS: usize = 16;

/// Decides by the roles that users have in sites.
#[derive(Debug)]
pub struct RoleAuthorizer {
    epoch: Epoch,
    grants: LoadingCache<Grants>,
    sites: LoadingCache<Option<SiteFacts>>,
    subjects: LoadingCache<Subject>,
}

impl Default for RoleAuthorizer {
    fn default() -> Self {
        Self {
            epoch: Epoch::default(),
            grants: LoadingCache::new(KEPT_GRANTS),
            sites: LoadingCache::new(KEPT_SITES),
            subjects: LoadingCache::new(KEPT_USERS),
        }
    }
}

/// The authorizer of the service, for what providers ask beyond functions.
///
/// # Errors
/// The service has another one.
pub fn of(cx: &Context) -> Result<Arc<RoleAuthorizer>> {
    cx.service()
}

impl RoleAuthorizer {
    /// One that knows nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tells other machines, in the unit of work of `cx`, if `events` are of changes to what decisions are made of.
    pub async fn record(&self, cx: &Context, events: &[Event]) -> Result<()> {
        match events.iter().any(Self::concerns) {
            true => epoch::advance(cx).await,
            false => Ok(()),
        }
    }

    /// Returns whether `event` tells of a change to users, sites, members, groups or grants: then
    /// [`forget`](Self::forget) is due.
    pub fn concerns(event: &Event) -> bool {
        const STEMS: [&str; 5] = ["user", "site", "membership", "realm", "group"];
        const HARMLESS: [&str; 2] = ["user.login", "user.logout"];
        STEMS.contains(&grants::stem(&event.kind)) && !HARMLESS.contains(&event.kind.as_str())
    }

    /// Drops everything that is kept, and what is being loaded at this moment. To be called after a commit.
    pub fn forget(&self) {
        self.grants.forget();
        self.sites.forget();
        self.subjects.forget();
    }

    /// Returns the facts of the user `id`. An unknown user is one who belongs nowhere.
    pub async fn subject(&self, cx: &Context, id: &str) -> Result<Arc<Subject>> {
        let uses_kept = self.uses_kept(cx).await?;
        if let Some(subject) = uses_kept.then(|| self.subjects.get(id)).flatten() {
            return Ok(subject);
        }
        let load = Box::pin(async {
            let admin = self.site(cx, ADMIN_SITE).await?;
            Ok(Arc::new(subject::load(cx, id, (*admin).as_ref()).await?))
        });
        match uses_kept {
            true => self.subjects.load(id, load).await,
            false => cx.db()?.cached(id, load).await,
        }
    }

    /// Returns the facts of the site `id`, if there is one.
    pub async fn site(&self, cx: &Context, id: &str) -> Result<Arc<Option<SiteFacts>>> {
        let uses_kept = self.uses_kept(cx).await?;
        if let Some(facts) = uses_kept.then(|| self.sites.get(id)).flatten() {
            return Ok(facts);
        }
        let load = Box::pin(async {
            let loaded = self.load_sites(cx, &[id]).await?;
            Ok(loaded.into_iter().next().unwrap_or_default())
        });
        match uses_kept {
            true => self.sites.load(id, load).await,
            false => cx.db()?.cached(id, load).await,
        }
    }

    /// The title of the site `id`, if there is one.
    pub async fn site_title(&self, cx: &Context, id: &str) -> Result<Option<String>> {
        let facts = self.site(cx, id).await?;
        Ok((*facts).as_ref().map(|it| it.title.clone()))
    }

    /// The groups that the user `id` is in, of all sites.
    pub async fn groups_of(&self, cx: &Context, id: &str) -> Result<HashSet<String>> {
        Ok(self.subject(cx, id).await?.groups.clone())
    }

    /// The roles of the site `id`, each with the functions that it holds; none if there is no such site.
    pub async fn roles_of_realm(
        &self,
        cx: &Context,
        id: &str,
    ) -> Result<BTreeMap<String, BTreeSet<String>>> {
        let facts = self.site(cx, id).await?;
        let roles = (*facts).as_ref().map(|it| it.roles.sorted());
        Ok(roles.unwrap_or_default())
    }

    /// The functions that the caller holds in the site `id`, sorted. A super user holds all that any role holds.
    pub async fn functions_of_caller(&self, cx: &Context, id: &str) -> Result<BTreeSet<String>> {
        self.functions_of(cx, cx.caller().user_id(), id).await
    }

    /// The functions that `user` holds in the site `id`, as if they asked themselves; nobody is a stranger.
    pub async fn functions_of(
        &self,
        cx: &Context,
        user: Option<&str>,
        id: &str,
    ) -> Result<BTreeSet<String>> {
        let facts = self.site(cx, id).await?;
        let Some(facts) = &*facts else {
            return Ok(BTreeSet::new());
        };
        let subject = match user {
            Some(user) => Some(self.subject(cx, user).await?),
            None => None,
        };
        if subject.as_ref().is_some_and(|it| it.is_superuser) {
            return Ok(facts.roles.sorted().into_values().flatten().collect());
        }
        let grants = self.grants(cx).await?;
        let functions = rights(subject.as_deref(), facts, &grants);
        Ok(functions.into_iter().flatten().cloned().collect())
    }

    async fn subject_of_caller(&self, cx: &Context) -> Result<Option<Arc<Subject>>> {
        match cx.caller().user_id() {
            Some(id) => Ok(Some(self.subject(cx, id).await?)),
            None => Ok(None),
        }
    }

    /// The templates. They are many rows, and no unit of work changes them: those that write use what is kept, too.
    async fn grants(&self, cx: &Context) -> Result<Arc<Grants>> {
        if let Some(grants) = self.grants.get("") {
            return Ok(grants);
        }
        let load = Box::pin(async { Ok(Arc::new(grants::load(cx).await?)) });
        self.grants.load("", load).await
    }

    async fn load_sites(&self, cx: &Context, ids: &[&str]) -> Result<Vec<Arc<Option<SiteFacts>>>> {
        let grants = self.grants(cx).await?;
        let mut loaded = sites::load(cx, ids, &grants).await?;
        Ok(ids.iter().map(|id| Arc::new(loaded.remove(*id))).collect())
    }

    /// Only what reads by itself may use what is kept; before it does, it looks whether another machine changed it.
    async fn uses_kept(&self, cx: &Context) -> Result<bool> {
        if !matches!(cx.db()?, Session::Reader(..)) {
            return Ok(false);
        }
        if !self.epoch.is_fresh(cx) {
            Box::pin(self.epoch.follow(cx, || self.forget())).await?;
        }
        Ok(true)
    }

    /// Returns the facts of the sites `ids`, in no order; those that are not kept come in one go.
    pub(crate) async fn sites(
        &self,
        cx: &Context,
        ids: &[&str],
    ) -> Result<Vec<Arc<Option<SiteFacts>>>> {
        if !self.uses_kept(cx).await? {
            return self.load_sites(cx, ids).await;
        }
        let ticket = self.sites.ticket();
        let mut found = Vec::with_capacity(ids.len());
        let mut missing = Vec::new();
        for id in ids {
            match self.sites.get(id) {
                Some(facts) => found.push(facts),
                None => missing.push(*id),
            }
        }
        if !missing.is_empty() {
            let loaded = self.load_sites(cx, &missing).await?;
            for (id, facts) in missing.iter().zip(&loaded) {
                self.sites.put(ticket, id, facts);
            }
            found.extend(loaded);
        }
        Ok(found)
    }
}

/// The functions that somebody holds in a site.
fn rights<'a>(
    subject: Option<&Subject>,
    site: &'a SiteFacts,
    grants: &'a Grants,
) -> Option<&'a HashSet<String>> {
    if subject.is_some_and(|it| it.is_disabled) {
        return None;
    }
    match subject.and_then(|it| it.members.get(&site.id)) {
        Some(member) if member.is_active => site
            .roles
            .of(&member.role)
            .filter(|it| site.is_published || it.contains("site.visit.unp")),
        Some(_inactive) => None,
        None if site.is_pub_view && site.is_published => grants.public_view(),
        None => None,
    }
}

/// Returns whether `function` is among what somebody holds in `site`.
fn is_held(rights: Option<&HashSet<String>>, site: &SiteFacts, function: &str) -> bool {
    rights.is_some_and(|it| it.contains(site.roles.resolve(function)))
}

#[async_trait]
impl Authorizer for RoleAuthorizer {
    async fn decide(&self, cx: &Context, function: &str, site: &str) -> Result<Decision> {
        let facts = self.site(cx, site).await?;
        let Some(facts) = &*facts else {
            return Ok(Decision::UnknownSite);
        };
        let subject = self.subject_of_caller(cx).await?;
        if subject.as_ref().is_some_and(|it| it.is_superuser) {
            return Ok(Decision::Granted);
        }
        let grants = self.grants(cx).await?;
        match is_held(rights(subject.as_deref(), facts, &grants), facts, function) {
            true => Ok(Decision::Granted),
            false => Ok(Decision::Denied),
        }
    }

    async fn holds(&self, cx: &Context, function: &str) -> Result<bool> {
        let Some(subject) = self.subject_of_caller(cx).await? else {
            return Ok(false);
        };
        if subject.is_superuser {
            return Ok(true);
        }
        let is_usable = subject.is_known && !subject.is_disabled;
        if !is_usable {
            return Ok(false);
        }
        let grants = self.grants(cx).await?;
        Ok(grants.of_accounts(&subject.account_type, function))
    }

    async fn is_superuser(&self, cx: &Context) -> Result<bool> {
        let subject = self.subject_of_caller(cx).await?;
        Ok(subject.is_some_and(|it| it.is_superuser))
    }

    /// Sites that the caller does not belong to are not in it, even those that anybody may look at: they
    /// are found by naming them.
    async fn scope(&self, cx: &Context, function: &str) -> Result<Scope> {
        let Some(subject) = self.subject_of_caller(cx).await? else {
            return Ok(Scope::Sites(Vec::new()));
        };
        if subject.is_superuser {
            return Ok(Scope::Everything);
        }
        let grants = self.grants(cx).await?;
        let ids: Vec<&str> = subject.members.keys().map(String::as_str).collect();
        let sites = self.sites(cx, &ids).await?;
        // Most sites have the roles of a template, and most people one role in them: what these hold is asked once.
        let mut last: Option<(&HashSet<String>, bool)> = None;
        let mut held = Vec::new();
        for site in sites.iter().filter_map(|it| (**it).as_ref()) {
            let Some(rights) = rights(Some(&subject), site, &grants) else {
                continue;
            };
            let is_held = match last {
                Some((known, is_held)) if std::ptr::eq(known, rights) => is_held,
                _ => is_held(Some(rights), site, function),
            };
            last = Some((rights, is_held));
            if is_held {
                held.push(site.id.clone());
            }
        }
        held.sort_unstable();
        Ok(Scope::Sites(held))
    }

    fn group_members(&self) -> Option<&'static str> {
        Some("group_member")
    }

    async fn unknown_group(
        &self,
        cx: &Context,
        site: &str,
        groups: &[String],
    ) -> Result<Option<String>> {
        crate::people::group::unknown(cx, site, groups).await
    }

    async fn stranger(&self, cx: &Context, site: &str, users: &[&str]) -> Result<Option<String>> {
        let found = active_members(cx, site, users).await?;
        let is_stranger = |it: &&&str| !found.iter().any(|member| member == **it);
        Ok(users.iter().find(is_stranger).map(|it| (*it).to_owned()))
    }

    async fn own_sites(&self, cx: &Context) -> Result<Vec<String>> {
        let subject = self.subject_of_caller(cx).await?;
        let members = subject.iter().flat_map(|it| &it.members);
        let active = members.filter(|(_, member)| member.is_active);
        let mut sites: Vec<String> = active.map(|(site, _)| site.clone()).collect();
        sites.sort_unstable();
        Ok(sites)
    }

    async fn epoch(&self, cx: &Context) -> Result<Option<i64>> {
        epoch::read(cx).await.map(Some)
    }
}

#[cfg(test)]
mod tests;
