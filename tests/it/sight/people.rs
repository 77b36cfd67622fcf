//! Sites and their members, whose sight is no rule of a record: what is read by its address is what lists, counts and
//! batches have, over all combinations of what a row says and of what the caller is.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::{Value, json};
use tests::{Client, TestApp, both};

/// The beginning of the ids of all sites of a test.
const PREFIX: &str = "sight-";
const STANDINGS: [Standing; 5] = [
    Standing::Stranger,
    Standing::Inactive,
    Standing::Member,
    Standing::Barred,
    Standing::Maintainer,
];

/// All combinations of three things that are so or not.
fn flags() -> impl Iterator<Item = [bool; 3]> {
    (0..8_u8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0])
}

/// The student's part in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Stranger,
    /// A member whose membership does not count.
    Inactive,
    Member,
    /// A member in a role that may not visit the site.
    Barred,
    Maintainer,
}

#[derive(Debug)]
struct Place {
    id: String,
    standing: Standing,
    is_published: bool,
    is_public: bool,
    is_joinable: bool,
}

impl Place {
    fn all() -> Vec<Self> {
        let mut places = Vec::new();
        for standing in STANDINGS {
            for [is_published, is_public, is_joinable] in flags() {
                places.push(Self {
                    id: format!("{PREFIX}{:02}", places.len()),
                    standing,
                    is_published,
                    is_public,
                    is_joinable,
                });
            }
        }
        places
    }

    async fn make(&self, admin: &Client, student: &str) {
        let site = json!({
            "id": self.id, "title": self.id, "type": "project", "published": self.is_published,
            "pubView": self.is_public, "joinable": self.is_joinable, "joinerRole": "access",
        });
        let made = admin.post("/direct/site.json", &site).await;
        made.expect(StatusCode::CREATED);
        if self.standing == Standing::Barred {
            set_permissions(admin, &self.id, &json!({"access:site.visit": false})).await;
        }
        let role = match self.standing {
            Standing::Stranger => return,
            Standing::Maintainer => "maintain",
            _ => "access",
        };
        let is_active = self.standing != Standing::Inactive;
        enter(admin, student, &self.id, role, is_active).await;
    }

    /// Returns whether the student may visit it, in words.
    fn is_visited(&self) -> bool {
        match self.standing {
            Standing::Stranger => self.is_published && self.is_public,
            Standing::Inactive | Standing::Barred => false,
            Standing::Member => self.is_published,
            Standing::Maintainer => true,
        }
    }
}

async fn enter(admin: &Client, user: &str, site: &str, role: &str, is_active: bool) {
    let membership = json!({
        "userId": user, "locationReference": format!("/site/{site}"), "memberRole": role, "active": is_active,
    });
    let made = admin.post("/direct/membership.json", &membership).await;
    made.expect(StatusCode::CREATED);
}

async fn set_permissions(admin: &Client, site: &str, changes: &Value) {
    let path = format!("/direct/site/{site}/setPerms");
    admin.post(&path, changes).await.expect(StatusCode::OK);
}

async fn id_of(client: &Client) -> String {
    let current = client.get("/direct/user/current.json").await.json();
    current["id"].as_str().expect("an id").to_owned()
}

/// The ids in a list, as many as it counts.
async fn listed(client: &Client, prefix: &str, query: &str) -> BTreeSet<String> {
    let path = format!("/direct/{prefix}.json?_limit=500&_count=exact&{query}");
    let answer = client.get(&path).await;
    answer.expect(StatusCode::OK);
    let list = answer.json();
    let items = list[format!("{prefix}_collection")]
        .as_array()
        .expect("a list")
        .clone();
    let id = |it: &Value| it["id"].as_str().expect("an id").to_owned();
    let ids: BTreeSet<String> = items.iter().map(id).collect();
    assert_eq!(ids.len(), items.len(), "{path}");
    if let Some(count) = answer.header("x-total-count") {
        assert_eq!(count, ids.len().to_string(), "{path}");
    }
    ids
}

/// Those of `ids` that are answered by their address, asked one by one and all at once.
async fn read<'a>(
    client: &Client,
    prefix: &str,
    ids: impl Iterator<Item = &'a str>,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for id in ids {
        let path = format!("/direct/{prefix}/{id}.json");
        let alone = client.get(&path).await.status;
        // Batches are for people with a session.
        if client.cookie().is_some() {
            let path = format!("/direct/batch.json?_refs={prefix}/{id}");
            let batch = client.get(&path).await.json();
            assert_eq!(batch["ref0"]["status"], alone.as_u16(), "{path}");
        }
        match alone {
            StatusCode::OK => {
                found.insert(id.to_owned());
            }
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND => {}
            other => panic!("{path}: {other}"),
        }
    }
    found
}

fn ids_of<'a>(places: &'a [Place], is_meant: impl Fn(&Place) -> bool + 'a) -> BTreeSet<String> {
    let meant = places.iter().filter(|it| is_meant(it));
    meant.map(|it| it.id.clone()).collect()
}

/// A member of a site, or of a group in it.
#[derive(Debug)]
struct Member {
    id: String,
    user: String,
    is_of_group: bool,
    is_hidden: bool,
}

/// The functions that the caller holds in a site.
#[derive(Clone, Copy, Debug)]
struct Powers {
    has_roster: bool,
    sees_hidden: bool,
    manages_groups: bool,
}

impl Powers {
    fn all() -> impl Iterator<Item = Self> {
        flags().map(|[has_roster, sees_hidden, manages_groups]| Self {
            has_roster,
            sees_hidden,
            manages_groups,
        })
    }

    fn grants(self) -> Value {
        json!({
            "access:site.viewRoster": false,
            "access:roster.viewallmembers": self.has_roster,
            "access:roster.viewhidden": self.sees_hidden,
            "access:site.upd.grp.mbrshp": self.manages_groups,
        })
    }

