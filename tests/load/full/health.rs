//! The answers to load balancers, while all is well, while the database is away, and while the service is busy.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use http::StatusCode;
use load::{Backend, Client, TestApp, both, database};
use server::base::health::HealthListener;

const LIVE: &str = "/livez";
const READY: &str = "/readyz";
/// The time until a change is noticed: the last answer may be five seconds old, and getting one takes some time too.
const NOTICED: Duration = Duration::from_secs(8);

/// Asks again and again until the service says this of whether it is ready.
async fn until(client: &Client, expected: StatusCode) {
    let begin = Instant::now();
    while client.get(READY).await.status != expected {
        assert!(begin.elapsed() < NOTICED, "it never says {expected}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn rel_8_a_service_without_its_database_lives_and_is_not_ready() {
    database::on(Backend::Postgres, |app: TestApp| async move {
        let client = app.anonymous();
        client.get(READY).await.expect(StatusCode::OK);
        app.database().go_away().await;
        // Nobody asks the database for an answer: it is what was known a moment ago.
        for _ in 0..100 {
            client.get(READY).await.expect(StatusCode::OK);
        }
        until(&client, StatusCode::SERVICE_UNAVAILABLE).await;
        client.get(LIVE).await.expect(StatusCode::OK);
        app.database().come_back().await;
        until(&client, StatusCode::OK).await;
    })
    .await;
}

both! {
    async fn rel_5_a_service_that_drains_lives_and_is_not_ready(app: TestApp) {
        let client = app.anonymous();
        client.get(READY).await.expect(StatusCode::OK);
        app.service().health.drain();
        client.get(READY).await.expect(StatusCode::SERVICE_UNAVAILABLE);
        client.get(LIVE).await.expect(StatusCode::OK);
        client.post_form(READY, "").await.expect(StatusCode::METHOD_NOT_ALLOWED);
    }
}

/// The first line of the answer to a question that keeps this thread busy until the answer is there.
fn ask(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(NOTICED))?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: health\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

/// This test has one thread, which all requests share, and keeps it busy while it asks.
#[tokio::test]
async fn rel_8_the_listener_for_load_balancers_answers_while_the_service_is_busy() {
    database::on(Backend::Sqlite, |app: TestApp| async move {
        let health = app.service().health.clone();
        let any: SocketAddr = ([127, 0, 0, 1], 0).into();
        let listener = HealthListener::start(any, health.clone(), app.service().figures.clone())
            .expect("a free port");
        let address = listener.address();
        let line = |path| ask(address, path).expect("an answer");
        assert_eq!(line(LIVE), "HTTP/1.1 200 OK");
        assert_eq!(line(READY), "HTTP/1.1 200 OK");
        assert_eq!(line("/direct"), "HTTP/1.1 404 Not Found");
        health.drain();
        assert_eq!(line(LIVE), "HTTP/1.1 200 OK");
        assert_eq!(line(READY), "HTTP/1.1 503 Service Unavailable");
        drop(listener);
        let begin = Instant::now();
        while TcpStream::connect(address).is_ok() {
            assert!(
                begin.elapsed() < NOTICED,
                "it listens although nobody holds it"
            );
        }
    })
    .await;
}
