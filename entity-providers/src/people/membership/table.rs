//! The table of the people of a site, with the role and the groups of each, and groups made by size and by file.

use std::collections::BTreeMap;

use entity_core::blob::{Receive, Room, Target};
use entity_core::reply::{Choice, Prompt, PromptCell, PromptRow, Questionnaire, Sending};
use entity_core::schema::Field;
use entity_core::sheet::{self, Faults, Report};
use entity_core::{
    Action, ActionResult, Answers, Arguments, Context, Data, Done, Error, ErrorKind, Need, Permit,
    Preconditions, Provider as _, Reference, Result, Search, Verb, db, encode_segment, gate, shape,
};
use serde_json::Value;

use super::roster::{self, RosterMember};
use super::{Membership, Memberships, actions, rules, wanted::Wanted};
use crate::base::parameters;
use crate::people::{authorizer, group, site::groups::check_title};
use crate::storage::db::site_parts::{SiteGroup, groups_of};

/// The maximum number of people in a table.
const MOST_ROWS: usize = 500;
/// The maximum number of people in a site whose table or file is taken.
const MOST_PEOPLE: usize = 999;
/// The maximum number of groups that have a column.
const MOST_COLUMNS: usize = 20;
/// The fields for which pages ask before groups are made by a file.
const ASKS: &[Field] = &[
    parameters::table_or_file(
        "The columns Student ID and Group, unless they are chosen as a file.",
    ),
    parameters::PREVIEW,
];

/// Returns the actions that show and take the table, and take a file.
pub(super) fn actions() -> Vec<Action<Memberships>> {
    let (get, post) = (Verb::Get, Verb::Post);
    let [members, groups] = [rules::MANAGES_MEMBERS, group::MANAGES_GROUPS].map(Need::Site);
    let actions = [
        Action::collection(get, "people", members, show)
            .in_place_of(Memberships::PREFIX)
            .label("People")
            .searched()
            .doc("The members whom `site` lists, at most 500, as a form: of each the role and 20 groups.")
            .answers(Answers::Value(shape::of::<Questionnaire>)),
        Action::collection(post, "people", members, save)
            .done("Your changes are saved.")
            .doc("Changes a site of at most 999 people, all or nothing. `role:` and the internal id of somebody have a role; \
                the id of a group, `:` and that id have `true` or nothing. A `title` makes a group; with a `size` besides, \
                all students are spread over as many as it takes. With the id of a `group` it is the new name of that one, which \
                `delete` deletes."),
        Action::collection(post, "grouping", groups, import)
            .label("Groups from a file")
            .asks(ASKS)
            .receiving_in_forms()
            .doc("Puts people into groups by a table with `Student ID` and `Group`, all or nothing, and makes those that are missing."),
    ];
    actions.map(|it| it.argument("siteId", "The site.")).into()
}

impl Receive for Memberships {
    const IN_FORMS: bool = false;

    async fn room(_cx: &Context, _target: Target<'_>) -> Result<Room> {
        Ok(Room::of(parameters::MOST_BYTES))
    }
}

async fn show(cx: &Context, arguments: Arguments) -> Result<ActionResult<Memberships>> {
    let search = actions::search_of_site(&arguments)?;
    let table = Table::of(cx, &arguments, &search, MOST_ROWS).await?;
    Ok(ActionResult::Questionnaire(table.form()))
}

