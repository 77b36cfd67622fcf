//! Many accounts that ask, beside what `data` writes: readers, authors, and people who only log in; and a site that
//! has more announcements than a page holds.

use std::fmt::Write as _;

use sea_orm::ConnectionTrait;

use super::data::{self, EPOCH, PASSWORD};
use super::driver::Request;
use crate::client::Client;

/// The number of accounts that may read all sites.
const READERS: u32 = 64;
/// The number of accounts that may write in all sites.
const AUTHORS: u32 = 32;
/// The number of accounts that log in: more than can within the time that one login waits.
const NAMES: u32 = 1_000;
/// The number of different requests of a kind.
const REQUESTS: u32 = 1_000;
/// Announcements in the large site.
const MANY: u32 = 1_000;
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// Credentials of those who are logged in.
pub(super) struct Crowd {
    readers: Vec<String>,
    authors: Vec<String>,
}

/// Adds the accounts and the site to the database at `url`, which [`data::fill`] has filled.
pub(super) async fn fill(url: &str) {
    let connection = data::connect(url).await;
    for sql in accounts()
        .chain(["reader", "author"].map(memberships))
        .chain([large_site()])
    {
        connection
            .execute_unprepared(&sql)
            .await
            .unwrap_or_else(|error| panic!("{error}: {sql:.200}"));
    }
    data::finish(connection).await;
}

/// Accounts like those of the demo, with their password.
fn accounts() -> impl Iterator<Item = String> {
    let kinds = [
        ("reader", READERS, "student1"),
        ("author", AUTHORS, "instructor1"),
        ("name", NAMES, "student1"),
    ];
    kinds.into_iter().map(|(kind, many, like)| {
        let names = (0..many).map(|it| format!("('bench-{kind}-{it}')"));
        let names = names.collect::<Vec<_>>().join(",");
        format!(
            "INSERT INTO user_account (id, eid, email, is_email_verified, first_name, last_name, type, password_hash, is_disabled, \
             props, created, modified, version) \
             SELECT column1, column1, column1 || '@example.edu', TRUE, 'Bench', column1, type, password_hash, FALSE, \
             props, created, modified, version \
             FROM user_account JOIN (VALUES {names}) AS names ON TRUE WHERE eid = '{like}'"
        )
    })
}

fn memberships(kind: &str) -> String {
    let role = if kind == "author" {
        "Instructor"
    } else {
        "Student"
    };
    format!(
        "INSERT INTO membership (user_id, site_id, role, is_active, is_provided, is_pinned, created) \
         SELECT user_account.id, site.id, '{role}', TRUE, FALSE, FALSE, {EPOCH} FROM user_account JOIN site ON TRUE \
         WHERE eid LIKE 'bench-{kind}-%' AND site.id LIKE 'bench-%'"
    )
}

/// Moves all announcements of some sites to one.
fn large_site() -> String {
    let mut sites = String::from("''");
    for site in 0..MANY / data::SIZE.in_site {
        write!(sites, ",'bench-{site}'").expect("text takes everything");
    }
    format!("UPDATE announcement SET site_id = 'bench-999' WHERE site_id IN ({sites})")
}

impl Crowd {
    /// Logs everybody in at the service on this port.
    pub(super) async fn gather(port: u16) -> Self {
        Self {
            readers: log_in(port, "reader", READERS).await,
            authors: log_in(port, "author", AUTHORS).await,
        }
    }

    /// Asks for the newest 50 of a site.
    pub(super) fn lists(&self) -> Vec<Request> {
        reads(&self.readers, |site| {
            format!("/direct/announcement/site/bench-{site}.json?n=50")
        })
    }

    /// Looks for a word in all announcements of a site.
    pub(super) fn searches(&self) -> Vec<Request> {
        reads(&self.readers, |site| {
            format!("/direct/announcement.json?siteId=bench-{site}&_search=week%2042")
        })
    }

    /// Asks for a full page.
    pub(super) fn pages(&self) -> Vec<Request> {
        reads(&self.readers, |_| {
            format!("/direct/announcement/site/bench-999.json?n={MANY}")
        })
    }

    /// Writes an announcement.
    pub(super) fn writes(&self) -> Vec<Request> {
        let posts = self.authors.iter().cycle().zip(sites());
        posts
            .map(|(cookie, site)| {
                let body = format!(
                    r#"{{"siteId":"bench-{site}","title":"News","body":"<p>Bring your notes.</p>"}}"#
                );
                let fields = [("Cookie", cookie.as_str())];
                Request::post("/direct/announcement", &fields, (JSON, &body))
            })
            .collect()
    }

    /// Logs in with the right password, each time somebody else.
    pub(super) fn logins() -> Vec<Request> {
        let forms = (0..NAMES).map(|it| format!("username=bench-name-{it}&password={PASSWORD}"));
        forms
            .map(|it| Request::post("/api/login", &[], (FORM, &it)))
            .collect()
    }
}

/// Different sites, none of them empty or large.
fn sites() -> impl Iterator<Item = u32> {
    (0..REQUESTS).map(|it| it * 7 % 900 + 50)
}

fn reads(cookies: &[String], path: impl Fn(u32) -> String) -> Vec<Request> {
    let pairs = cookies.iter().cycle().zip(sites());
    pairs
        .map(|(cookie, site)| Request::get(&path(site), &[("Cookie", cookie)]))
        .collect()
}

async fn log_in(port: u16, kind: &str, many: u32) -> Vec<String> {
    let mut cookies = Vec::new();
    for number in 0..many {
        let client = Client::on_port(port)
            .log_in(&format!("bench-{kind}-{number}"), PASSWORD)
            .await;
        cookies.push(client.cookie().expect("a login sets a cookie").to_owned());
    }
    cookies
}
