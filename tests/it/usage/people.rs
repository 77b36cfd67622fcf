//! People who do at random what people do, the same in every run.

use http::{HeaderName, StatusCode};
use serde_json::{Value, json};
use tests::{Answer, Client};

use crate::query::dice::Dice;

const BATCH: &str = "/direct/batch.json";
const PREFER: HeaderName = HeaderName::from_static("prefer");

/// The names of their actions.
pub(super) const ALL: [&str; 18] = [
    "announce",
    "change an announcement",
    "delete an announcement",
    "make a site",
    "change a site",
    "delete a site",
    "make a group",
    "make a role",
    "invite",
    "withdraw an invitation",
    "join",
    "leave",
    "make an account",
    "change oneself",
    "ask",
    "change a question",
    "do several things",
    "rehearse",
];

fn pick(dice: &mut Dice, all: &[String]) -> Option<String> {
    match all.len() {
        0 => None,
        number => all.get(dice.below(number)).cloned(),
    }
}

/// Text of some length, with letters of one to four bytes.
fn text(dice: &mut Dice, most: usize) -> String {
    let letters = ["a", "b ", "é", "ß", "漢", "🎓"];
    (0..=dice.below(most)).map(|_| *dice.of(&letters)).collect()
}

/// A user, and the entities that they made.
pub(super) struct Actor {
    client: Client,
    eid: &'static str,
    made: usize,
    sites: Vec<String>,
    news: Vec<String>,
    invitations: Vec<String>,
    polls: Vec<String>,
    /// Groups, each with its site.
    groups: Vec<(String, String)>,
}

