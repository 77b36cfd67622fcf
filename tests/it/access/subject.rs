//! The subjects of requests: an entity in each state that the policy names.

use chrono::TimeDelta;
use entity_core::wire::Millis;
use entity_providers::courses::announcement::Announcement;
use entity_providers::people::term::Term;
use entity_providers::storage::db::realm_grant;
use server::pages::feed::{Feed, FormatNames};
use tests::Client;

use super::chat;
use super::rows::Rows;
use super::webhook;
use super::world::{Caller, World, made, member};

/// Returns whether it is one of the types of quizzes.
pub(super) fn is_quiz(kind: &str) -> bool {
    kind == "sam_pub" || kind.starts_with("quiz-")
}

/// A role that each site has besides those of its template, and nobody.
pub(super) const SPARE_ROLE: &str = "Spare";

/// The subject of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Subject {
    /// Its id.
    pub(super) id: String,
    /// The site that it belongs to.
    pub(super) site: String,
    /// The group that it is about.
    pub(super) group: String,
    /// The user whom it is about.
    pub(super) user: String,
    /// A word that is wherever it is shown.
    pub(super) marker: String,
    /// True if it is the account of the caller.
    pub(super) is_caller: bool,
    /// The type of the site that is to be made.
    pub(super) site_type: String,
    /// The highest role of the site.
    pub(super) highest_role: &'static str,
    /// The client that asks, where that is not the caller as such.
    pub(super) client: Option<Client>,
}

/// The types of which something new is asked for by a word alone.
const NEW: [&str; 26] = [
    "announcement",
    "assignment",
    "assignment-submission",
    "calendar",
    "content",
    "conversations",
    "conversations-comment",
    "conversations-post",
    "conversations-tag",
    "feed",
    "forums",
    "forums-message",
    "forums-read",
    "forums-topic",
    "lesson-item",
    "lesson-progress",
    "lessons",
    "notification",
    "poll",
    "poll-option",
    "poll-vote",
    "site",
    "syllabus",
    "task",
    "term",
    "user",
];

impl World {
    /// Returns the subject for `caller` of requests that change nothing: the same each time.
    pub(super) async fn lasting(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        let owner = match state.starts_with("own") || state == "me" {
            true => caller.name,
            false => "",
        };
        let key = format!("{kind} {state} {owner}");
        let known = self.subjects.lock().expect("no panic").get(&key).cloned();
        if let Some(known) = known {
            return known;
        }
        let made = self.make(kind, state, caller, false).await;
        self.subjects
            .lock()
            .expect("no panic")
            .insert(key, made.clone());
        made
    }

    /// Makes the subject for `caller` of requests that may change or end it.
    pub(super) async fn fresh(&self, kind: &str, state: &str, caller: &Caller) -> Subject {
        self.make(kind, state, caller, true).await
    }

    async fn make(&self, kind: &str, state: &str, caller: &Caller, is_fresh: bool) -> Subject {
        match (kind, state) {
            (kind, _) if webhook::is_one(kind) => self.webhook(kind, state).await,
            (kind, _) if chat::is_one(kind) => self.talk(kind, state, caller).await,
            (kind, "-") if NEW.contains(&kind) => Subject {
                marker: self.new_marker(),
                ..Subject::default()
            },
            (kind, "-") if kind.starts_with("grade") || is_quiz(kind) => Subject::default(),
            (kind, _) if kind.starts_with("forums") => self.forum(kind, state, caller).await,
            (kind, _) if kind.starts_with("poll") => self.poll(kind, state, caller).await,
            (kind, _) if is_quiz(kind) => self.quiz(kind, state, caller).await,
            (kind, _) if kind.starts_with("grade") => self.gradebook(kind, state, caller).await,
            (kind, _) if kind.starts_with("lesson") => self.lesson(kind, state, caller).await,
            ("conversations-tag" | "conversations-settings" | "conversations-agreement", _) => {
                self.of_site(kind, state, caller).await
            }
            (kind, _) if kind.starts_with("conversations") => {
                self.conversation(kind, state, caller).await
            }
            ("assignment-submission", state) if state.starts_with("in-") => {
                self.place_of_work(state.trim_start_matches("in-")).await
            }
            ("assignment-submission", _) => self.work(state, caller).await,
            ("assignment", _) if !state.starts_with("in-") => self.assignment(state, caller).await,
            ("site", "new-course" | "new-project") => Subject {
                marker: self.new_marker(),
                site_type: state.trim_start_matches("new-").to_owned(),
                ..Subject::default()
            },
            ("membership", "in-group") => self.place_in_group().await,
            ("roster-membership" | "presence" | "activity", _) => self.site(state).await,
            ("site", _) | ("membership", "joinable" | "hidden-joinable" | "course") => {
                self.site(state).await
            }
            (
                "announcement" | "assignment" | "calendar" | "membership" | "invitation"
                | "syllabus" | "content" | "task",
                _,
            ) if state.starts_with("in-") => self.place(state.trim_start_matches("in-")).await,
            ("announcement", _) => self.announcement(state, caller).await,
            ("calendar", _) => self.event(state, caller).await,
            ("membership" | "session" | "invitation" | "syllabus-redirect", "-") => {
                Subject::default()
            }
            ("membership", "joined-email" | "made-email" | "accepted-email" | "enrolled-email") => {
                self.roster(state).await
            }
            ("invitation", _) => self.invitation(state, caller).await,
            ("membership", _) => self.membership(state, caller).await,
            ("feed", _) => self.feed(state, caller).await,
            ("task", _) => self.task(state, caller).await,
            ("notification", _) => self.notification(state, caller).await,
            ("session-event", _) => self.session_event(state, caller).await,
            ("session", _) => self.session(state, caller, is_fresh).await,
            ("term", _) => self.term(state).await,
            ("syllabus", _) => self.syllabus_item(state).await,
            ("syllabus-redirect", _) => self.syllabus_redirect(state).await,
            ("content", _) => self.content_item(state, caller).await,
            ("server-config", _) => named(state, "serverUrl", "database"),
            ("setting", _) => named(state, "limits.connections", "nothing"),
            ("audit", _) => self.audited(state).await,
            ("api", "own") if is_fresh => self.session("own", caller, true).await,
            _ => self.user(state, caller).await,
        }
    }