async fn save(cx: &Context, arguments: Arguments) -> Result<Done> {
    // All students are needed only to be spread over groups.
    let table = match parameters::text(&arguments, "size")? {
        Some(_) => Table::whole(cx, &arguments).await?,
        None => Table::of_sent(cx, &arguments).await?,
    };
    let changes = table.form().changes(&arguments.input.fields)?;
    let new_groups = table.new_groups(cx, &arguments).await?;
    for group in table.groups.iter().flatten() {
        let (mut added, mut gone) = (Vec::new(), Vec::new());
        for member in &table.members {
            match changes.get(&member.cell(&group.id)) {
                Some(ticked) if ticked.is_empty() => gone.push(member.user_id.clone()),
                Some(_) => added.push(member.user_id.clone()),
                None => {}
            }
        }
        if !added.is_empty() || !gone.is_empty() {
            group::remove(cx, group, &gone).await?;
            group::add(cx, group, &added).await?;
            group::emit_event(cx, group);
        }
    }
    for (title, users) in new_groups {
        table.fill(cx, &title, &users).await?;
    }
    table.change_group(cx, &arguments).await?;
    for member in &table.members {
        let Some(role) = changes.get(&member.cell("role")) else {
            continue;
        };
        let input = [("memberRole", Value::from(role.as_str()))]
            .into_iter()
            .collect();
        let (id, now) = (member.id_in(table.site), Preconditions::default());
        let written = gate::update::<Memberships>(cx, &id, &input, &now).await;
        written.map_err(|error| match error.kind() {
            ErrorKind::Internal | ErrorKind::Unavailable => error,
            _ => Error::field(member.cell("role"), error.reason()),
        })?;
    }
    Ok(Done)
}

async fn import(cx: &Context, arguments: Arguments) -> Result<Data<Report<String>>> {
    let table = Table::whole(cx, &arguments).await?;
    let is_preview = parameters::truth(&arguments, "preview")?;
    let lines = sheet::read(&parameters::sent_table(cx, &arguments).await?)?;
    let place = |title| lines.first()?.cells().position(|it| it == title);
    let (Some(person), Some(group)) = (place("Student ID"), place("Group")) else {
        return Err(Error::field(
            "csv",
            "must begin with the titles `Student ID` and `Group`",
        ));
    };
    let (mut faults, mut changes) = (Faults::default(), Vec::new());
    let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in lines.iter().skip(1) {
        let (eid, title) = (line.cell(person), line.cell(group));
        let is_meant = |it: &&RosterMember| !eid.is_empty() && it.eid.eq_ignore_ascii_case(eid);
        match (
            check_title("Group", title),
            table.members.iter().find(is_meant),
        ) {
            (Err(error), _) => faults.add_error(line, group, &error),
            (_, None) => faults.add(line, person, "must be the user name of a member"),
            (_, Some(member)) => {
                let users = groups.entry(title).or_default();
                if !member.groups.values().any(|it| it == title) && !users.contains(&member.user_id)
                {
                    users.push(member.user_id.clone());
                    changes.push(format!("{}: {title}", member.display_name));
                }
            }
        }
    }
    let report = Report::of(is_preview, changes, faults)?;
    for (title, users) in groups.iter().filter(|_| !is_preview) {
        table.fill(cx, title, users).await?;
    }
    Ok(Data(report))
}

impl RosterMember {
    /// Returns the name of the cell with the role, or with what `column` says: the id of a group.
    fn cell(&self, column: &str) -> String {
        format!("{column}:{}", self.user_id)
    }

    fn id_in(&self, site: &str) -> String {
        format!("{}::site:{site}", self.user_id)
    }
}

/// Members of a site, and what the caller may change about them.
struct Table<'a> {
    site: &'a str,
    members: Vec<RosterMember>,
    /// The roles that the caller may give.
    roles: Vec<String>,
    /// The groups, unless the caller may not change who is in them.
    groups: Option<Vec<SiteGroup>>,
}

impl<'a> Table<'a> {
    /// Returns the members whom `search` finds, no more than `most`, for those who hold the roster.
    async fn of(
        cx: &Context,
        arguments: &'a Arguments,
        search: &Search,
        most: usize,
    ) -> Result<Self> {
        let site = arguments.argument("siteId")?;
        let members = roster::listed(cx, search, &Wanted::of_search(cx, search).await?).await?;
        let mut roles = Vec::new();
        for role in authorizer::of(cx)?
            .roles_of_realm(cx, site)
            .await?
            .into_keys()
        {
            let is_given = rules::may_give(cx, site, &role).await? == Permit::Allowed;
            roles.extend(is_given.then_some(role));
        }
        let groups = match group::may_manage(cx, site).await? {
            true => Some(groups_of(cx, site).await?),
            false => None,
        };
        if members.len() > most {
            return Err(Error::conflict(format!(
                "these are more than {most} people"
            )));
        }
        let members = roster::with_groups(cx, site, members).await?;
        Ok(Self {
            site,
            members,
            roles,
            groups,
        })
    }

