//! A listener for load balancers alone, with its own thread: requests that keep the service busy do not
//! delay its answers.

use std::io::Result;
use std::net::{SocketAddr, TcpListener};
use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;

use axum::Router;
use futures::FutureExt as _;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::{Health, router};
use crate::base::listen::{self, ListenOptions};
use crate::base::metrics::MetricsRegistry;
use crate::base::panic;

/// The time for which a client may be silent, whatever it is doing.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time for which a client may keep its connection between two questions: longer than any usual pause.
const IDLE: Duration = Duration::from_mins(2);
/// The maximum number of connections: load balancers need few.
const CONNECTIONS: usize = 64;

/// The listener. It answers until this is dropped.
#[derive(Debug)]
pub struct HealthListener {
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl HealthListener {
    /// Serves at `address` the probes of `health`, and the `figures` of the service.
    ///
    /// # Errors
    /// Nobody can listen there, or the machine has no thread to spare.
    pub fn start(address: SocketAddr, health: Health, figures: MetricsRegistry) -> Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new()
            .name("health".to_owned())
            .spawn(move || {
                let told = health.clone();
                let serving = AssertUnwindSafe(serve(listener, router(health, figures), stopped))
                    .catch_unwind();
                let cause = match runtime.block_on(serving) {
                    Ok(Ok(())) => return,
                    Ok(Err(error)) => error.to_string(),
                    Err(payload) => panic::text(&*payload).to_owned(),
                };
                told.degrade("health listener", "it no longer answers");
                tracing::error!(cause, "can't listen on {address}");
            })?;
        Ok(Self {
            address,
            _stop: stop,
        })
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Serves until nobody holds the other end of `stopped`.
async fn serve(
    listener: TcpListener,
    router: Router,
    stopped: oneshot::Receiver<()>,
) -> Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let options = ListenOptions {
        first_byte: PATIENCE,
        head: PATIENCE,
        idle: IDLE,
        write: PATIENCE,
        head_bytes: 8192,
        head_fields: 64,
        connections: CONNECTIONS,
        per_address: CONNECTIONS,
        drain_delay: Duration::ZERO,
        hard_stop: Duration::ZERO,
    };
    // While the service drains it is still asked, and says so: this listener has no drain of its own.
    let never = std::future::pending();
    tokio::select! {
        () = listen::serve(listener, router, options, |_| false, Health::default(), never) => {}
        _ = stopped => {}
    }
    Ok(())
}
