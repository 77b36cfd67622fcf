//! The accept loop: connections with limits and deadlines, and an end that does not wait for ever.
//!
//! HTTP/1.1 only. TLS is the business of the proxy in front.

mod admission;
pub(crate) mod descriptors;
mod io;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Request};
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Service;

use crate::base::address::Peer;
use crate::base::config::Config;
use crate::base::health::Health;

use admission::{Admission, Ticket};
use io::{Phase, TimedStream};

/// The time for which the loop waits after an accept that failed, for example for want of file descriptors.
const BACK_OFF: Duration = Duration::from_millis(50);

/// The number of connections the system keeps that were not accepted yet.
const BACKLOG: u32 = 1024;

/// Listens at `address`.
///
/// # Errors
/// Nobody can.
pub fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The limits of a listener.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// The time for which a new connection may be silent.
    pub first_byte: Duration,
    /// The time that the head of a request may take.
    pub head: Duration,
    /// The time for which a connection may be silent between two requests.
    pub idle: Duration,
    /// The time for which a client may take nothing of an answer.
    pub write: Duration,
    /// The largest head, in bytes.
    pub head_bytes: usize,
    /// The largest number of header fields.
    pub head_fields: usize,
    /// The number of connections that may be open; further ones wait.
    pub connections: usize,
    /// The number of them that one address may have.
    pub per_address: usize,
    /// The time for which connections are still accepted after the signal to stop.
    pub drain_delay: Duration,
    /// The time after the signal until everything ends.
    pub hard_stop: Duration,
}

impl From<&Config> for ListenOptions {
    fn from(config: &Config) -> Self {
        Self {
            first_byte: config.timeouts.first_byte,
            head: config.timeouts.header,
            idle: config.timeouts.idle,
            write: config.timeouts.write,
            head_bytes: config.limits.header_bytes.0,
            head_fields: config.limits.header_fields,
            connections: config.limits.connections,
            per_address: config.limits.connections_per_address,
            drain_delay: config.shutdown.drain_delay,
            hard_stop: config.shutdown.hard_stop,
        }
    }
}

/// Serves `service` until `stop` says so, then drains: not ready at once, closed to new connections after
/// the delay, ended at the latest by the hard stop. No connection outlives the future, however it ends.
pub async fn serve<S: Serves>(
    listener: TcpListener,
    service: S,
    options: ListenOptions,
    exempt: impl Fn(std::net::IpAddr) -> bool + Send + Sync + 'static,
    health: Health,
    stop: impl Future<Output = ()> + Send,
) {
    let (closing, closed) = watch::channel(false);
    let cut = CancellationToken::new();
    let _cut_at_the_end = cut.clone().drop_guard();
    let connections = TaskTracker::new();
    let admission = Admission::new(options.connections, options.per_address, exempt);
    let server = Server {
        service,
        options: Arc::new(options),
        closed,
        cut,
        health: health.clone(),
    };
    tokio::select! {
        () = accept(&listener, &server, &admission, &connections) => {}
        () = stop => {}
    }
    health.drain();
    tracing::info!(
        "stopping: no longer ready, still accepting for {:?}",
        server.options.drain_delay
    );
    tokio::select! {
        () = accept(&listener, &server, &admission, &connections) => {}
        () = tokio::time::sleep(server.options.drain_delay) => {}
    }
    drop(listener);
    // Nobody hears it when there is no connection.
    let _ = closing.send(true);
    connections.close();
    let left = server
        .options
        .hard_stop
        .saturating_sub(server.options.drain_delay);
    if tokio::time::timeout(left, connections.wait())
        .await
        .is_err()
    {
        tracing::warn!(
            connections = connections.len(),
            "stopping: cut off connections that did not end in time"
        );
    }
}

/// A service that answers the requests of connections.
pub trait Serves:
    Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Serves for S where
    S: Service<Request<Body>, Response = Response, Error = Infallible, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}

/// Marks an answer that refuses a request for want of room: its connection is read on after a pause, so that a client
/// that tries again at once does not keep the service busy with refusals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadLater;

/// Things that every connection shares.
#[derive(Clone)]
struct Server<S> {
    service: S,
    options: Arc<ListenOptions>,
    closed: watch::Receiver<bool>,
    cut: CancellationToken,
    health: Health,
}

async fn accept<S: Serves>(
    listener: &TcpListener,
    server: &Server<S>,
    admission: &Admission,
    connections: &TaskTracker,
) {
    loop {
        let place = admission.place().await;
        match listener.accept().await {
            Ok((stream, peer)) => {
                // An address that has all its connections gets no further one: it is closed at once.
                if let Some(ticket) = admission.admit(place, peer.ip()) {
                    let server = server.clone();
                    let cut = server.cut.clone();
                    let connection = connection(stream, peer, server, ticket);
                    connections.spawn(cut.run_until_cancelled_owned(connection));
                }
            }
            Err(error) => {
                tracing::warn!(
                    error = crate::base::telemetry::cause(&error),
                    "can't accept a connection; trying again"
                );
                tokio::time::sleep(BACK_OFF).await;
            }
        }
    }
}

async fn connection<S: Serves>(
    stream: TcpStream,
    peer: SocketAddr,
    mut server: Server<S>,
    _ticket: Ticket,
) {
    drop(stream.set_nodelay(true));
    let options = Arc::clone(&server.options);
    let phase = Phase::default();
    let stream = TimedStream::new(stream, phase.clone(), Arc::clone(&options));
    let service = server.service.clone();
    let health = server.health.clone();
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        phase.begin_request();
        request.extensions_mut().insert(Peer(peer));
        let answer = service.clone().call(request.map(Body::new));
        let (phase, health) = (phase.clone(), health.clone());
        async move {
            let mut response = answer.await;
            match &response {
                Ok(it) if it.extensions().get::<ReadLater>().is_some() => phase.refuse_request(),
                _ => phase.end_request(),
            }
            if let Ok(response) = &mut response
                && health.is_draining()
            {
                // The next request of this client goes to somebody else.
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            response
        }
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(None::<Duration>)
        .max_headers(options.head_fields)
        .max_buf_size(options.head_bytes.max(8192))
        .half_close(false);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = closed(&mut server.closed) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(
            error = crate::base::telemetry::cause(&error),
            "a connection ended early"
        );
    }
}

/// Waits until the listener is closed.
async fn closed(state: &mut watch::Receiver<bool>) {
    drop(state.wait_for(|it| *it).await);
}
