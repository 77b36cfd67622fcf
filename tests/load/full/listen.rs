//! The listener against clients that are slow, silent, greedy or stuck, over real sockets.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::routing::{get, post};
use futures::stream;
use server::base::health::Health;
use server::base::listen::{ListenOptions, serve};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A limit that a test waits for.
const SHORT: Duration = Duration::from_millis(200);
/// A limit that no test reaches: what ends before was ended by another one.
const LONG: Duration = Duration::from_mins(1);
/// The time for which a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(10);

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn options() -> ListenOptions {
    ListenOptions {
        first_byte: LONG,
        head: LONG,
        idle: LONG,
        write: LONG,
        head_bytes: 16 * 1024,
        head_fields: 64,
        connections: 100,
        per_address: 100,
        drain_delay: Duration::ZERO,
        hard_stop: LONG,
    }
}

struct Service {
    address: SocketAddr,
    health: Health,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

impl Service {
    async fn start(options: ListenOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("it goes on");
        let address = listener.local_addr().expect("it goes on");
        let health = Health::default();
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = serve(
            listener,
            router(),
            options,
            |_| false,
            health.clone(),
            async move { drop(stopped.await) },
        );
        Self {
            address,
            health,
            stop: Some(stop),
            serving: tokio::spawn(serving),
        }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("it goes on")
    }

    fn stop(&mut self) {
        self.stop
            .take()
            .expect("it goes on")
            .send(())
            .expect("it goes on");
    }

    /// Returns the time for which the listener goes on.
    async fn ended(self) -> Duration {
        let begin = Instant::now();
        tokio::time::timeout(PATIENCE, self.serving)
            .await
            .expect("the listener should end")
            .expect("it goes on");
        begin.elapsed()
    }
}

fn router() -> Router {
    Router::new()
        .route("/", get(|| async { "ok" }))
        .route("/large", get(|| async { vec![b'x'; 64 * 1024 * 1024] }))
        .route("/slow", get(|| async { Body::from_stream(drip()) }))
        .route("/stuck", get(std::future::pending::<()>))
        .route("/unread", post(|| async { "ok" }))
        .route(
            "/late",
            get(|| async {
                tokio::time::sleep(SHORT).await;
                "late"
            }),
        )
}

/// Ten letters, together longer than [`SHORT`] takes twice.
fn drip() -> impl stream::Stream<Item = Result<Bytes, std::convert::Infallible>> {
    stream::unfold(0, |sent| async move {
        tokio::time::sleep(SHORT / 4).await;
        (sent < 10).then(|| (Ok(Bytes::from_static(b"x")), sent + 1))
    })
}

/// Everything that the service sends until it closes, and when that was.
async fn until_closed(stream: &mut TcpStream) -> (String, Duration) {
    let begin = Instant::now();
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut bytes));
    // A reset closes as well as an orderly end.
    drop(read.await.expect("the connection should be closed"));
    (
        String::from_utf8(bytes).expect("it goes on"),
        begin.elapsed(),
    )
}

/// One answer with the body `ok`.
async fn read_ok(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    while !text.ends_with("\r\n\r\nok") {
        let mut buffer = [0; 1024];
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut buffer));
        let length = read
            .await
            .expect("an answer should come")
            .expect("it goes on");
        assert_ne!(length, 0, "closed after {text:?}");
        text.push_str(std::str::from_utf8(&buffer[..length]).expect("it goes on"));
    }
    text
}

#[tokio::test]
async fn http_1_a_silent_connection_is_closed() {
    let service = Service::start(ListenOptions {
        first_byte: SHORT,
        ..options()
    })
    .await;
    let (answer, after) = until_closed(&mut service.connect().await).await;
    assert_eq!(answer, "");
    assert!(after >= SHORT / 2, "{after:?}");
}

#[tokio::test]
async fn http_1_half_a_head_is_closed() {
    let service = Service::start(ListenOptions {
        head: SHORT,
        ..options()
    })
    .await;
    let mut stream = service.connect().await;
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: ")
        .await
        .expect("it goes on");
    let (answer, after) = until_closed(&mut stream).await;
    assert!(!answer.contains("200 OK"), "{answer}");
    assert!(after >= SHORT / 2, "{after:?}");
}

