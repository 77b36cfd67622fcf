//! The actions at addresses of their own: the members of a site or group, joining, adding many.

use entity_core::schema::{Field, Kind};
use entity_core::search::Grammar;
use entity_core::{
    Action, ActionResult, Actions, Answers, Arguments, Context, List, Need, Result, Search, Verb,
    Window, db,
};

use super::wanted::Wanted;
use super::{Membership, Memberships, enrol, join, of_group, rules, table};

type Parameters = &'static [(&'static str, &'static str)];

const KINDS: Parameters = &[
    (
        "includeSites",
        "false: without the members of sites; true unless said",
    ),
    (
        "includeGroups",
        "true: with the members of groups; false unless said",
    ),
    ("_start", "how many to leave out at the beginning"),
    ("_limit", "how many at most"),
];
const SITE: Parameters = &[("siteId", "the site, unless the path names it")];
const CHANGE: Parameters = &[
    (
        "action",
        "add, remove, or update: the group has then exactly these",
    ),
    (
        "userIds",
        "internal or external ids of members of the site, with commas between them",
    ),
];
const NAMES: Parameters = &[
    (
        "userSearchValues",
        "internal or external ids or e-mail addresses, one by one or with commas between them",
    ),
    (
        "memberRole",
        "what they are to be; without it, what those are who join by themselves",
    ),
    ("notificationMessage", "nothing: nobody is told"),
];
/// The fields by which a form names those whom it adds.
const NEWCOMERS: &[Field] = &[
    Field::new(
        "userSearchValues",
        Kind::Text(4_000),
        "User names or e-mail addresses, one on each line.",
    )
    .required()
    .label("Whom to add"),
    Field::new(
        "memberRole",
        Kind::Text(99),
        "Without one, that of those who join by themselves.",
    )
    .label("Role")
    .offered("role"),
];
const JSON: Parameters = &[("json", "a list of objects with `id` and `role`")];

impl Actions for Memberships {
    fn actions() -> Vec<Action<Self>> {
        [lists(), adding(), joining(), table::actions()]
            .into_iter()
            .flatten()
            .collect()
    }
}

fn lists() -> Vec<Action<Memberships>> {
    let get = Verb::Get;
    vec![
        Action::collection(get, "site", Need::Session, of_site)
        .doc("The members of a site, by name; for those who hold its roster.")
        .argument("siteId", "The site.")
        .searched()
        .answers(Answers::Collection),
        Action::collection(get, "group", Need::Session, in_group)
        .doc("Who is in a group, by name; for those who hold the roster of its site or change its groups.")
        .argument("groupId", "The group.")
        .searched()
        .answers(Answers::Collection),
        Action::collection(get, "fastroles", Need::Session, fast_roles)
        .doc("The memberships of a user, by default of the caller, without anything about the user.")
        .parameters(KINDS)
        .optional_argument("userId", "The user.")
        .answers(Answers::Collection),
    ]
}

fn adding() -> Vec<Action<Memberships>> {
    let (post, manages) = (Verb::Post, Need::Site(rules::MANAGES_MEMBERS));
    vec![
        Action::collection(post, "site", manages, enrol::by_names)
        .doc(
            "Makes people members of a site. Headers tell of how many (`x-success-count`), who is not known \
             (`x-warning-not-found`) and who was a member before (`x-warning-already-members`). Whoever does not \
             hold `user.enrol` invites them instead, and is told of how many.",
        )
        .parameters(NAMES)
        .argument("siteId", "The site.")
        .answers(Answers::Collection),
        Action::collection(post, "add", manages, enrol::add)
        .label("Add people")
        .asks(NEWCOMERS)
        .doc("Makes people members of a site, or invites them where the caller may do no more, and tells who they are.")
        .argument("siteId", "The site.")
        .answers(Answers::Value(entity_core::shape::of::<enrol::Told>)),
        Action::collection(post, "sitebyjson", manages, enrol::by_json)
        .doc("The same, each with a role of their own; the answer is empty but for the headers.")
        .parameters(JSON)
        .argument("siteId", "The site.")
        .answers(Answers::Value(entity_core::shape::of::<String>)),
        Action::collection(post, "group", Need::Session, of_group::change)
        .doc("Changes who is in a group; for those who change groups or the site.")
        .parameters(CHANGE)
        .argument("groupId", "The group."),
    ]
}