    /// Returns the members of the site of whom a cell was sent.
    async fn of_sent(cx: &Context, arguments: &'a Arguments) -> Result<Self> {
        let (mut search, _) = actions::search(arguments)?;
        search.insist("siteId", arguments.argument("siteId")?)?;
        let cells = arguments.input.fields.keys();
        let users = cells.filter_map(|it| Some(it.rsplit_once(':')?.1));
        search.narrow(Membership::FIELD.user_id.is_in(users));
        Self::of(cx, arguments, &search, MOST_PEOPLE).await
    }

    /// Returns all members of the site.
    async fn whole(cx: &Context, arguments: &'a Arguments) -> Result<Self> {
        let (mut search, _) = actions::search(arguments)?;
        search.insist("siteId", arguments.argument("siteId")?)?;
        Self::of(cx, arguments, &search, MOST_PEOPLE).await
    }

    fn form(&self) -> Questionnaire {
        let groups: Vec<_> = self.groups.iter().flatten().take(MOST_COLUMNS).collect();
        let titles = groups.iter().map(|it| &*it.title);
        let columns = ["Name", "Role"].into_iter().chain(titles).chain(["E-mail"]);
        let prompt = |name: &str, text: &str, hint: &str| Prompt {
            hint: hint.to_owned(),
            ..Prompt::line(name.to_owned(), text.to_owned(), String::new())
        };
        let spread = "With a number, all students are spread over Lab C 1, Lab C 2 and so on.";
        let group = |value: &str, label: &str| Choice {
            value: value.to_owned(),
            label: label.to_owned(),
            is_chosen: value.is_empty(),
        };
        let all = self
            .groups
            .iter()
            .flatten()
            .map(|it| group(&it.id, &it.title));
        let of_group = Prompt {
            choices: std::iter::once(group("", "A new one")).chain(all).collect(),
            ..prompt("group", "Group", "")
        };
        let delete = Prompt::tick("delete".to_owned(), "Delete this group".to_owned(), false);
        let prompts = [
            of_group,
            prompt(
                "title",
                "Name of the group",
                "What people call it, such as Lab C.",
            ),
            prompt("size", "Students in each new group", spread),
            delete,
        ];
        Questionnaire {
            title: "People".to_owned(),
            columns: columns.map(ToOwned::to_owned).collect(),
            rows: self
                .members
                .iter()
                .map(|it| self.row(it, &groups))
                .collect(),
            prompts: prompts
                .into_iter()
                .filter(|_| self.groups.is_some())
                .collect(),
            sendings: vec![Sending {
                path: format!("/direct/membership/people/{}", encode_segment(self.site)),
                label: "Save".to_owned(),
            }],
            ..Questionnaire::default()
        }
    }

    /// Returns the row of `member`: nobody takes away a role that they may not give.
    fn row(&self, member: &RosterMember, groups: &[&SiteGroup]) -> PromptRow {
        let choice = |it: &String| Choice {
            value: it.clone(),
            label: it.clone(),
            is_chosen: *it == member.role,
        };
        let role = match self.roles.contains(&member.role) {
            true => PromptCell::Prompt(Prompt {
                choices: self.roles.iter().map(choice).collect(),
                ..Prompt::line(member.cell("role"), "Role".to_owned(), String::new())
            }),
            false => PromptCell::Text(member.role.clone()),
        };
        let tick = |it: &&SiteGroup| {
            let is_in = member.groups.contains_key(&it.id);
            PromptCell::Prompt(Prompt::tick(member.cell(&it.id), it.title.clone(), is_in))
        };
        let cells = std::iter::once(role).chain(groups.iter().map(tick));
        PromptRow {
            title: member.display_name.clone(),
            path: Some(Reference::entity(Memberships::PREFIX, member.id_in(self.site)).path()),
            cells: cells
                .chain([PromptCell::Text(member.email.clone())])
                .collect(),
            ..PromptRow::default()
        }
    }