    /// Makes a place for a new entity, and a user who does not belong there.
    async fn place(&self, kind: &str) -> Subject {
        let mut rows = Rows::default();
        let user = self.plan_user(&mut rows);
        self.store(rows).await;
        Subject {
            site: self.sites[kind].clone(),
            user: user.id,
            marker: self.new_marker(),
            ..Subject::default()
        }
    }

    /// A group in a course of its own, and a member of that course who is not in it.
    async fn place_in_group(&self) -> Subject {
        let mut rows = Rows::default();
        let site = self.plan_site("course", &mut rows);
        let group = Self::plan_group(&site, &mut rows);
        let user = self.plan_user(&mut rows);
        rows.members.push(member(&user.id, &site, "Student"));
        self.store(rows).await;
        Subject {
            site,
            group,
            user: user.id,
            marker: self.new_marker(),
            ..Subject::default()
        }
    }

    pub(super) async fn announcement(&self, state: &str, caller: &Caller) -> Subject {
        let author = self.owner(state, caller, "author");
        let kinds = ["hidden", "project", "other", "open", "motd", "unknown"];
        let kind = kinds
            .into_iter()
            .find(|it| state.starts_with(it))
            .unwrap_or("course");
        let channel = if kind == "motd" { "motd" } else { "main" };
        let marker = self.new_marker();
        let subject = Subject {
            id: format!("{}:{channel}:{marker}", self.sites[kind]),
            site: self.sites[kind].clone(),
            user: author.id.clone(),
            marker,
            ..Subject::default()
        };
        if state != "unknown" {
            self.store(announcement_rows(state, &subject, channel))
                .await;
        }
        subject
    }

    /// A site with a group and with a role that nobody has.
    async fn site(&self, state: &str) -> Subject {
        let mut rows = Rows::default();
        let (id, group) = match state {
            "unknown" => (self.new_marker(), "no-such-group".to_owned()),
            kind => {
                let id = self.plan_site(kind, &mut rows);
                let group = Self::plan_group(&id, &mut rows);
                rows.grants.push(realm_grant::Model {
                    realm: format!("/site/{id}"),
                    role: SPARE_ROLE.to_owned(),
                    function: String::new(),
                    is_granted: true,
                });
                (id, group)
            }
        };
        self.store(rows).await;
        Subject {
            id: id.clone(),
            site: id.clone(),
            group,
            marker: id,
            ..Subject::default()
        }
    }

