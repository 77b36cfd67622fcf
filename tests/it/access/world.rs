//! The people and the sites that the policy speaks of, and the callers with their sessions.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use chrono::TimeDelta;
use entity_core::engine::{Origin, ReadBudget};
use entity_core::reply::Effect;
use entity_core::wire::Millis;
use entity_core::{Caller as Who, DateTimeUtc, Reference};
use entity_providers::people::site::Site;
use entity_providers::people::user::User;
use entity_providers::storage::db::site_parts::{SiteGroup, SitePage, SiteTool};
use entity_providers::storage::db::{group_member, membership};
use http::StatusCode;
use serde_json::json;
use tests::app::PASSWORD;
use tests::{Client, TestApp};

use super::policy::COLUMNS;
use super::rows::Rows;
use super::subject::Subject;

/// The time at which everything was made, in milliseconds: a day before the clock begins.
pub(super) const MADE: i64 = 1_795_168_800_000;
/// Longer than a session may go unused.
const TOO_LONG: TimeDelta = TimeDelta::minutes(31);

/// Everybody. Those who have no column of their own are strangers, or are there to be asked about.
const CAST: [&str; 12] = [
    "student",
    "ta",
    "instructor",
    "access",
    "maintain",
    "other",
    "admin",
    "expired",
    "shut",
    "author",
    "peer",
    "guest",
];

/// Those of them whose accounts are of teaching staff.
const TEACHERS: [&str; 3] = ["instructor", "other", "author"];

/// The sites of each kind, and who is what in them.
#[rustfmt::skip]
const MEMBERS: &[(&str, &[(&str, &str)])] = &[
    ("course", COURSE),
    ("hidden", COURSE),
    ("project", &[("access", "access"), ("maintain", "maintain"), ("peer", "access")]),
    ("other", &[("other", "Instructor"), ("peer", "Student")]),
    ("joinable", &[("author", "maintain")]),
    ("hidden-joinable", &[("author", "maintain")]),
    ("open", &[("author", "Instructor")]),
];
const COURSE: &[(&str, &str)] = &[
    ("student", "Student"),
    ("ta", "Teaching Assistant"),
    ("instructor", "Instructor"),
    ("expired", "Instructor"),
    ("shut", "Instructor"),
    ("author", "Instructor"),
    ("peer", "Student"),
];

/// A user with an account.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) id: String,
    pub(super) eid: String,
}

/// A client that sends requests.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// The name in failures.
    pub(super) name: &'static str,
    /// The place of their column in the policy.
    pub(super) column: usize,
    /// The person; for a stranger, the one whose entities they ask for as their own.
    pub(super) person: Person,
    /// The client that sends the requests.
    pub(super) client: Client,
}

impl Caller {
    /// Returns whether they have no living session.
    pub(super) fn is_stranger(&self) -> bool {
        self.column == 0
    }
}

/// The service with everything that the policy speaks of.
#[derive(Debug)]
pub(super) struct World {
    pub(super) app: TestApp,
    pub(super) callers: Vec<Caller>,
    pub(super) people: HashMap<&'static str, Person>,
    /// One site of each kind, which stays as it is.
    pub(super) sites: HashMap<&'static str, String>,
    /// Subjects that stay as they are.
    pub(super) subjects: Mutex<HashMap<String, Subject>>,
    numbers: AtomicU32,
}

impl World {
    /// Fills the database of `app`, and logs everybody in.
    pub(super) async fn new(app: TestApp) -> Self {
        let mut world = Self {
            app,
            callers: Vec::new(),
            people: HashMap::new(),
            sites: HashMap::new(),
            subjects: Mutex::default(),
            numbers: AtomicU32::new(0),
        };
        world.add_people().await;
        let mut rows = Rows::default();
        for (kind, _) in MEMBERS {
            let id = world.plan_site(kind, &mut rows);
            world.sites.insert(kind, id);
        }
        world.sites.insert("motd", "!site".to_owned());
        world.sites.insert("unknown", "no-such-site".to_owned());
        for (group, member) in [("mine", "student"), ("foreign", "peer")] {
            rows.groups.push(SiteGroup {
                id: group.to_owned(),
                site_id: world.sites["course"].clone(),
                title: group.to_owned(),
                description: None,
                modified: MADE,
            });
            rows.group_members.push(group_member::Model {
                group_id: group.to_owned(),
                user_id: world.people[member].id.clone(),
                site_id: Some(world.sites["course"].clone()),
            });
        }
        world.store(rows).await;
        world.callers = world.log_everybody_in().await;
        world
    }

