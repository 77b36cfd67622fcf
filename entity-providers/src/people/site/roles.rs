//! The roles of a site and the functions that they hold, as the site changes them.
//!
//! Whoever may change the site's permissions (`realm.upd`) changes no more than they hold themselves: they neither
//! grant nor take away a function that they lack, nor make or end a role that holds one. Only super users may.
//! So nobody gains by it, and nobody is brought down by those below them.

use std::collections::{BTreeMap, BTreeSet};

use entity_core::primitives::nearest;
use entity_core::{
    Action, Arguments, Context, Data, Done, Error, Need, Registry, Result, Verb, flag,
};
use sea_orm::sea_query::OnConflict;
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter};
use serde_json::Value;

use super::{Site, Sites};
use crate::people::authorizer::{self, SiteFacts, keep_maintained, realm_of};
use crate::people::site::id::ADMIN_SITE;
use crate::storage::db::{membership, realm_grant};

/// The function to change the functions of roles.
const CHANGES_REALM: &str = "realm.upd";
/// The maximum number of changes in one request.
const MOST_CHANGES: usize = 2_000;
/// The maximum number of characters of a role's name.
const MOST_NAME: usize = 99;

pub(super) fn actions() -> Vec<Action<Sites>> {
    const PAIRS: &[(&str, &str)] = &[(
        "role:function",
        "true to grant the function to the role, false to take it away; any number of such pairs",
    )];
    let needed = Need::Site(CHANGES_REALM);
    let set = |verb| {
        Action::entity(verb, "setPerms", needed, set)
        .doc("Grants functions to roles and takes them away, none that the caller does not hold; answers SUCCESS.")
        .parameters(PAIRS)
    };
    vec![
        set(Verb::Post),
        set(Verb::Put),
        Action::entity(Verb::Post, "role", needed, add)
        .doc("Adds a role, which holds nothing yet unless it is one of those that such sites begin with.")
        .argument("role", "The role."),
        Action::entity(Verb::Delete, "role", needed, remove)
        .doc("Removes a role that no member has.")
        .argument("role", "The role."),
    ]
}

async fn set(cx: &Context, site: Site, arguments: Arguments) -> Result<Data<&'static str>> {
    let facts = facts(cx, &site).await?;
    let roles = authorizer::of(cx)?.roles_of_realm(cx, &site.id).await?;
    let declared = declared(cx);
    let changes: Vec<Change> = sent(&arguments)?
        .into_iter()
        .map(|(name, is_granted)| {
            let change = Change::parse(&name, is_granted, &facts, &roles)?;
            change.demand_known(&name, &declared, &roles)?;
            Ok(change)
        })
        .collect::<Result<_>>()?;
    // Clients send what they show, most of which is as it was.
    let changes: Vec<Change> = changes.into_iter().filter(|it| it.is_one(&roles)).collect();
    demand_held(cx, &site, changes.iter().map(|it| it.function.as_str())).await?;
    let writing = async {
        for Change {
            role,
            function,
            is_granted,
        } in &changes
        {
            write(cx, &site, role, function, *is_granted).await?;
        }
        Ok(())
    };
    keep_maintained(cx, &site.id, writing).await?;
    if !changes.is_empty() {
        emit_event(cx, &site);
    }
    Ok(Data("SUCCESS"))
}

/// A function that a role is to hold, or to hold no more.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    role: String,
    function: String,
    is_granted: bool,
}

impl Change {
    fn parse(
        name: &str,
        is_granted: bool,
        facts: &SiteFacts,
        roles: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<Self> {
        let (role, function) = name
            .split_once(':')
            .ok_or_else(|| Error::field(name, "must be a role, a colon and a function"))?;
        if !roles.contains_key(role) {
            return Err(Error::field(name, "must name a role of the site"));
        }
        if !facts.can_grant(function) {
            return Err(Error::field(name, "must name a function that roles hold"));
        }
        Ok(Self {
            role: role.to_owned(),
            function: function.to_owned(),
            is_granted,
        })
    }

    /// Refuses a function that is misspelt: no type declares it and no role holds it, although a type declares others with
    /// its stem.
    fn demand_known(
        &self,
        name: &str,
        declared: &[&str],
        roles: &BTreeMap<String, BTreeSet<String>>,
    ) -> Result<()> {
        let function = self.function.as_str();
        let mut alike = declared
            .iter()
            .filter(|it| authorizer::stem(it) == authorizer::stem(function));
        let is_held = || roles.values().any(|it| it.contains(function));
        if declared.contains(&function) || alike.next().is_none() || is_held() {
            return Ok(());
        }
        let advice = match nearest(function, declared.iter().copied()) {
            Some(meant) => format!("perhaps you mean `{meant}`"),
            None => "`/direct/describe` names the functions of each type".to_owned(),
        };
        Err(Error::field(
            name,
            format!("names a function that there is not: {advice}"),
        ))
    }

    /// Returns whether it changes anything.
    fn is_one(&self, roles: &BTreeMap<String, BTreeSet<String>>) -> bool {
        let is_held = roles
            .get(&self.role)
            .is_some_and(|it| it.contains(&self.function));
        is_held != self.is_granted
    }
}

/// The functions that the registered types declare.
fn declared(cx: &Context) -> Vec<&'static str> {
    let registry = cx.service::<Registry>().ok();
    let routes = registry.iter().flat_map(|it| it.routes());
    routes.flat_map(|it| it.grants).map(|it| it.0).collect()
}