    /// A private feed, whose title is the word to look for.
    async fn feed(&self, state: &str, caller: &Caller) -> Subject {
        let mut rows = Rows::default();
        let owner = self.owner(state, caller, "peer");
        let marker = self.new_marker();
        let id = format!("{marker}-feed");
        rows.add(Feed {
            id: id.clone(),
            token_hash: marker.clone(),
            user_id: owner.id.clone(),
            title: marker.clone(),
            path: "/announcement/user".to_owned(),
            formats: FormatNames(vec!["atom".to_owned(), "rss".to_owned()]),
            created: made().0,
            version: 1,
            ..Feed::default()
        });
        if state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id,
            user: owner.id.clone(),
            marker,
            ..Subject::default()
        }
    }

    async fn term(&self, state: &str) -> Subject {
        let marker = self.new_marker();
        let mut rows = Rows::default();
        let begin = made().0;
        rows.add(Term {
            id: marker.clone(),
            title: marker.clone(),
            from: begin,
            to: begin + TimeDelta::days(1),
            current: false,
            version: 1,
        });
        if state != "unknown" {
            self.store(rows).await;
        }
        Subject {
            id: marker.clone(),
            marker,
            ..Subject::default()
        }
    }

    /// A request of the administrator of which the audit log has a row.
    async fn audited(&self, state: &str) -> Subject {
        let marker = self.new_marker();
        if state == "unknown" {
            return Subject {
                id: marker.clone(),
                marker,
                ..Subject::default()
            };
        }
        let admin = self.app.user("admin").await;
        admin.get(&format!("/direct/site/{marker}.json")).await;
        self.app.service().audit.flush().await;
        let found = admin
            .get(&format!("/direct/audit.json?_search={marker}"))
            .await;
        let found: serde_json::Value = serde_json::from_str(found.text()).expect("JSON");
        let id = found["audit_collection"][0]["id"].as_str();
        Subject {
            id: id.expect("a row").to_owned(),
            marker,
            ..Subject::default()
        }
    }

    async fn user(&self, state: &str, caller: &Caller) -> Subject {
        let mut rows = Rows::default();
        let person = match state {
            "me" | "own" | "own-eid" => caller.person.clone(),
            _ => self.plan_user(&mut rows),
        };
        if state == "shut" {
            rows.users
                .iter_mut()
                .for_each(|it| it.disabled = Some(true));
        }
        let course = &self.sites["course"];
        rows.members = rows
            .users
            .iter()
            .map(|it| member(&it.id, course, "Student"))
            .collect();
        if state != "unknown" {
            self.store(rows).await;
        }
        let id = match state {
            "me" => "me".to_owned(),
            it if it.ends_with("-eid") => person.eid.clone(),
            _ => person.id.clone(),
        };
        Subject {
            id,
            user: person.id,
            marker: person.eid,
            is_caller: state.starts_with("own") || state == "me",
            ..Subject::default()
        }
    }

    /// A session: the caller's own, a fresh one of the caller's, or that of somebody else.
    async fn session(&self, state: &str, caller: &Caller, is_fresh: bool) -> Subject {
        let is_own = state.starts_with("own");
        let (name, client) = match (is_own, is_fresh) {
            (true, true) => {
                let name = if caller.column == 0 {
                    "guest"
                } else {
                    caller.name
                };
                (name, self.log_in(name).await)
            }
            (true, false) if caller.column > 0 => (caller.name, caller.client.clone()),
            _ => ("guest", self.log_in("guest").await),
        };
        let answer = client.get("/direct/session/current.json").await;
        let handle = answer
            .header("x-sakai-session")
            .expect("a session has a name");
        let cookie = client.cookie().expect("a cookie");
        let secret = cookie.split(['=', '.']).nth(1).expect("an id");
        Subject {
            id: match state {
                "unknown" => "no-such-session".to_owned(),
                it if it.ends_with("secret") => secret.to_owned(),
                _ => handle.to_owned(),
            },
            user: self.people[name].id.clone(),
            marker: self.people[name].eid.clone(),
            client: Some(client).filter(|_| is_own && is_fresh),
            ..Subject::default()
        }
    }
}

fn announcement_rows(state: &str, subject: &Subject, channel: &str) -> Rows {
    let made = made();
    let group = ["mine", "foreign"].into_iter().find(|it| *it == state);
    let mut rows = Rows::default();
    rows.add(Announcement {
        announcement_id: subject.marker.clone(),
        title: subject.marker.clone(),
        channel: channel.to_owned(),
        site_id: subject.site.clone(),
        created_by: subject.user.clone(),
        created_on: made,
        modified_on: made,
        draft: state.ends_with("draft"),
        release_date: Some(Millis(made.0 + TimeDelta::days(3)))
            .filter(|_| state.ends_with("unreleased")),
        retract_date: Some(made).filter(|_| state.ends_with("retracted")),
        groups: group.map(ToOwned::to_owned).into_iter().collect(),
        written: made,
        position: 1,
        version: 1,
        ..Announcement::default()
    });
    rows
}

/// The subject that is called `known` or, for the state `unknown`, `unknown`.
fn named(state: &str, known: &str, unknown: &str) -> Subject {
    let is_known = state != "unknown";
    Subject {
        id: if is_known { known } else { unknown }.to_owned(),
        marker: if is_known { known } else { "" }.to_owned(),
        ..Subject::default()
    }
}