#[tokio::test]
async fn http_1_a_head_that_drips_wins_no_time() {
    let service = Service::start(ListenOptions {
        head: SHORT,
        ..options()
    })
    .await;
    let mut stream = service.connect().await;
    let begin = Instant::now();
    stream
        .write_all(b"GET / HTTP/1.1\r\nX: ")
        .await
        .expect("it goes on");
    while stream.write_all(b"x").await.is_ok() {
        assert!(begin.elapsed() < PATIENCE, "the drip was never cut off");
        tokio::time::sleep(SHORT / 10).await;
    }
}

#[tokio::test]
async fn http_1_the_head_of_a_second_request_has_its_limit_too() {
    let service = Service::start(ListenOptions {
        head: SHORT,
        ..options()
    })
    .await;
    let mut stream = service.connect().await;
    stream.write_all(GET).await.expect("it goes on");
    read_ok(&mut stream).await;
    stream.write_all(b"GET / HT").await.expect("it goes on");
    until_closed(&mut stream).await;
}

#[tokio::test]
async fn http_1_an_idle_connection_is_closed() {
    let service = Service::start(ListenOptions {
        idle: SHORT,
        ..options()
    })
    .await;
    let mut stream = service.connect().await;
    for _ in 0..3 {
        stream.write_all(GET).await.expect("it goes on");
        read_ok(&mut stream).await;
    }
    let (_, after) = until_closed(&mut stream).await;
    assert!(after >= SHORT / 2, "{after:?}");
}

