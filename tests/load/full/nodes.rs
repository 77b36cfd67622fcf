//! Three nodes of one service on one PostgreSQL database, with a load balancer before them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use http::header::{COOKIE, ETAG, IF_MATCH};
use http::{HeaderName, Method, StatusCode};
use load::balancer::Balancer;
use load::process::{Process, service};
use load::server::Server;
use load::{Answer, Client, Database, app};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::durability::titles_meanwhile;

const NODES: usize = 3;
const WRITERS: usize = 6;
const PATH: &str = "/direct/announcement.json";
const LIST: &str = "/direct/announcement/site/biology-101.json";
/// Is for people with a session.
const OWN: &str = "/api/user/roles";
const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The time within which all nodes must know what one was told.
const SOON: Duration = Duration::from_secs(1);
/// More than it takes until a node is there again.
const LONG: Duration = Duration::from_secs(60);
/// Between the signal to stop and the end, a node is left out by the balancer.
const DRAIN: [(&str, &str); 1] = [("LECTERN_SHUTDOWN_DRAINDELAY", "1")];

/// The nodes, each in its place behind the balancer.
struct Nodes {
    all: Vec<Option<Process>>,
    database: Database,
    balancer: Balancer,
}

impl Nodes {
    fn start(database: Database) -> Option<Self> {
        let first = start(&database, true);
        let others = (1..NODES).map(|_| start(&database, false));
        let all: Vec<Process> = std::iter::once(first).chain(others).collect();
        let ports: Vec<u16> = all.iter().map(Process::port).collect();
        Some(Self {
            balancer: Balancer::start(&ports)?,
            all: all.into_iter().map(Some).collect(),
            database,
        })
    }

    /// Returns a client of the node in this place, without a session.
    fn node(&self, place: usize) -> Client {
        let node = self.all[place].as_ref().expect("it runs");
        Client::on_port(node.port())
    }

    /// Returns a client of each node, all with the session that `eid` has begun at the first one.
    async fn everywhere(&self, eid: &str) -> Vec<Client> {
        let first = self.node(0).log_in(eid, app::PASSWORD).await;
        let cookie = first.cookie().expect("a session").to_owned();
        let others = (1..NODES).map(|it| self.node(it).with_header(COOKIE, &cookie));
        std::iter::once(first.clone()).chain(others).collect()
    }

    /// Returns a client of the balancer with a session.
    async fn balanced(&self, eid: &str) -> Client {
        let client = Client::on_port(self.balancer.port());
        client.log_in(eid, app::PASSWORD).await
    }

    /// Puts a new node in the place of the one that stopped.
    fn replace(&mut self, place: usize) {
        let node = start(&self.database, false);
        self.balancer.point(place, node.port());
        self.all[place] = Some(node);
    }
}

fn start(database: &Database, has_demo: bool) -> Process {
    let (url, folder) = (database.url(), database.folder());
    Process::start_service_with(&service(false), url, &folder, has_demo, &DRAIN)
}

/// Starts the nodes on a database of their own; `None` where PostgreSQL or the balancer is not installed.
async fn nodes() -> Option<Nodes> {
    Nodes::start(Database::postgres(None).await?)
}

/// Checks that each client is answered with `status` soon: no request that began later than that may be answered otherwise.
async fn expect_soon(clients: &[Client], path: &str, status: StatusCode) {
    let told = Instant::now();
    for (place, client) in clients.iter().enumerate() {
        loop {
            let asked = told.elapsed();
            let answer = client.get(path).await;
            if answer.status == status {
                break;
            }
            let status = answer.status;
            assert!(
                asked < SOON,
                "node {place} answers {path} with {status} {asked:?} later"
            );
            sleep(Duration::from_millis(20)).await;
        }
    }
}

fn id_of(answer: &Answer) -> String {
    answer.expect(StatusCode::CREATED);
    answer.header("entityid").expect("an id").to_owned()
}

fn note(title: &str) -> Value {
    json!({"siteId": "biology-101", "title": title, "body": "<p>x</p>"})
}

