//! Making many people members of a site at once.

use std::collections::{BTreeSet, HashMap};

use entity_core::db::Secret;
use entity_core::{ActionResult, Arguments, Context, Error, Result, db, encode_segment};
use schemars::JsonSchema;
use sea_orm::{ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::wanted::Wanted;
use super::{Membership, Memberships, actions, roster, rules};
use crate::people::invitation::{self, Invited};
use crate::storage::db::membership::{self, Origin};
use crate::{base::parameters, people::user};

/// The maximum number of people at once.
const MOST_PEOPLE: usize = 200;
/// The maximum number of characters of the names in a header: clients do not read headers of any length.
const MOST_REMARKED: usize = 3_000;

/// The result.
#[derive(Debug, Default)]
struct Enrolment {
    /// Those who are members now, by internal id, with the name that was sent.
    added: Vec<(String, String)>,
    /// The names of those who are invited now.
    invited: Vec<String>,
    /// The role of the last of them.
    role: String,
    not_found: Vec<String>,
    already_members: Vec<String>,
}

/// Somebody, by whatever name, and what they are to be.
#[derive(Debug, Deserialize)]
struct Newcomer {
    id: String,
    role: Option<String>,
}

/// `POST membership/site/site`: everybody in one role; answers the members as they are then, those whom the caller
/// may see.
pub(super) async fn by_names(
    cx: &Context,
    arguments: Arguments,
) -> Result<ActionResult<Memberships>> {
    let site = arguments.argument("siteId")?;
    let enrolment = named(cx, &arguments).await?;
    let (search, window) = actions::search(&arguments)?;
    let page = db::list::<Membership>(cx, &Wanted::of_all(site).search(&search)).await?;
    Ok(enrolment.with_headers(ActionResult::Collection { page, window }))
}

/// The fate of each who was named, for programs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Told {
    /// The number of those who are members now.
    added: usize,
    /// The number of those who are invited now.
    invited: usize,
    /// The names of those who were members before.
    already_members: Vec<String>,
    /// The names that nobody has.
    not_found: Vec<String>,
}

/// `POST membership/add/site`: everybody in one role; answers what became of them: to a form in sentences, with names as far as
/// the caller may know them.
pub(super) async fn add(cx: &Context, arguments: Arguments) -> Result<ActionResult<Memberships>> {
    let enrolment = named(cx, &arguments).await?;
    if !arguments.input.is_form {
        return Ok(ActionResult::value(Told {
            added: enrolment.added.len(),
            invited: enrolment.invited.len(),
            already_members: enrolment.already_members,
            not_found: enrolment.not_found,
        }));
    }
    let (mut search, _) = actions::search(&arguments)?;
    let added = enrolment.added.iter().map(|it| &*it.0);
    search.narrow(Membership::FIELD.user_id.is_in(added));
    let wanted = Wanted::of_all(arguments.argument("siteId")?);
    let known = roster::listed(cx, &search, &wanted).await?;
    let name = |(id, named): &(String, String)| {
        let found = known.iter().find(|it| it.user_id == *id);
        found.map_or(named, |it| &it.user_display_name).clone()
    };
    let added: Vec<_> = enrolment.added.iter().map(name).collect();
    let told = |before: &str, names: &[String], after: &str| match names {
        [] => String::new(),
        [one] => format!("{before} {one}{after}. "),
        [others @ .., last] => format!("{before} {} and {last}{after}. ", others.join(", ")),
    };
    let role = format!(" as {}", enrolment.role);
    let sentences = [
        told("Added", &added, &role),
        told("Invited", &enrolment.invited, &role),
        told("Already here:", &enrolment.already_members, ""),
        told("Nobody is called", &enrolment.not_found, ""),
    ];
    Ok(ActionResult::value(
        sentences.concat().trim_end().to_owned(),
    ))
}

/// Makes those whom the request names members of the site in its path, in one role.
async fn named(cx: &Context, arguments: &Arguments) -> Result<Enrolment> {
    let names = parameters::texts(arguments, "userSearchValues")?
        .ok_or_else(|| Error::field("userSearchValues", "is required"))?;
    let role = parameters::text(arguments, "memberRole")?;
    let newcomers = names.into_iter().map(|id| Newcomer {
        id,
        role: role.clone(),
    });
    enrol(cx, arguments.argument("siteId")?, newcomers.collect()).await
}

/// `POST membership/sitebyjson/site`: each in a role of their own; answers an empty text.
pub(super) async fn by_json(
    cx: &Context,
    arguments: Arguments,
) -> Result<ActionResult<Memberships>> {
    let site = arguments.argument("siteId")?;
    let sent = if let Some(Value::Array(items)) = arguments.input.fields.get("json") {
        Value::Array(items.clone())
    } else {
        let text = parameters::whole(&arguments, "json")?;
        serde_json::from_str(&text).map_err(|error| malformed().with_source(error))?
    };
    let newcomers: Vec<Newcomer> =
        serde_json::from_value(sent).map_err(|error| malformed().with_source(error))?;
    let enrolment = enrol(cx, site, newcomers).await?;
    Ok(enrolment.with_headers(ActionResult::value("")))
}

