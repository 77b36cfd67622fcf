//! Runs below callgrind: answers the requests of each case, and marks where a case begins and ends.

use std::convert::Infallible;
use std::hint::black_box;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::task::{self, Waker};

use axum::body::Body;
use axum::response::Response;
use http::Request;
use http::header::{COOKIE, HOST as HOST_HEADER};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use server::App;
use server::base::address::Peer;
use tower::Service;

use super::cases::{self, Case, Contender, SAMPLES};
use super::connection::Connection;
use super::prepare::Cookies;
use crate::{app, bare};

/// The file of the database in its folder.
pub(super) const FILE: &str = "lectern.db";
/// The name that the client calls the server by.
const HOST: &str = "127.0.0.1:8080";
/// The address of the client.
const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 50_000);

/// Serves the requests of all cases over the database in `folder`, on behalf of those whom `cookies` tell.
pub(super) fn serve_all(folder: &Path, cookies: &Cookies) {
    // One thread: what it does when does not depend on how many cores there are.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime of one thread");
    runtime.block_on(async {
        let file = folder.join(FILE);
        let router = bare::router(file.clone(), &format!("http://{HOST}"), cookies.users());
        for case in cases::of(Contender::Bare) {
            serve(&case, cookies.of(case.who), &router, None).await;
        }
        let url = format!("sqlite://{}", file.display());
        let lectern = start(&url, &[]).await;
        for case in cases::of(Contender::Lectern) {
            let cookie = cookies.of(case.who);
            serve(&case, cookie, &lectern, Some(&lectern)).await;
        }
        let full = start(&url, &[("admission.reads", "1"), ("admission.queue", "1")]).await;
        for case in cases::of(Contender::Full) {
            let cookie = cookies.of(case.who);
            // One runs, and one waits.
            let held = [(); 2].map(|()| take_place(&full, &case, cookie));
            serve(&case, cookie, &full, Some(&full)).await;
            drop(held);
        }
    });
}

async fn start(url: &str, settings: &[(&str, &str)]) -> App {
    let parts = app::parts(Arc::default());
    let file = Path::new(url.trim_start_matches("sqlite://"));
    let files = file.with_file_name("files").display().to_string();
    let settings = [settings, &[("files.folder", &files)]].concat();
    let app = App::start(app::config(url, &settings), parts).await;
    app.expect("a service that starts")
}

/// Sends a request of `case`, which keeps its place until it is dropped.
fn take_place(app: &App, case: &Case, cookie: &str) -> impl Future {
    let path = case.paths.first().expect("a path");
    let request = Request::get(path).header(HOST_HEADER, HOST);
    let request = request.header(COOKIE, cookie).extension(Peer(PEER));
    let request = request.body(Body::empty()).expect("a request");
    let mut held = app.clone().call(request);
    let polled = held
        .as_mut()
        .poll(&mut task::Context::from_waker(Waker::noop()));
    assert!(polled.is_pending(), "it waits for its place or its session");
    held
}

/// Serves the requests of `case` several times, each time between two marks, after a time that warms up. The audit rows
/// of the service are stored before the second mark.
async fn serve<S: Serves>(case: &Case, cookie: &str, service: &S, app: Option<&App>) {
    let requests: Vec<_> = case.paths.iter().map(|it| request(it, cookie)).collect();
    for _warm_and_counted in 0..=SAMPLES {
        mark();
        let connection = Connection::new(&requests, case.rounds, case.contender.status());
        let connection = answer(service.clone(), connection).await;
        assert_eq!(connection.left(), 0, "`{}` is not answered", case.name);
        if let Some(app) = app {
            app.audit.flush().await;
        }
    }
    mark();
}

/// Before each call of this, callgrind writes what it has counted since the last one. See `callgrind.rs`.
#[inline(never)]
fn mark() {
    black_box(());
}

trait Serves:
    Service<Request<Body>, Response = Response, Error = Infallible, Future: Send> + Clone + Send + Sync
{
}

impl<S> Serves for S where
    S: Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
{
}

/// Answers what `connection` asks, as the listener of the service does.
async fn answer<S: Serves>(service: S, connection: Connection) -> Connection {
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(Peer(PEER));
        service.clone().call(request.map(Body::new))
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(None)
        .half_close(false)
        .serve_connection(TokioIo::new(connection), service);
    let parts = serving.without_shutdown().await;
    parts.expect("requests that make sense").io.into_inner()
}

fn request(path: &str, cookie: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\nCookie: {cookie}\r\n\r\n").into_bytes()
}