#[tokio::test]
async fn what_one_node_is_told_all_know() {
    let Some(nodes) = nodes().await else { return };
    let admins = nodes.everywhere("admin").await;
    let teachers = nodes.everywhere("instructor1").await;
    let students = nodes.everywhere("student1").await;

    // Written here, read there at once.
    for (place, teacher) in teachers.iter().enumerate() {
        let id = id_of(&teacher.post(PATH, &note(&format!("at {place}"))).await);
        for reader in teachers.iter().chain(&students) {
            let read = reader.get(&format!("/direct/announcement/{id}.json")).await;
            read.expect(StatusCode::OK);
        }
    }
    // A member who goes, and comes again.
    let user = students[0].get("/direct/user/current.json").await.json();
    let user = user["id"].as_str().expect("an id").to_owned();
    let member = format!("/direct/membership/{user}::site:biology-101");
    let role = admins[0].get(&format!("{member}.json")).await.json()["memberRole"].clone();
    expect_soon(&students, LIST, StatusCode::OK).await;
    admins[0]
        .delete(&member)
        .await
        .expect(StatusCode::NO_CONTENT);
    expect_soon(&students, LIST, StatusCode::FORBIDDEN).await;
    let again =
        json!({"userId": user, "locationReference": "/site/biology-101", "memberRole": role});
    id_of(&admins[1].post("/direct/membership.json", &again).await);
    expect_soon(&students, LIST, StatusCode::OK).await;
    // A grant that is taken away and given again.
    for (is_held, status) in [(false, StatusCode::FORBIDDEN), (true, StatusCode::OK)] {
        let form = json!({"Student:annc.read": is_held, "Student:site.visit": is_held});
        let set = admins[2]
            .post("/direct/site/biology-101/setPerms", &form)
            .await;
        set.expect(StatusCode::OK);
        expect_soon(&students, LIST, status).await;
    }
    // A private feed, of which each node knows, until it is revoked.
    let feed = json!({"path": "/announcement/site/biology-101"});
    let made = students[0].post("/direct/feed", &feed).await;
    let id = id_of(&made);
    let address = made.json()["addresses"]["atom"].clone();
    let address = address.as_str().expect("an address");
    let feed = &address[address.find("/feeds/").expect("a feed")..];
    let strangers: Vec<Client> = (0..NODES).map(|it| nodes.node(it)).collect();
    expect_soon(&strangers, feed, StatusCode::OK).await;
    let revoked = students[1].delete(&format!("/direct/feed/{id}")).await;
    revoked.expect(StatusCode::NO_CONTENT);
    expect_soon(&strangers, feed, StatusCode::NOT_FOUND).await;
    // An account that is shut, and a session that is ended.
    let account = format!("/direct/user/{user}");
    let shut = admins[1].put(&account, &json!({"disabled": true})).await;
    shut.expect(StatusCode::NO_CONTENT);
    expect_soon(&students, OWN, StatusCode::UNAUTHORIZED).await;
    let left = teachers[1].post_form("/api/logout", "").await;
    left.expect(StatusCode::OK);
    expect_soon(&teachers, OWN, StatusCode::UNAUTHORIZED).await;
}

#[tokio::test]
async fn all_nodes_together_do_once_what_is_asked_once() {
    let Some(nodes) = nodes().await else { return };
    let teachers = nodes.everywhere("instructor1").await;

    // One key at all nodes at once makes one.
    for round in 0..10 {
        let title = format!("round {round}");
        let sent = teachers.iter().map(|it| {
            let client = it.clone().with_header(KEY, &title);
            let title = title.clone();
            async move { id_of(&until_created(&client, &title, &AtomicUsize::new(0)).await) }
        });
        let ids = futures::future::join_all(sent).await;
        assert!(ids.iter().all(|it| *it == ids[0]), "{ids:?}");
    }
    let titles = titles_meanwhile(nodes.database.url()).await;
    assert_eq!(titles.len(), 10, "{titles:?}");

    // No increment is lost.
    let id = id_of(&teachers[0].post(PATH, &note("0")).await);
    let path = format!("/direct/announcement/{id}.json");
    let mut counting = JoinSet::new();
    for client in teachers.iter().chain(&teachers).cloned() {
        let path = path.clone();
        counting.spawn(async move {
            let mut accepted = 0;
            for _ in 0..20 {
                accepted += u64::from(count_on(&client, &path).await);
            }
            accepted
        });
    }
    let accepted: u64 = counting.join_all().await.into_iter().sum();
    let last = teachers[2].get(&path).await.json();
    assert_eq!(last["title"], accepted.to_string());
    assert!(accepted > 0);

    // Failures are those of one account, wherever they were: the sixth is one too many.
    let wrong = "username=student3&password=wrong";
    let mut statuses = Vec::new();
    for place in 0..6 {
        let stranger = nodes.node(place % NODES);
        statuses.push(stranger.post_form("/api/login", wrong).await.status);
    }
    let last = statuses.pop();
    assert!(
        statuses.iter().all(|it| *it == StatusCode::UNAUTHORIZED),
        "{statuses:?}"
    );
    assert_eq!(last, Some(StatusCode::TOO_MANY_REQUESTS));
}