fn joining() -> Vec<Action<Memberships>> {
    let (post, session) = (Verb::Post, Need::Session);
    vec![
        Action::collection(post, "join", session, join::join)
        .done("You have joined {}.")
        .doc("Makes the caller a member of a site that anybody may join.")
        .parameters(SITE)
        .optional_argument("siteId", "The site, or the word `site`.")
        .optional_argument("site", "The site, behind that word.")
        .answers(Answers::Done),
        Action::collection(post, "unjoin", session, join::unjoin)
        .done("You have left the site.")
        .doc("Ends the caller's membership of a site, unless the student system made it.")
        .parameters(SITE)
        .optional_argument("siteId", "The site, or the word `site`.")
        .optional_argument("site", "The site, behind that word."),
        Action::on_entity(Verb::Put, "hidden", session, |cx, membership, _arguments| {
            Box::pin(join::hide(cx, membership, true))
        })
        .doc("Hides the caller's own membership from those who do not hold `roster.viewhidden` in the site.")
        .answers(Answers::Nothing),
        Action::on_entity(Verb::Delete, "hidden", session, |cx, membership, _arguments| {
            Box::pin(join::hide(cx, membership, false))
        })
        .doc("Lets everybody who holds the roster see the caller's own membership again.")
        .answers(Answers::Nothing),
        Action::on_entity(Verb::Put, "provided", Need::Superuser, |cx, membership, _arguments| {
            Box::pin(join::provide(cx, membership, true))
        })
        .doc("Notes that the student system made the membership: the member can't end it.")
        .answers(Answers::Nothing),
        Action::on_entity(Verb::Delete, "provided", Need::Superuser, |cx, membership, _arguments| {
            Box::pin(join::provide(cx, membership, false))
        })
        .doc("Leaves it to the member again whether the membership ends.")
        .answers(Answers::Nothing),
    ]
}

async fn of_site(cx: &Context, arguments: Arguments) -> Result<ActionResult<Memberships>> {
    part(cx, search_of_site(&arguments)?).await
}

/// Returns the search that the query asks for, of the members of the site in the path.
pub(super) fn search_of_site(arguments: &Arguments) -> Result<Search> {
    let site = arguments.argument("siteId")?;
    let mut search = arguments.search()?.clone();
    search.insist("siteId", site)?;
    if search.parameter("locationReference").is_some() {
        search.insist("locationReference", &format!("/site/{site}"))?;
    }
    Ok(search)
}

async fn in_group(cx: &Context, arguments: Arguments) -> Result<ActionResult<Memberships>> {
    let group = arguments.argument("groupId")?;
    let mut search = arguments.search()?.clone();
    search.insist("groupId", group)?;
    if search.parameter("locationReference").is_some() {
        search.insist("locationReference", &format!("/group/{group}"))?;
    }
    part(cx, search).await
}

async fn fast_roles(cx: &Context, arguments: Arguments) -> Result<ActionResult<Memberships>> {
    let (search, window) = search(&arguments)?;
    let search = Wanted::of_arguments(cx, &arguments)?.search(&search);
    let mut page = db::list(cx, &search).await?;
    page.items.iter_mut().for_each(Membership::strip);
    Ok(ActionResult::Collection { page, window })
}

async fn part(cx: &Context, search: Search) -> Result<ActionResult<Memberships>> {
    let wanted = Wanted::of_search(cx, &search).await?.search(&search);
    let page = db::list(cx, &wanted).await?;
    let total = match search.is_counted {
        true => Some(db::count::<Membership>(cx, &wanted).await?),
        false => None,
    };
    Ok(ActionResult::Part {
        page,
        search,
        total,
    })
}

/// The part of a list that the query asks for.
pub(super) fn search(arguments: &Arguments) -> Result<(Search, Window)> {
    let window = Window::parse(&arguments.query, Memberships::MAX)?;
    let mut search = Search {
        start: window.start,
        limit: window.limit,
        ..Search::default()
    };
    Grammar::of::<Memberships>()?.complete(&mut search);
    Ok((search, window))
}