    /// Returns the groups to be made: one with the title or, with a size, as many as it takes for all who change no groups.
    async fn new_groups(
        &self,
        cx: &Context,
        arguments: &Arguments,
    ) -> Result<BTreeMap<String, Vec<String>>> {
        let size = parameters::text(arguments, "size")?;
        let title = match parameters::text(arguments, "title")? {
            _ if parameters::text(arguments, "group")?.is_some() => return Ok(BTreeMap::new()),
            Some(title) => title,
            None if size.is_none() => return Ok(BTreeMap::new()),
            None => return Err(Error::field("title", "is required with a size")),
        };
        let mut groups = BTreeMap::from([(title.clone(), Vec::new())]);
        if let Some(size) = size {
            let size = size.parse().ok().filter(|it: &usize| *it > 0);
            let size =
                size.ok_or_else(|| Error::field("size", "must be a whole number above 0"))?;
            let roles = authorizer::of(cx)?.roles_of_realm(cx, self.site).await?;
            let changes = |role| {
                roles
                    .get(role)
                    .is_some_and(|it| it.contains(group::MANAGES_GROUPS))
            };
            let students = self.members.iter().filter(|it| !changes(&it.role));
            let students: Vec<_> = students.map(|it| &it.user_id).collect();
            let count = students.len().div_ceil(size);
            let part = |at| {
                students
                    .iter()
                    .skip(at)
                    .step_by(count)
                    .copied()
                    .cloned()
                    .collect()
            };
            let numbered = (1..).zip(0..count);
            groups = numbered
                .map(|(number, at)| (format!("{title} {number}"), part(at)))
                .collect();
        }
        groups.keys().try_for_each(|it| self.check_title(it))?;
        Ok(groups)
    }

    /// Insists that a group may be called `title` from now on.
    fn check_title(&self, title: &str) -> Result<()> {
        check_title("title", title)?;
        match self.groups.iter().flatten().any(|it| it.title == title) {
            true => Err(Error::field(
                "title",
                format!("must not be “{title}” again"),
            )),
            false => Ok(()),
        }
    }

    /// Renames or deletes the group that was chosen, if one was.
    async fn change_group(&self, cx: &Context, arguments: &Arguments) -> Result<()> {
        let is_deleted = parameters::truth(arguments, "delete")?;
        let Some(id) = parameters::text(arguments, "group")? else {
            return match is_deleted {
                true => Err(Error::field("group", "is required: which group is deleted")),
                false => Ok(()),
            };
        };
        let found = self.groups.iter().flatten().find(|it| it.id == id);
        let group = found.cloned();
        let group = group.ok_or_else(|| Error::field("group", "must be a group of the site"))?;
        group::emit_event(cx, &group);
        if is_deleted {
            return db::delete(cx, group).await;
        }
        let title = parameters::text(arguments, "title")?;
        let title = title.ok_or_else(|| Error::field("title", "is required: its new name"))?;
        self.check_title(&title)?;
        let renamed = SiteGroup {
            title,
            modified: cx.now().timestamp_millis(),
            ..group.clone()
        };
        db::store(cx, group, renamed).await.map(drop)
    }

    /// Puts `users`, who are not there yet, into the group with this title, which is made if it is missing.
    async fn fill(&self, cx: &Context, title: &str, users: &[String]) -> Result<()> {
        let groups = self.groups.as_ref().ok_or_else(Error::forbidden)?;
        let group = match groups.iter().find(|it| it.title == title) {
            Some(_) if users.is_empty() => return Ok(()),
            Some(group) => group.clone(),
            None => {
                let group = SiteGroup {
                    id: cx.new_id(),
                    site_id: self.site.to_owned(),
                    title: title.to_owned(),
                    description: None,
                    modified: cx.now().timestamp_millis(),
                };
                db::insert(cx, &group).await?;
                group
            }
        };
        group::add(cx, &group, users).await?;
        group::emit_event(cx, &group);
        Ok(())
    }
}
