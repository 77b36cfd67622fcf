//! The driver of the benchmark counts what a server answers, and when.

use std::time::Duration;

use load::bench::driver::{Load, Request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// Answers one request at a time on each connection, all after `pause`; every fourth one is refused.
async fn server(pause: Duration) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        let mut number = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            number += 1;
            let status = if number % 4 == 0 {
                "503 Busy"
            } else {
                "200 OK"
            };
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 2\r\n\r\nok");
            tokio::spawn(async move {
                let mut seen = [0; 1000];
                while stream.read(&mut seen).await.is_ok_and(|it| it > 0) {
                    tokio::time::sleep(pause).await;
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

fn load(port: u16, connections: usize, rate: Option<f64>) -> Load {
    Load {
        port,
        requests: [Request::get("/a", &[])].into(),
        expected: 200,
        connections,
        rate,
        patience: Duration::from_mins(1),
    }
}

#[tokio::test]
async fn a_schedule_does_not_wait_for_answers() {
    let port = server(Duration::from_millis(100)).await;
    let outcome = load(port, 200, Some(500.0))
        .send(Duration::from_millis(400))
        .await;
    assert_eq!(outcome.sent() + outcome.unsent, 200, "{outcome:?}");
    assert!(outcome.refused() > 0 && outcome.answers.count() > outcome.refused());
    assert_eq!((outcome.timeouts, outcome.broken), (0, 0));
    let late = outcome.answers.count() - outcome.in_time;
    assert!(late > 0, "the last ones come behind the end: {outcome:?}");
    assert!(outcome.answers.below(0) >= Duration::from_millis(100));
}

#[tokio::test]
async fn who_waits_for_a_connection_waits_for_the_server() {
    let port = server(Duration::from_millis(100)).await;
    // One connection takes ten in a second, and a hundred are due.
    let outcome = load(port, 1, Some(100.0))
        .send(Duration::from_millis(500))
        .await;
    assert_eq!(outcome.sent() + outcome.unsent, 50, "{outcome:?}");
    assert!(outcome.unsent > 40, "{outcome:?}");
    assert!(outcome.answers.below(99) >= Duration::from_millis(150));
}

#[tokio::test]
async fn without_a_rate_each_connection_sends_after_an_answer() {
    let port = server(Duration::from_millis(20)).await;
    let outcome = load(port, 3, None).send(Duration::from_millis(200)).await;
    assert!((3..=33).contains(&outcome.sent()), "{outcome:?}");
    assert_eq!(outcome.unsent, 0);
}

#[tokio::test]
async fn silence_and_a_closed_door_are_counted() {
    let port = server(Duration::from_mins(1)).await;
    let mut silent = load(port, 2, Some(100.0));
    silent.patience = Duration::from_millis(50);
    let outcome = silent.send(Duration::from_millis(100)).await;
    assert!(
        outcome.timeouts > 0 && outcome.sent() == outcome.timeouts,
        "{outcome:?}"
    );
    let nobody = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = nobody.local_addr().expect("an address").port();
    drop(nobody);
    let outcome = load(port, 2, Some(100.0))
        .send(Duration::from_millis(50))
        .await;
    assert_eq!(outcome.broken, outcome.sent(), "{outcome:?}");
}
