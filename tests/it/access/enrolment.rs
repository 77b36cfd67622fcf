//! Memberships and invitations that are asked for.

use chrono::TimeDelta;
use entity_core::db::Secret;
use entity_core::token;
use entity_providers::people::invitation::Invitation;
use entity_providers::storage::db::group_member;
use entity_providers::storage::db::membership::{self, Origin};

use super::rows::Rows;
use super::subject::Subject;
use super::world::{Caller, World, made, member};

impl World {
    /// A membership in a site of its own, whose id is the word to look for. Of one in a group of such a site, and of
    /// one that not all members see, it is the id of the membership itself.
    pub(super) async fn membership(&self, state: &str, caller: &Caller) -> Subject {
        let mut rows = Rows::default();
        let home = match caller.name {
            "access" | "maintain" | "admin" => "project",
            "other" => "other",
            _ => "course",
        };
        let (is_shy, place) = match state.strip_prefix("shy-") {
            Some(place) => (true, place),
            None => (false, state),
        };
        let site = match place {
            "own" | "own-provided" => self.plan_site(home, &mut rows),
            "own-joinable" => self.plan_site("joinable", &mut rows),
            "classmate" | "groupmate" => self.plan_site("course", &mut rows),
            "hidden-classmate" => self.plan_site("hidden", &mut rows),
            "teammate" => self.plan_site("project", &mut rows),
            "elsewhere" => self.plan_site("other", &mut rows),
            _ => self.new_marker(),
        };
        let person = self.owner(state, caller, "peer");
        let is_in_home = matches!(state, "own" | "own-provided");
        if state == "own-joinable" || (is_in_home && caller.name == "admin") {
            rows.members.push(member(&person.id, &site, "access"));
        }
        for row in &mut rows.members {
            let is_theirs = row.user_id == person.id;
            row.is_hidden = is_shy && is_theirs;
            row.is_provided = state == "own-provided" && is_theirs;
        }
        let (id, group) = match place {
            "groupmate" => {
                let group = Self::plan_group(&site, &mut rows);
                rows.group_members.push(group_member::Model {
                    group_id: group.clone(),
                    user_id: person.id.clone(),
                    site_id: Some(site.clone()),
                });
                (format!("{}::group:{group}", person.id), group)
            }
            "unknown" => (
                format!("{}::site:{site}", person.id),
                "no-such-group".to_owned(),
            ),
            _ => (format!("{}::site:{site}", person.id), String::new()),
        };
        let site_type = rows.sites.first().and_then(|it| it.r#type.clone());
        self.store(rows).await;
        Subject {
            marker: match is_shy || place == "groupmate" {
                true => id.clone(),
                false => site.clone(),
            },
            id,
            site,
            group,
            user: person.id.clone(),
            highest_role: match site_type.as_deref() {
                Some("project") => "maintain",
                _ => "Instructor",
            },
            ..Subject::default()
        }
    }

    /// A course of its own with a member who came to it in this way, whose e-mail address is the word to look for.
    pub(super) async fn roster(&self, state: &str) -> Subject {
        let mut rows = Rows::default();
        let site = self.plan_site("course", &mut rows);
        let user = self.plan_user(&mut rows);
        rows.members.push(membership::Model {
            origin: match state {
                "joined-email" => Origin::Joined,
                "made-email" => Origin::Creation,
                "accepted-email" => Origin::Accepted,
                _ => Origin::Mandate,
            },
            ..member(&user.id, &site, "Student")
        });
        self.store(rows).await;
        Subject {
            marker: format!("{}@example.edu", user.eid),
            site,
            user: user.id,
            ..Subject::default()
        }
    }

    /// An invitation to a site of its own: of the caller, or of somebody else.
    pub(super) async fn invitation(&self, state: &str, caller: &Caller) -> Subject {
        let mut rows = Rows::default();
        let (kind, host) = match state {
            "own" => ("joinable", "author"),
            "project" => ("project", "maintain"),
            _ => ("course", "author"),
        };
        let site = self.plan_site(kind, &mut rows);
        let invitee = match state {
            "own" => caller.person.eid.clone(),
            _ => self.people["guest"].eid.clone(),
        };
        let id = format!("{site}-invitation");
        if state != "unknown" {
            rows.add(Invitation {
                id: id.clone(),
                site_id: site.clone(),
                member_role: if kind == "course" {
                    "Student"
                } else {
                    "access"
                }
                .to_owned(),
                invitee_lower: invitee.clone(),
                invitee,
                invited_by: self.people[host].id.clone(),
                created: made().0,
                expires: made().0 + TimeDelta::days(30),
                secret_hash: Secret::new(token::hash(&id)),
                ..Invitation::default()
            });
        }
        self.store(rows).await;
        Subject {
            marker: id.clone(),
            id,
            site,
            ..Subject::default()
        }
    }
}