#[tokio::test]
async fn http_1_a_request_that_is_worked_on_is_not_idle() {
    let all = ListenOptions {
        first_byte: SHORT / 4,
        head: SHORT / 4,
        idle: SHORT / 4,
        ..options()
    };
    let service = Service::start(all).await;
    let mut stream = service.connect().await;
    stream
        .write_all(b"GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .expect("it goes on");
    let (answer, _) = until_closed(&mut stream).await;
    assert!(answer.ends_with("late"), "{answer}");
}

#[tokio::test]
async fn http_1_a_long_answer_is_not_idle() {
    let service = Service::start(ListenOptions {
        idle: SHORT,
        ..options()
    })
    .await;
    let mut stream = service.connect().await;
    stream
        .write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .expect("it goes on");
    let (answer, _) = until_closed(&mut stream).await;
    assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn http_1_a_client_that_takes_nothing_is_cut_off() {
    let service = Service::start(ListenOptions {
        write: SHORT,
        connections: 1,
        ..options()
    })
    .await;
    let mut stuck = service.connect().await;
    stuck
        .write_all(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .expect("it goes on");
    // The only place is free again although the client never closes.
    let mut next = service.connect().await;
    next.write_all(GET).await.expect("it goes on");
    read_ok(&mut next).await;
}

#[tokio::test]
async fn http_1_an_answer_before_the_whole_body_ends_the_connection() {
    let service = Service::start(options()).await;
    let mut stream = service.connect().await;
    let head = b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf";
    stream.write_all(head).await.expect("it goes on");
    let (answer, _) = until_closed(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn http_1_large_heads_are_refused() {
    let service = Service::start(options()).await;
    let fields = "X: y\r\n".repeat(65);
    let bytes = format!("X: {}\r\n", "y".repeat(20 * 1024));
    for head in [fields, bytes] {
        let mut stream = service.connect().await;
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{head}\r\n");
        drop(stream.write_all(request.as_bytes()).await);
        let (answer, _) = until_closed(&mut stream).await;
        assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
    }
    let fields = "X: y\r\n".repeat(60);
    let bytes = format!("X: {}\r\n", "y".repeat(15 * 1024));
    for head in [fields, bytes] {
        let mut stream = service.connect().await;
        let request = format!("GET / HTTP/1.1\r\nHost: a\r\n{head}\r\n");
        stream
            .write_all(request.as_bytes())
            .await
            .expect("it goes on");
        read_ok(&mut stream).await;
    }
}

#[tokio::test]
async fn http_1_connections_beyond_the_cap_wait_for_a_place() {
    let service = Service::start(ListenOptions {
        connections: 1,
        ..options()
    })
    .await;
    let mut first = service.connect().await;
    first.write_all(GET).await.expect("it goes on");
    read_ok(&mut first).await;
    let mut second = service.connect().await;
    second.write_all(GET).await.expect("it goes on");
    let early = tokio::time::timeout(SHORT, second.read_u8()).await;
    assert!(early.is_err(), "the second was served beside the first");
    drop(first);
    read_ok(&mut second).await;
}

#[tokio::test]
async fn http_2_after_two_framings_no_further_request_is_served() {
    let service = Service::start(options()).await;
    let mut stream = service.connect().await;
    let smuggled = b"POST /unread HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n\
                     0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
    stream.write_all(smuggled).await.expect("it goes on");
    let (answer, _) = until_closed(&mut stream).await;
    assert!(answer.matches("HTTP/1.1 200").count() <= 1, "{answer}");
}

#[tokio::test]
async fn rel_5_idle_connections_end_at_once_and_requests_are_finished() {
    let mut service = Service::start(options()).await;
    let (mut idle, mut busy) = (service.connect().await, service.connect().await);
    idle.write_all(GET).await.expect("it goes on");
    read_ok(&mut idle).await;
    busy.write_all(b"GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .expect("it goes on");
    // The busy one is in flight once a later one was answered.
    idle.write_all(GET).await.expect("it goes on");
    read_ok(&mut idle).await;
    service.stop();
    let (answer, _) = until_closed(&mut busy).await;
    assert!(answer.ends_with("late"), "{answer}");
    assert!(
        answer.to_lowercase().contains("connection: close"),
        "{answer}"
    );
    until_closed(&mut idle).await;
    service.ended().await;
}

#[tokio::test]
async fn rel_5_connections_are_accepted_until_the_delay_is_over() {
    let mut service = Service::start(ListenOptions {
        drain_delay: SHORT * 5,
        ..options()
    })
    .await;
    assert!(!service.health.is_draining());
    service.stop();
    while !service.health.is_draining() {
        tokio::task::yield_now().await;
    }
    let mut late = service.connect().await;
    late.write_all(GET).await.expect("it goes on");
    read_ok(&mut late).await;
    let address = service.address;
    service.ended().await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn rel_5_stuck_clients_do_not_outlive_the_hard_stop() {
    let mut service = Service::start(ListenOptions {
        hard_stop: SHORT,
        ..options()
    })
    .await;
    let mut half = service.connect().await;
    half.write_all(b"GET / HTTP/1.1\r\nHo")
        .await
        .expect("it goes on");
    let mut stuck = service.connect().await;
    stuck
        .write_all(b"GET /stuck HTTP/1.1\r\nHost: a\r\n\r\n")
        .await
        .expect("it goes on");
    let mut fine = service.connect().await;
    fine.write_all(GET).await.expect("it goes on");
    read_ok(&mut fine).await;
    service.stop();
    let after = service.ended().await;
    assert!(after >= SHORT / 2, "{after:?}");
    until_closed(&mut half).await;
    until_closed(&mut stuck).await;
}

#[tokio::test]
async fn rel_5_whoever_drops_the_listener_ends_its_connections() {
    let service = Service::start(options()).await;
    let mut stream = service.connect().await;
    stream.write_all(GET).await.expect("it goes on");
    read_ok(&mut stream).await;
    service.serving.abort();
    until_closed(&mut stream).await;
}

#[tokio::test]
async fn rel_5_a_service_that_drains_sends_its_clients_away() {
    let mut service = Service::start(ListenOptions {
        drain_delay: LONG,
        ..options()
    })
    .await;
    let mut stream = service.connect().await;
    stream.write_all(GET).await.expect("it goes on");
    assert!(!read_ok(&mut stream).await.contains("connection: close"));
    service.stop();
    while !service.health.is_draining() {
        tokio::task::yield_now().await;
    }
    stream.write_all(GET).await.expect("it goes on");
    let (answer, _) = until_closed(&mut stream).await;
    assert!(answer.contains("connection: close"), "{answer}");
    assert!(answer.ends_with("ok"), "{answer}");
}