/// Counts on once: answers whether that was accepted.
async fn count_on(client: &Client, path: &str) -> bool {
    let read = client.get(path).await;
    let number: u64 = read.json()["title"]
        .as_str()
        .and_then(|it| it.parse().ok())
        .expect("a number");
    let tag = read.header(ETAG).expect("a version").to_owned();
    let guarded = client.clone().with_header(IF_MATCH, &tag);
    let next = json!({"title": (number + 1).to_string()});
    match guarded.put(path, &next).await.status {
        StatusCode::NO_CONTENT => true,
        StatusCode::PRECONDITION_FAILED => false,
        other => panic!("{other}"),
    }
}

/// Posts an announcement, with the key that the client has, until it is there; counts in `failures` what came between.
async fn until_created(client: &Client, title: &str, failures: &AtomicUsize) -> Answer {
    let since = Instant::now();
    loop {
        let body = Bytes::from(note(title).to_string());
        let sent = client.try_request(Method::POST, PATH, Some(("application/json", body)));
        match sent.await {
            Ok(answer) if answer.status == StatusCode::CREATED => return answer,
            // The other one with the key is at it.
            Ok(answer) if answer.status == StatusCode::CONFLICT => {}
            Ok(answer) => {
                assert!(answer.status.is_server_error(), "{}", answer.status);
                failures.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => {
                failures.fetch_add(1, Ordering::Relaxed);
            }
        }
        assert!(since.elapsed() < LONG, "`{title}` can't be written");
        sleep(Duration::from_millis(50)).await;
    }
}

/// People who write by the balancer, each time with a key.
struct Load {
    writers: JoinSet<Vec<String>>,
    is_over: Arc<AtomicBool>,
    failures: Arc<AtomicUsize>,
}

impl Load {
    async fn start(nodes: &Nodes) -> Self {
        let author = nodes.balanced("instructor1").await;
        let (is_over, failures) = <(Arc<AtomicBool>, Arc<AtomicUsize>)>::default();
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let (author, is_over, failures) =
                (author.clone(), Arc::clone(&is_over), Arc::clone(&failures));
            writers.spawn(async move {
                let mut written = Vec::new();
                while !is_over.load(Ordering::Relaxed) {
                    let title = format!("round {writer} number {}", written.len());
                    let author = author.clone().with_header(KEY, &title);
                    until_created(&author, &title, &failures).await;
                    let read = author.try_request(Method::GET, LIST, None).await;
                    let is_read = read.is_ok_and(|it| it.status == StatusCode::OK);
                    failures.fetch_add(usize::from(!is_read), Ordering::Relaxed);
                    written.push(title);
                }
                written
            });
        }
        Self {
            writers,
            is_over,
            failures,
        }
    }

    fn failures(&self) -> usize {
        self.failures.load(Ordering::Relaxed)
    }

    /// Ends, and checks that each of the announcements is there once, and no other one.
    async fn end(self, nodes: &Nodes) -> usize {
        self.is_over.store(true, Ordering::Relaxed);
        let written = self.writers.join_all().await.concat();
        let mut kept: HashMap<String, usize> = HashMap::new();
        for title in titles_meanwhile(nodes.database.url()).await {
            *kept.entry(title).or_default() += 1;
        }
        let lost: Vec<_> = written
            .iter()
            .filter(|it| !kept.contains_key(*it))
            .collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        let twice: Vec<_> = kept.iter().filter(|it| *it.1 != 1).collect();
        assert!(twice.is_empty(), "there twice: {twice:?}");
        assert_eq!(kept.len(), written.len());
        written.len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_that_are_replaced_one_after_the_other_fail_no_request() {
    let Some(mut nodes) = nodes().await else {
        return;
    };
    let load = Load::start(&nodes).await;
    for place in 0..NODES {
        sleep(Duration::from_secs(1)).await;
        nodes.all[place].take().expect("it runs").stop();
        nodes.replace(place);
    }
    sleep(Duration::from_secs(1)).await;
    assert_eq!(load.failures(), 0);
    let written = load.end(&nodes).await;
    assert!(written > NODES, "{written}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_node_fails_at_most_what_it_held() {
    let Some(mut nodes) = nodes().await else {
        return;
    };
    let load = Load::start(&nodes).await;
    sleep(Duration::from_secs(1)).await;
    nodes.all[1].take().expect("it runs").kill();
    sleep(Duration::from_secs(2)).await;
    let failures = load.failures();
    assert!(failures <= WRITERS, "{failures} requests failed");
    nodes.replace(1);
    load.end(&nodes).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_go_on_when_their_database_was_stopped_at_once() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let Some(nodes) = Nodes::start(server.database()) else {
        return;
    };
    let load = Load::start(&nodes).await;
    for _ in 0..2 {
        sleep(Duration::from_secs(1)).await;
        server.start_again();
    }
    sleep(Duration::from_secs(2)).await;
    // Each of the writers writes on, or it would end the test.
    let written = load.end(&nodes).await;
    assert!(written > WRITERS, "{written}");
}
