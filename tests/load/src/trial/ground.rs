//! The place of a trial: a service with its own limits, people who use it, and accounts of those who attack it.

use std::fs;
use std::net::{IpAddr, Ipv4Addr};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::app::PASSWORD;
use crate::process::{Process, service};
use crate::server::Server;
use crate::{Backend, Client, Database, OnBackend, long_table, say};

/// The site that everybody reads.
pub(super) const COURSE: &str = "biology-101";
/// The accounts that read, and those that announce.
const READERS: [&str; 8] = [
    "student3", "student4", "student5", "student6", "student7", "student8", "ta1", "student9",
];
const WRITERS: [&str; 2] = ["instructor1", "admin"];
const ATTACKERS: [&str; 4] = ["student11", "student12", "student13", "student14"];
/// Announcements that take long to search, in the site of each attacker: an account may write as many in minutes.
const LONG_ROWS: u32 = 5_000;
/// The bytes of a long text.
pub(super) const LONG_TEXT: usize = 190_000;
/// The number of long texts there are in the site of each attacker.
const LONG_TEXTS: usize = 48;

/// The runtimes of the two sides, each on a thread of its own.
#[derive(Debug)]
pub(super) struct Sides {
    pub(super) others: Runtime,
    /// Its thread yields to all others of the machine, as if it were on another one.
    pub(super) attackers: Runtime,
}

impl Sides {
    pub(super) fn new() -> Self {
        let runtime = || {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(1).enable_all();
            builder
        };
        let others = runtime().build();
        let attackers = runtime().on_thread_start(yield_to_others).build();
        Self {
            others: others.expect("a runtime"),
            attackers: attackers.expect("a runtime"),
        }
    }
}

/// Lets everybody else go first, who has something to do.
fn yield_to_others() {
    let thread = fs::read_link("/proc/thread-self").expect("a thread of Linux");
    let number = thread.file_name().expect("its number");
    let status = Command::new("renice")
        .args(["-n", "10", "-p"])
        .arg(number)
        .stdout(Stdio::null())
        .status();
    if !status.is_ok_and(|it| it.success()) {
        say("the attackers take time from everybody else: the figures say little");
    }
}

/// The place of a trial.
#[derive(Debug)]
pub(super) struct Ground {
    // The service is gone before its database is.
    pub(super) process: Process,
    pub(super) database: Database,
    _server: Option<Server>,
    /// The clients that read.
    pub(super) readers: Vec<Client>,
    /// The clients that announce something, each in [`COURSE`].
    pub(super) writers: Vec<Client>,
    /// The clients that attack.
    pub(super) attackers: Vec<Attacker>,
}

/// An account of somebody who attacks, with a site of its own.
#[derive(Clone, Debug)]
pub(super) struct Attacker {
    pub(super) client: Client,
    /// Its site, open to the public. It holds long texts.
    pub(super) site: String,
    /// Its other site. It holds many announcements.
    pub(super) archive: String,
    /// The ids of the announcements that it made there and did not take back.
    pub(super) made: Arc<Mutex<Vec<String>>>,
}

impl Ground {
    /// A service on a fresh database; `None` where this kind of storage is not installed.
    pub(super) fn prepare(
        backend: Backend,
        sides: &Sides,
        settings: &[(&str, &str)],
    ) -> Option<Self> {
        // The servers of other tests never clean up after themselves, which databases in use do.
        let server = match backend {
            Backend::Postgres => Some(Server::start()?),
            Backend::Sqlite => None,
        };
        let database = match &server {
            Some(server) => server.database(),
            None => sides.others.block_on(Database::on_backend(backend))?,
        };
        let lectern = service(true);
        // The statuses tell what fails.
        let own = [("LECTERN_LOG_LEVEL", "off")];
        let settings = [&own, settings].concat();
        let process = Process::start_limited_service(
            &lectern,
            database.url(),
            &database.folder(),
            true,
            &settings,
        );
        let mut ground = Self {
            process,
            database,
            _server: server,
            readers: Vec::new(),
            writers: Vec::new(),
            attackers: Vec::new(),
        };
        sides.others.block_on(async {
            ground.readers = ground.log_in_all(&READERS).await;
            ground.writers = ground.log_in_all(&WRITERS).await;
        });
        sides.attackers.block_on(ground.let_attackers_settle());
        Some(ground)
    }

    async fn let_attackers_settle(&mut self) {
        for eid in ATTACKERS {
            let client = self.stranger(0).log_in(eid, PASSWORD).await;
            let attacker = Attacker::settle(client, eid).await;
            let rows = long_table::fill(self.database.url(), &attacker.archive, "a", LONG_ROWS);
            rows.await.close().await.expect("it closes");
            self.attackers.push(attacker);
        }
    }

    async fn log_in_all(&self, eids: &[&str]) -> Vec<Client> {
        let mut clients = Vec::new();
        for eid in eids {
            let client = Client::on_port(self.process.port());
            clients.push(client.log_in(eid, PASSWORD).await);
        }
        clients
    }

    /// A stranger on one of the machines of the attackers.
    pub(super) fn stranger(&self, machine: u8) -> Client {
        let address = IpAddr::V4(machine_of_attackers(machine));
        Client::on_port_from(self.process.port(), address)
    }
}

/// The address of a machine of the attackers.
pub(super) fn machine_of_attackers(number: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 1, number + 1)
}

impl Attacker {
    /// Makes the sites of the account `eid`.
    async fn settle(client: Client, eid: &str) -> Self {
        let (site, archive) = (format!("trap-{eid}"), format!("archive-{eid}"));
        for id in [&site, &archive] {
            let body = json!({"id": id, "title": "Trap", "type": "project", "pubView": true});
            let made = client.post("/direct/site.json", &body).await;
            made.expect(StatusCode::CREATED);
        }
        let text = "word ".repeat(LONG_TEXT / 5);
        let operation =
            json!({"method": "POST", "path": "announcement", "body": news(&site, &text)});
        let batch = json!({"operations": [operation, operation, operation, operation]});
        for _ in 0..LONG_TEXTS / 4 {
            let made = client.post("/direct/batch.json", &batch).await;
            made.expect(StatusCode::OK);
        }
        Self {
            client,
            site,
            archive,
            made: Arc::default(),
        }
    }
}

/// An announcement.
pub(super) fn news(site: &str, text: &str) -> Value {
    json!({"siteId": site, "title": "News", "body": text})
}