    async fn add_people(&mut self) {
        let mut rows = Rows::default();
        for name in CAST {
            let user = self.plan_user(&mut rows);
            self.people.insert(name, user);
            let account = rows.users.last_mut().expect("an account");
            if TEACHERS.contains(&name) {
                "maintain".clone_into(&mut account.r#type);
            }
        }
        rows.members.push(membership::Model {
            user_id: self.people["admin"].id.clone(),
            site_id: "!admin".to_owned(),
            role: "admin".to_owned(),
            ..member("", "", "")
        });
        self.store(rows).await;
    }

    /// A word that nothing else has.
    pub(super) fn new_marker(&self) -> String {
        format!("mk{:05}", self.numbers.fetch_add(1, Ordering::Relaxed))
    }

    /// Adds a user with the password of everybody.
    pub(super) fn plan_user(&self, rows: &mut Rows) -> Person {
        let marker = self.new_marker();
        let person = Person {
            id: format!("{marker}-id"),
            eid: marker,
        };
        rows.users.push(User {
            id: person.id.clone(),
            eid: person.eid.clone(),
            email: format!("{}@example.edu", person.eid),
            email_verified: Some(true),
            last_name: person.eid.clone(),
            r#type: "registered".to_owned(),
            disabled: Some(false),
            created_date: Some(made()),
            last_modified: Some(made()),
            version: 1,
            ..User::default()
        });
        person
    }

    /// Adds a site of this kind with its members, a page and a tool. Its id is the word that nothing else has.
    pub(super) fn plan_site(&self, kind: &str, rows: &mut Rows) -> String {
        let id = self.new_marker();
        let is_project = matches!(kind, "project" | "joinable" | "hidden-joinable");
        rows.sites.push(Site {
            id: id.clone(),
            title: id.clone(),
            r#type: Some(if is_project { "project" } else { "course" }.to_owned()),
            published: !kind.starts_with("hidden"),
            pub_view: kind == "open",
            joinable: kind.ends_with("joinable"),
            joiner_role: Some(if is_project { "access" } else { "Student" }.to_owned()),
            created_date: made(),
            modified_date: made(),
            version: 1,
            ..Site::default()
        });
        rows.pages.push(SitePage {
            id: format!("{id}-page"),
            site_id: id.clone(),
            title: "Announcements".to_owned(),
            position: 1,
            layout: 0,
        });
        rows.tools.push(SiteTool {
            id: format!("{id}-tool"),
            page_id: format!("{id}-page"),
            site_id: id.clone(),
            tool_id: "sakai.announcements".to_owned(),
            title: "Announcements".to_owned(),
            position: 1,
        });
        let (_, members) = MEMBERS
            .iter()
            .find(|(it, _)| *it == kind)
            .expect("a kind of site");
        for (name, role) in *members {
            rows.members.push(member(&self.people[name].id, &id, role));
        }
        id
    }

    /// Adds a group to the site `id`, with nobody in it. Its id is made of that of the site.
    pub(super) fn plan_group(id: &str, rows: &mut Rows) -> String {
        let group = format!("{id}-group");
        rows.groups.push(SiteGroup {
            id: group.clone(),
            site_id: id.to_owned(),
            title: group.clone(),
            description: None,
            modified: MADE,
        });
        group
    }

    /// Adds a group to the site `id`, with these two in it.
    pub(super) fn plan_pair(id: &str, pair: [&Person; 2], rows: &mut Rows) {
        let group = Self::plan_group(id, rows);
        for person in pair {
            rows.group_members.push(group_member::Model {
                group_id: group.clone(),
                user_id: person.id.clone(),
                site_id: Some(id.to_owned()),
            });
        }
    }

    /// Whose something is: the caller's, where the state says so, and otherwise somebody's with this name.
    pub(super) fn owner<'a>(&'a self, state: &str, caller: &'a Caller, other: &str) -> &'a Person {
        match state.starts_with("own") {
            true => &caller.person,
            false => &self.people[other],
        }
    }

    /// Adds rows, past the service.
    pub(super) async fn store(&self, rows: Rows) {
        let origin = Origin {
            caller: Who::anonymous(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            method: "POST".into(),
            path: "world".into(),
            request_id: "world".into(),
            read_budget: ReadBudget::default(),
        };
        let dispatcher = &self.app.service().dispatcher;
        let work = dispatcher.write(&origin, move |cx| {
            let rows = rows.clone();
            Box::pin(async move {
                rows.insert(cx).await?;
                // Whoever has kept anything of it in memory forgets it.
                cx.emit("site.add", "/site/world", None);
                Ok(((), Effect::Acted(Reference::collection("site"))))
            })
        });
        work.await.expect("rows that fit");
    }

    async fn log_everybody_in(&self) -> Vec<Caller> {
        let expired = self.log_in("expired").await;
        self.app.advance(TOO_LONG);
        let shut = self.log_in("shut").await;
        let admin = self.log_in("admin").await;
        let path = format!("/direct/user/{}", self.people["shut"].id);
        let answer = admin.put(&path, &json!({"disabled": true})).await;
        answer.expect(StatusCode::NO_CONTENT);
        let mut callers = vec![
            self.caller("stranger", 0, "student", self.app.anonymous()),
            self.caller("expired", 0, "expired", expired),
            self.caller("shut", 0, "shut", shut),
        ];
        for (column, name) in (0..).zip(COLUMNS).skip(1) {
            let client = match name {
                "admin" => admin.clone(),
                _ => self.log_in(name).await,
            };
            callers.push(self.caller(name, column, name, client));
        }
        callers
    }

    /// Logs a user of the cast in, in a new session.
    pub(super) async fn log_in(&self, name: &str) -> Client {
        let stranger = self.app.anonymous();
        stranger.log_in(&self.people[name].eid, PASSWORD).await
    }

    fn caller(&self, name: &'static str, column: usize, who: &str, client: Client) -> Caller {
        Caller {
            name,
            column,
            person: self.people[who].clone(),
            client,
        }
    }
}

/// The instant at which everything was made.
pub(super) fn made() -> Millis {
    Millis(DateTimeUtc::from_timestamp_millis(MADE).expect("an instant"))
}

/// The place that a state names: where something is, or is to be written.
pub(super) fn place(state: &str) -> &str {
    match state.trim_start_matches("in-") {
        place @ ("hidden" | "project" | "other" | "unknown" | "joinable" | "open") => place,
        _ => "course",
    }
}

/// A membership.
pub(super) fn member(user: &str, site: &str, role: &str) -> membership::Model {
    membership::Model {
        user_id: user.to_owned(),
        site_id: site.to_owned(),
        role: role.to_owned(),
        is_active: true,
        is_provided: false,
        is_pinned: true,
        pinned_position: None,
        created: MADE,
        is_hidden: false,
        origin: membership::Origin::Mandate,
    }
}
