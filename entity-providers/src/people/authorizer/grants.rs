//! Grants: the functions of roles, in the templates and with the changes of one site.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use entity_core::{Context, Registry, Result};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::people::site::id::ADMIN_SITE;
use crate::storage::db::realm_grant::{Column, Entity, Model};
use crate::storage::migration::TEMPLATES;

/// The beginning of the name of a realm that belongs to one site.
pub(crate) const OF_SITE: &str = "/site/";
/// The realm of plain sites, and what begins those of sites of a type.
const TEMPLATE: &str = "!site.template";
/// The realm of a user's own site, whose id begins with a tilde.
const USER_TEMPLATE: &str = "!site.user";
/// The realm of what all accounts hold, and what begins those of accounts of a type.
const ACCOUNTS: &str = "!user.template";

/// All that does not belong to one site.
#[derive(Debug, Default)]
pub(super) struct Grants {
    realms: HashMap<String, Arc<Roles>>,
    /// The stems of all functions that any template grants.
    stems: Arc<HashSet<String>>,
}

/// The roles of a realm with the functions that they hold.
#[derive(Clone, Debug, Default)]
pub(super) struct Roles {
    by_name: HashMap<String, HashSet<String>>,
    stems: Arc<HashSet<String>>,
}

impl Grants {
    /// The roles of the site `id` of type `kind`, where `changes` are the site's own.
    pub(super) fn of_site(&self, id: &str, kind: Option<&str>, changes: &[Model]) -> Arc<Roles> {
        let template = self.template(id, kind);
        if changes.is_empty()
            && let Some(roles) = template
        {
            return Arc::clone(roles);
        }
        let mut roles = template.map_or_else(|| self.no_roles(), |it| Roles::clone(it));
        roles.change(changes);
        Arc::new(roles)
    }

    /// Returns the functions of those who only look.
    pub(super) fn public_view(&self) -> Option<&HashSet<String>> {
        self.realms.get("!pubview")?.of("pubview")
    }

    /// Returns whether accounts of the type `kind` hold `function`: because all accounts do, or because those of the
    /// type do.
    pub(super) fn of_accounts(&self, kind: &str, function: &str) -> bool {
        let holds = |realm: &str| {
            let roles = self.realms.get(realm);
            roles
                .and_then(|it| it.of(".auth"))
                .is_some_and(|it| it.contains(function))
        };
        holds(ACCOUNTS) || holds(&format!("{ACCOUNTS}.{kind}"))
    }

    fn template(&self, id: &str, kind: Option<&str>) -> Option<&Arc<Roles>> {
        if id == ADMIN_SITE {
            return None;
        }
        if id.starts_with('~') {
            return self.realms.get(USER_TEMPLATE);
        }
        kind.and_then(|it| self.realms.get(&format!("{TEMPLATE}.{it}")))
            .or_else(|| self.realms.get(TEMPLATE))
    }

    fn no_roles(&self) -> Roles {
        Roles {
            by_name: HashMap::new(),
            stems: Arc::clone(&self.stems),
        }
    }
}

impl Roles {
    /// The functions of the role `name`.
    pub(super) fn of(&self, name: &str) -> Option<&HashSet<String>> {
        self.by_name.get(name)
    }

    /// The function to look up for `function`: itself or, if no role knows the like of it, the site's own
    /// right to visit or to change it.
    pub(super) fn resolve<'a>(&self, function: &'a str) -> &'a str {
        match self.knows(function) {
            true => function,
            false if function.rsplit('.').next() == Some("read") => "site.visit",
            false => "site.upd",
        }
    }

    /// The names of the roles, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.by_name.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    pub(super) fn sorted(&self) -> BTreeMap<String, BTreeSet<String>> {
        self.by_name
            .iter()
            .map(|(role, functions)| (role.clone(), functions.iter().cloned().collect()))
            .collect()
    }

    /// A change that names no function tells whether there is the role at all.
    fn change(&mut self, changes: &[Model]) {
        let (of_roles, of_functions): (Vec<_>, Vec<_>) =
            changes.iter().partition(|it| it.function.is_empty());
        for change in of_functions {
            let functions = self.by_name.entry(change.role.clone()).or_default();
            match change.is_granted {
                true => functions.insert(change.function.clone()),
                false => functions.remove(&change.function),
            };
            if !self.stems.contains(stem(&change.function)) {
                let stems = Arc::make_mut(&mut self.stems);
                stems.insert(stem(&change.function).to_owned());
            }
        }
        for change in of_roles {
            match change.is_granted {
                true => {
                    self.by_name.entry(change.role.clone()).or_default();
                }
                false => {
                    self.by_name.remove(&change.role);
                }
            }
        }
    }

    /// Returns whether any role holds `function` or the like of it: others are not decided by roles.
    pub(super) fn knows(&self, function: &str) -> bool {
        self.stems.contains(stem(function))
    }
}

/// The part of a function's name that its relatives share.
pub(crate) fn stem(function: &str) -> &str {
    function.split('.').next().unwrap_or(function)
}

/// The name of the realm that holds what the site `id` changes.
pub(crate) fn realm_of(id: &str) -> String {
    format!("{OF_SITE}{id}")
}

/// Returns the default grants of the registered types, except where `stored` has another one from the database.
fn declared(cx: &Context, stored: &[Model]) -> Vec<Model> {
    let Ok(registry) = cx.service::<Registry>() else {
        return Vec::new();
    };
    let stored = stored.iter();
    let stored: HashSet<(&str, &str, &str)> = stored
        .map(|it| (&*it.realm, &*it.role, &*it.function))
        .collect();
    let mut declared = Vec::new();
    let holders = TEMPLATES
        .iter()
        .flat_map(|(realm, roles)| {
            roles
                .iter()
                .map(move |(role, letter)| (realm, role, letter))
        })
        .chain([(&"!pubview", &"pubview", &'p')]);
    for (realm, role, letter) in holders {
        for (function, holders) in registry.routes().flat_map(|it| it.grants) {
            if holders.contains(*letter) && !stored.contains(&(*realm, *role, *function)) {
                declared.push(Model {
                    realm: (*realm).to_owned(),
                    role: (*role).to_owned(),
                    function: (*function).to_owned(),
                    is_granted: true,
                });
            }
        }
    }
    declared
}

/// Reads the templates.
pub(super) async fn load(cx: &Context) -> Result<Grants> {
    // Realms of sites begin with a slash, those of templates with `!`: the index finds them as one range.
    let rows: Vec<Model> = cx
        .db()?
        .select(
            &Entity::find()
                .filter(Column::Realm.gte("!"))
                .filter(Column::Realm.lt("\"")),
        )
        .await?;
    let mut rows = rows;
    let declared = declared(cx, &rows);
    rows.extend(declared);
    let stems = rows.iter().map(|it| stem(&it.function).to_owned());
    let stems: Arc<HashSet<String>> = Arc::new(stems.collect());
    let mut by_realm: HashMap<String, Vec<Model>> = HashMap::new();
    for row in rows {
        by_realm.entry(row.realm.clone()).or_default().push(row);
    }
    let mut grants = Grants {
        realms: HashMap::new(),
        stems,
    };
    for (realm, rows) in by_realm {
        let mut roles = grants.no_roles();
        roles.change(&rows);
        grants.realms.insert(realm, Arc::new(roles));
    }
    Ok(grants)
}