impl Actor {
    pub(super) fn new(client: Client, eid: &'static str) -> Self {
        let sites = match eid {
            "instructor1" => vec!["biology-101".to_owned()],
            _ => Vec::new(),
        };
        Self {
            client,
            eid,
            made: 0,
            sites,
            news: Vec::new(),
            invitations: Vec::new(),
            polls: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// Does something, and says what and how that was answered.
    pub(super) async fn act(&mut self, dice: &mut Dice) -> (&'static str, StatusCode) {
        let what = ALL[dice.below(ALL.len())];
        let site = pick(dice, &self.sites);
        let site = site.unwrap_or_else(|| "field-trip".to_owned());
        let answer = match what {
            "announce" => {
                let mut body = news(dice, &site);
                let groups = self.groups.iter().filter(|it| it.0 == site);
                body["groups"] = groups.map(|it| it.1.as_str()).collect();
                self.make("announcement", &body).await
            }
            "change an announcement" => {
                let id = pick(dice, &self.news).unwrap_or_default();
                let changes = json!({"body": text(dice, 500), "groups": []});
                self.change("announcement", &id, &changes).await
            }
            "delete an announcement" => {
                let id = pick(dice, &self.news).unwrap_or_default();
                self.delete("announcement", &id).await
            }
            "make a site" => self.make("site", &self.site(dice)).await,
            "change a site" => {
                let changes = json!({"title": text(dice, 20), "shortDescription": text(dice, 50), "description": null});
                self.change("site", &site, &changes).await
            }
            "delete a site" => {
                let own = self.sites.iter().position(|it| it != "biology-101");
                let site = own.map_or_else(|| "nowhere".to_owned(), |it| self.sites.remove(it));
                self.delete("site", &site).await
            }
            "make a group" => self.make_group(dice, &site).await,
            "make a role" => {
                let path = format!("/direct/site/{site}/role/r{}", dice.below(1_000_000));
                self.client.post(&path, &json!({})).await
            }
            "invite" => {
                let body = json!({"siteId": site, "invitee": text(dice, 9).trim(), "memberRole": role(&site)});
                self.make("invitation", &body).await
            }
            "withdraw an invitation" => {
                let id = pick(dice, &self.invitations).unwrap_or_default();
                self.delete("invitation", &id).await
            }
            "join" => {
                self.client
                    .post("/direct/membership/join/field-trip", &json!({}))
                    .await
            }
            "leave" => {
                self.client
                    .post("/direct/membership/unjoin/field-trip", &json!({}))
                    .await
            }
            "make an account" => self.make_account(dice).await,
            "change oneself" => {
                let body = json!({"lastName": text(dice, 30)});
                let own = self.client.get("/direct/user/current.json").await.json();
                self.change("user", own["id"].as_str().unwrap_or_default(), &body)
                    .await
            }
            "ask" => {
                let body = json!({"siteId": site, "question": text(dice, 80), "points": 3});
                self.make("usage-poll", &body).await
            }
            "change a question" => self.change_question(dice).await,
            "do several things" => self.client.post(BATCH, &several(dice, &site)).await,
            _ => {
                let rehearsal = self.client.clone().with_header(PREFER, "tx=rollback");
                rehearsal
                    .post("/direct/announcement.json", &news(dice, &site))
                    .await
            }
        };
        (what, answer.status)
    }

    fn site(&self, dice: &mut Dice) -> Value {
        let id = format!("{}-{}", self.eid, dice.below(1_000_000));
        json!({"id": id, "title": text(dice, 30), "type": "project", "contactName": text(dice, 30)})
    }

    /// Makes an account, which is deleted again every other time.
    async fn make_account(&mut self, dice: &mut Dice) -> Answer {
        self.made += 1;
        let eid = format!("{}-{}", self.eid, self.made);
        let body = json!({"eid": eid, "firstName": text(dice, 30)});
        let made = self.client.post("/direct/user.json", &body).await;
        match made.header("entityid") {
            Some(id) if dice.below(2) == 0 => self.delete("user", id).await,
            _ => made,
        }
    }

    /// Gives a question a hint or deletes it.
    async fn change_question(&self, dice: &mut Dice) -> Answer {
        let id = pick(dice, &self.polls).unwrap_or_default();
        if dice.below(3) == 0 {
            self.delete("usage-poll", &id).await
        } else {
            let changes = json!({"hint": text(dice, 80)});
            self.change("usage-poll", &id, &changes).await
        }
    }

    /// Makes a group with somebody in it.
    async fn make_group(&mut self, dice: &mut Dice, site: &str) -> Answer {
        let path = format!("/direct/site/{site}/group.json");
        let member = match site {
            "biology-101" => "student1",
            _ => self.eid,
        };
        let body = json!({"groupTitle": text(dice, 20), "groupDescription": text(dice, 40), "userIds": member});
        let made = self.client.put(&path, &body).await;
        if made.status.is_success() {
            let id = made.json()["id"].as_str().expect("an id").to_owned();
            self.groups.push((site.to_owned(), id));
        }
        made
    }

    async fn make(&mut self, kind: &str, body: &Value) -> Answer {
        let answer = self
            .client
            .post(&format!("/direct/{kind}.json"), body)
            .await;
        if let Some(id) = answer.header("entityid") {
            let all = match kind {
                "announcement" => &mut self.news,
                "site" => &mut self.sites,
                "invitation" => &mut self.invitations,
                _ => &mut self.polls,
            };
            all.push(id.to_owned());
        }
        answer
    }

    async fn change(&self, kind: &str, id: &str, body: &Value) -> Answer {
        self.client
            .put(&format!("/direct/{kind}/{id}.json"), body)
            .await
    }

    async fn delete(&self, kind: &str, id: &str) -> Answer {
        self.client
            .delete(&format!("/direct/{kind}/{id}.json"))
            .await
    }
}

fn role(site: &str) -> &'static str {
    match site {
        "biology-101" => "Student",
        _ => "access",
    }
}

fn news(dice: &mut Dice, site: &str) -> Value {
    let file = json!({"name": text(dice, 20), "type": "text/plain", "url": "https://files.example/x.txt", "size": 1});
    let files = vec![file; dice.below(3)];
    json!({"siteId": site, "title": text(dice, 30), "body": text(dice, 300), "attachments": files})
}

/// A batch that comes to be as a whole or in parts; every other one has something in it that fails.
fn several(dice: &mut Dice, site: &str) -> Value {
    let post = |body: Value| json!({"method": "POST", "path": "announcement", "body": body});
    let mut operations: Vec<_> = (0..3).map(|_| post(news(dice, site))).collect();
    operations[0]["id"] = json!("first");
    operations.push(json!({"method": "DELETE", "path": "announcement/$first.entityId"}));
    if dice.below(2) == 0 {
        operations.push(post(json!({"siteId": "nowhere", "title": "x"})));
    }
    json!({"atomic": dice.below(2) == 0, "operations": operations})
}
