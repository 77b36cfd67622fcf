//! `/direct/presence`: the members of a site who are there now.
//!
//! A member is there who has a session, and asked with it for something of the site within the last five minutes. Each
//! node notes that in memory; a task of the service keeps it in a table, where other nodes find it.

mod kept;

use entity_core::engine::note_visit;
use entity_core::{
    Access, Action, ActionResult, Actions, Answers, Arguments, Context, Entity, Need, Operation,
    Permit, Provider, Read, Result, Verb, View, Window, shape,
};
use schemars::JsonSchema;
use serde::Serialize;

use self::kept::visits;
use super::roster::{counting, listed};
use super::wanted::Wanted;
use super::{Membership, rules};
use crate::people::site;

pub use self::kept::{keep, sweep};

/// The maximum number of visitors in one answer.
const MOST: u64 = 1_000;

const PART: &[(&str, &str)] = &[
    ("_start", "how many to leave out at the beginning"),
    ("_limit", "how many at most"),
];

/// The provider of those who are in a site.
#[derive(Clone, Copy, Debug)]
pub struct Presences;

entity_core::register!(Presences);

/// A site with the members who are there now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Entity)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    /// The id of the site.
    #[entity(id, site)]
    pub id: String,
    /// The title of the site.
    #[entity(title)]
    pub title: String,
}

impl Provider for Presences {
    type Entity = Presence;

    const PREFIX: &'static str = "presence";
    const PLURAL: Option<&'static str> = Some("People in sites");
    const SINGULAR: Option<&'static str> = Some("People in a site");
    // The functions that open a roster are those of memberships: `permits` asks for them.
    const ACCESS: Access = Access::new(Need::Session, Need::Superuser);

    async fn permits(cx: &Context, it: &Presence, _operation: Operation) -> Result<Permit> {
        rules::permits_roster(cx, &it.id).await
    }
}

impl Read for Presences {
    async fn read(cx: &Context, id: &str) -> Result<Option<Presence>> {
        let title = site::title(cx, id).await?;
        let id = id.to_owned();
        Ok(title.map(|title| Presence { id, title }))
    }
}

impl Actions for Presences {
    fn actions() -> Vec<Action<Self>> {
        vec![
            Action::collection(Verb::Get, "site", Need::Session, of_site)
                .doc(
                    "The members who asked for something of the site within the last five minutes, by name; for those who \
                     hold its roster. Who does not want to be seen is left out, as from the roster.",
                )
                .label("Who is here")
                .argument("siteId", "The site.")
                .parameters(PART)
                .answers(Answers::Value(shape::of::<Listed>)),
        ]
    }
}

/// The members who are there.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "PresenceList")]
struct Listed {
    /// The type: `presence`.
    #[serde(rename = "entityPrefix")]
    prefix: &'static str,
    /// The members, by name.
    #[serde(rename = "presence_collection")]
    collection: Vec<Visitor>,
}

/// A member who is there.
#[derive(Clone, Debug, Serialize, JsonSchema, View)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PresenceVisitor")]
#[view(of = Membership, beside(last_seen: i64))]
struct Visitor {
    /// The internal id.
    user_id: String,
    /// The name.
    #[view(of = user_display_name)]
    display_name: String,
    /// The name as lists are sorted by it.
    #[view(of = user_sort_name)]
    sort_name: String,
    /// The role in the site.
    #[view(of = member_role)]
    role: String,
    /// The instant of the last visit, to the minute, in milliseconds since 1970.
    last_seen: i64,
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<ActionResult<Presences>> {
    let site = arguments.argument("siteId")?;
    rules::demand_roster(cx, site).await?;
    note_visit(cx, site);
    let window = Window::parse(&arguments.query, MOST)?;
    let seen = visits(cx, site).await?;
    let mut search = counting(window)?;
    search.narrow(Membership::FIELD.user_id.is_in(seen.keys()));
    let members = match seen.is_empty() {
        true => Vec::new(),
        false => listed(cx, &search, &Wanted::of_all(site)).await?,
    };
    let visitors = members.into_iter().map(|it| {
        let last_seen = seen.get(&it.user_id).copied().unwrap_or_default();
        Visitor::of(it, last_seen)
    });
    Ok(ActionResult::value(Listed {
        prefix: Presences::PREFIX,
        collection: visitors.collect(),
    }))
}