    /// Returns whether a caller who is `own` sees the member, in words.
    fn sees(self, member: &Member, own: &str) -> bool {
        let has_list = self.has_roster || member.is_of_group && self.manages_groups;
        member.user == own || has_list && (self.sees_hidden || !member.is_hidden)
    }
}

/// Makes a site with a group, in which are all of `users`, of whom the third one does not want to be seen, and
/// the membership of the fourth does not count.
async fn make_members(admin: &Client, site: &str, users: &[String]) -> Vec<Member> {
    let made = json!({"id": site, "title": site, "type": "project"});
    let made = admin.post("/direct/site.json", &made).await;
    made.expect(StatusCode::CREATED);
    for (place, user) in users.iter().enumerate() {
        enter(admin, user, site, "access", place != 3).await;
    }
    let group = format!(
        "/direct/site/{site}/group.json?groupTitle=G&userIds={}",
        users.join(",")
    );
    let group = admin.put(&group, &json!({})).await;
    let group = group.expect(StatusCode::OK).json()["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let mut members = Vec::new();
    for (place, user) in users.iter().enumerate() {
        let is_hidden = place == 2;
        let of_site = format!("{user}::site:{site}");
        if is_hidden {
            let path = format!("/direct/membership/{of_site}/hidden");
            admin
                .put(&path, &json!({}))
                .await
                .expect(StatusCode::NO_CONTENT);
        }
        for (is_of_group, id) in [(false, of_site), (true, format!("{user}::group:{group}"))] {
            members.push(Member {
                id,
                user: user.clone(),
                is_of_group,
                is_hidden,
            });
        }
    }
    members
}

both! {
    async fn a_site_is_read_and_listed_by_the_same_people(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let own = id_of(&student).await;
        let places = Place::all();
        for place in &places {
            place.make(&admin, &own).await;
        }
        let all = ids_of(&places, |_| true);
        let ids = || places.iter().map(|it| it.id.as_str());
        let ours = |found: BTreeSet<String>| -> BTreeSet<String> { &found & &all };

        assert_eq!(read(&admin, "site", ids()).await, all);
        assert_eq!(ours(listed(&admin, "site", "select=any").await), all);

        let open = ids_of(&places, |it| it.is_published && it.is_public);
        let joinable = ids_of(&places, |it| it.is_published && it.is_joinable);
        let visited = ids_of(&places, |it| it.standing != Standing::Stranger && it.is_visited());
        let by_address = ids_of(&places, |it| it.is_visited() || it.is_published && it.is_joinable);
        assert_eq!(read(&student, "site", ids()).await, by_address);
        for query in ["", "select=access", "select=any"] {
            assert_eq!(ours(listed(&student, "site", query).await), visited, "{query}");
        }
        assert_eq!(ours(listed(&student, "site", "select=joinable").await), joinable);
        // What is open to the public is not open to a member who may not come in.
        let shown = &open & &by_address;
        assert_eq!(ours(listed(&student, "site", "select=pubView").await), shown);
        assert_eq!(&(&visited | &joinable) | &shown, by_address);

        let stranger = app.anonymous();
        assert_eq!(read(&stranger, "site", ids()).await, open);
    }

    async fn a_member_is_read_and_listed_by_the_same_people(app: TestApp) {
        let (admin, student) = (app.user("admin").await, app.user("student1").await);
        let mut users = Vec::new();
        for eid in ["student1", "student2", "student3", "student4"] {
            users.push(id_of(&app.user(eid).await).await);
        }
        let own = &users[0];
        let mut of_users: Vec<BTreeSet<String>> = vec![BTreeSet::new(); users.len()];
        let mut all = BTreeSet::new();
        for (number, powers) in Powers::all().enumerate() {
            let site = format!("{PREFIX}{number}");
            let members = make_members(&admin, &site, &users).await;
            set_permissions(&admin, &site, &powers.grants()).await;
            all.extend(members.iter().map(|it| it.id.clone()));
            let ids = || members.iter().map(|it| it.id.as_str());
            assert_eq!(read(&admin, "membership", ids()).await.len(), members.len());

            let seen = members.iter().filter(|it| powers.sees(it, own));
            let seen: BTreeSet<String> = seen.map(|it| it.id.clone()).collect();
            assert_eq!(read(&student, "membership", ids()).await, seen, "{powers:?}");
            let of_groups: BTreeSet<String> = seen.iter().filter(|it| it.contains("::group:")).cloned().collect();
            let lists = [
                (powers.has_roster, "includeGroups=true", &seen),
                (powers.has_roster || powers.manages_groups, "includeSites=false&includeGroups=true", &of_groups),
            ];
            for (is_allowed, query, expected) in lists {
                let query = format!("siteId={site}&{query}");
                if is_allowed {
                    let found = listed(&student, "membership", &query).await;
                    // Whoever made the site is in it too.
                    let found: BTreeSet<String> = found.into_iter().filter(|it| all.contains(it)).collect();
                    assert_eq!(found, *expected, "{powers:?}, {query}");
                } else {
                    let path = format!("/direct/membership.json?{query}");
                    student.get(&path).await.expect(StatusCode::FORBIDDEN);
                }
            }
            for (user, of_user) in users.iter().zip(&mut of_users) {
                of_user.extend(seen.iter().filter(|it| it.starts_with(user)).cloned());
            }
        }
        // Of all sites together: what the caller sees of one person.
        for (user, expected) in users.iter().zip(&of_users) {
            let found = listed(&student, "membership", &format!("userId={user}&includeGroups=true")).await;
            assert_eq!(&found & &all, *expected, "{user}");
        }
    }
}