fn malformed() -> Error {
    Error::field(
        "json",
        "must be a list of objects with the texts `id` and `role`",
    )
}

/// Makes those of `newcomers` members of `site` whom it does not have yet, or invites them all if the caller may do no
/// more than that.
async fn enrol(cx: &Context, site: &str, newcomers: Vec<Newcomer>) -> Result<Enrolment> {
    if newcomers.len() > MOST_PEOPLE {
        return Err(Error::bad_request(format!(
            "send at most {MOST_PEOPLE} people at once"
        )));
    }
    let roles = roles(cx, site, &newcomers).await?;
    let names: Vec<String> = newcomers.iter().map(|it| it.id.trim().to_owned()).collect();
    if names.iter().any(|it| it.chars().any(char::is_control)) {
        return Err(Error::bad_request(
            "the names of people must not have control characters",
        ));
    }
    if !rules::may_enrol(cx).await? {
        return invite(cx, site, newcomers, names, &roles).await;
    }
    let users = user::by_names(cx, &names).await?;
    let mut present = present(cx, site, users.values()).await?;
    let mut enrolment = Enrolment::default();
    let mut rows = Vec::new();
    for (newcomer, name) in newcomers.iter().zip(names) {
        let role = roles.get(&newcomer.role);
        match (users.get(&name), role) {
            (Some(user), Some(role)) if present.insert(user.clone()) => {
                let row = membership::Model::new(user, site, role, cx.now(), Origin::Mandate);
                rows.push(row.into_active_model());
                let reference = format!("/membership/{user}::site:{site}");
                cx.emit(rules::MANAGES_MEMBERS, reference, Some(site));
                enrolment.role.clone_from(role);
                enrolment.added.push((user.clone(), name));
            }
            (Some(_), _) => enrolment.already_members.push(name),
            (None, _) => enrolment.not_found.push(name),
        }
    }
    if !rows.is_empty() {
        membership::Entity::insert_many(rows)
            .exec_without_returning(cx.db()?)
            .await?;
    }
    Ok(enrolment)
}

/// Invites everybody of `newcomers`, who are called `names`, and tells nothing of who is known.
async fn invite(
    cx: &Context,
    site: &str,
    newcomers: Vec<Newcomer>,
    mut names: Vec<String>,
    roles: &HashMap<Option<String>, String>,
) -> Result<Enrolment> {
    let invited = newcomers
        .iter()
        .zip(names.clone())
        .filter_map(|(newcomer, name)| {
            Some(Invited {
                field: "userSearchValues",
                name,
                role: roles.get(&newcomer.role)?.clone(),
            })
        });
    let made = invitation::invite(cx, site, invited.collect(), Secret::default()).await?;
    for id in &made {
        let reference = format!("/invitation/{id}");
        cx.emit(rules::MANAGES_MEMBERS, reference, Some(site));
    }
    // Whoever is named twice is invited once.
    names.sort_by_key(|it| it.to_ascii_lowercase());
    names.dedup_by(|it, other| it.eq_ignore_ascii_case(other));
    Ok(Enrolment {
        invited: names,
        role: roles.values().next().cloned().unwrap_or_default(),
        ..Enrolment::default()
    })
}

/// Which role each that was sent stands for; the caller may give all of them.
async fn roles(
    cx: &Context,
    site: &str,
    newcomers: &[Newcomer],
) -> Result<HashMap<Option<String>, String>> {
    let mut roles = HashMap::new();
    for Newcomer { role, .. } in newcomers {
        if !roles.contains_key(role) {
            let given = rules::given_role(cx, site, role.clone()).await?;
            roles.insert(role.clone(), given);
        }
    }
    Ok(roles)
}

/// The ids among `users` that are members of `site`.
async fn present(
    cx: &Context,
    site: &str,
    users: impl Iterator<Item = &String>,
) -> Result<BTreeSet<String>> {
    let rows: Vec<membership::Model> = cx
        .db()?
        .select(
            &membership::Entity::find()
                .filter(membership::Column::SiteId.eq(site))
                .filter(membership::Column::UserId.is_in(users)),
        )
        .await?;
    Ok(rows.into_iter().map(|it| it.user_id).collect())
}

impl Enrolment {
    /// Adds the headers about the enrolment to `outcome`.
    fn with_headers(&self, outcome: ActionResult<Memberships>) -> ActionResult<Memberships> {
        let count = self.added.len().max(self.invited.len());
        let outcome = outcome.with_header("x-success-count", count.to_string());
        let others = [
            ("x-warning-not-found", &self.not_found),
            ("x-warning-already-members", &self.already_members),
        ];
        others
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .fold(outcome, |outcome, (name, names)| {
                outcome.with_header(name, joined(names))
            })
    }
}

/// The names, percent-encoded, with commas between them; dots stand for those for whom there is no room.
fn joined(names: &[String]) -> String {
    let mut text = String::new();
    for name in names {
        let name = encode_segment(name);
        let separator = if text.is_empty() { "" } else { "," };
        if text.len() + name.len() > MOST_REMARKED {
            return format!("{text}{separator}...");
        }
        text = format!("{text}{separator}{name}");
    }
    text
}