/// The pairs that were sent, one at least.
fn sent(arguments: &Arguments) -> Result<Vec<(String, bool)>> {
    let in_query = arguments
        .query
        .iter()
        .filter(|(name, _)| name.contains(':'))
        .map(|(name, text)| (name, Value::from(text.as_str())));
    let in_body = arguments.input.fields.iter();
    let in_body = in_body.map(|(name, value)| (name, value.clone()));
    let mut pairs = Vec::new();
    for (name, value) in in_body.chain(in_query) {
        let is_granted = match &value {
            Value::Bool(is_granted) => *is_granted,
            Value::String(text) => flag(name, text)?,
            _ => return Err(Error::field(name, "must be true or false")),
        };
        pairs.push((name.clone(), is_granted));
    }
    match pairs.len() {
        0 => Err(Error::bad_request(
            "send at least one pair of a role and a function, such as `Student:annc.new=true`",
        )),
        count if count > MOST_CHANGES => Err(Error::bad_request(format!(
            "send at most {MOST_CHANGES} pairs of a role and a function"
        ))),
        _ => Ok(pairs),
    }
}

async fn add(cx: &Context, site: Site, arguments: Arguments) -> Result<Done> {
    let role = arguments.argument("role")?;
    check_name(role)?;
    if facts(cx, &site).await?.has_role(role) {
        return Err(Error::conflict("the site has this role already"));
    }
    write(cx, &site, role, "", true).await?;
    // One that the site removed before comes back with what its template grants.
    let roles = authorizer::of(cx)?.roles_of_realm(cx, &site.id).await?;
    let functions = roles.get(role).into_iter().flatten();
    demand_held(cx, &site, functions.map(String::as_str)).await?;
    emit_event(cx, &site);
    Ok(Done)
}

async fn remove(cx: &Context, site: Site, arguments: Arguments) -> Result<Done> {
    let role = arguments.argument("role")?;
    let roles = authorizer::of(cx)?.roles_of_realm(cx, &site.id).await?;
    let functions = roles.get(role).ok_or_else(Error::not_found)?;
    demand_held(cx, &site, functions.iter().map(String::as_str)).await?;
    if role == site.maintain_role || site.joiner_role.as_deref() == Some(role) {
        return Err(Error::conflict(
            "the site needs this role: those have it who look after it, or who join it",
        ));
    }
    let members = membership::Entity::find()
        .filter(membership::Column::SiteId.eq(&site.id))
        .filter(membership::Column::Role.eq(role));
    if members.count(cx.db()?).await? > 0 {
        return Err(Error::conflict(
            "members have this role: give them another one first",
        ));
    }
    realm_grant::Entity::delete_many()
        .filter(realm_grant::Column::Realm.eq(realm_of(&site.id)))
        .filter(realm_grant::Column::Role.eq(role))
        .exec(cx.db()?)
        .await?;
    write(cx, &site, role, "", false).await?;
    emit_event(cx, &site);
    Ok(Done)
}

fn check_name(role: &str) -> Result<()> {
    let is_dirty = |c: char| c.is_control() || matches!(c, ':' | '/');
    let is_legal = role.trim() == role
        && role.chars().count() <= MOST_NAME
        && !role.starts_with('.')
        && !role.chars().any(is_dirty);
    match is_legal {
        true => Ok(()),
        false => Err(Error::bad_request(format!(
            "the name of a role must have at most {MOST_NAME} characters, without `:` and `/`, and not begin with a dot"
        ))),
    }
}

/// Insists that the caller holds all of `functions` in the site, or is a super user. What makes super users is for
/// them alone.
async fn demand_held<'a>(
    cx: &Context,
    site: &Site,
    mut functions: impl Iterator<Item = &'a str> + Send,
) -> Result<()> {
    if cx.authorizer().is_superuser(cx).await? {
        return Ok(());
    }
    if site.id == ADMIN_SITE {
        return Err(Error::forbidden());
    }
    let own = authorizer::of(cx)?
        .functions_of_caller(cx, &site.id)
        .await?;
    match functions.all(|it| own.contains(it)) {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

async fn facts(cx: &Context, site: &Site) -> Result<SiteFacts> {
    let facts = authorizer::of(cx)?.site(cx, &site.id).await?;
    (*facts).clone().ok_or_else(Error::not_found)
}

/// Lets the site say whether `role` holds `function` or, without one, whether it has the role.
async fn write(
    cx: &Context,
    site: &Site,
    role: &str,
    function: &str,
    is_granted: bool,
) -> Result<()> {
    use realm_grant::Column::{Function, IsGranted, Realm, Role};
    let row = realm_grant::Model {
        realm: realm_of(&site.id),
        role: role.to_owned(),
        function: function.to_owned(),
        is_granted,
    };
    let known = OnConflict::columns([Realm, Role, Function])
        .update_column(IsGranted)
        .to_owned();
    realm_grant::Entity::insert(row.into_active_model())
        .on_conflict(known)
        .exec_without_returning(cx.db()?)
        .await?;
    Ok(())
}

fn emit_event(cx: &Context, site: &Site) {
    cx.emit(CHANGES_REALM, site.reference.as_str(), Some(&site.id));
}
