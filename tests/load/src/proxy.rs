//! A proxy before a PostgreSQL server that loses or holds back the answer to a COMMIT when it is told to.

use std::future::pending;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::JoinSet;

use crate::app::HURRIED;
use crate::{Backend, TestApp, template};

/// The message that commits.
const COMMIT: &[u8] = b"COMMIT\0";

/// The fate of the next COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server never gets it.
    Before,
    /// The server carries it out, and the answer gets lost.
    After,
    /// The server carries it out, and the answer never comes, although the connection stays.
    Held,
}

/// The decision on the next COMMIT; without one it passes, and so does the answer.
#[derive(Debug, Default)]
struct Decision(Mutex<Option<Cut>>);

impl Decision {
    fn replace(&self, next: Option<Cut>) -> Option<Cut> {
        let mut decided = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut decided, next)
    }
}

/// The proxy. It ends when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    cut: Arc<Decision>,
    _tasks: JoinSet<()>,
}

impl Proxy {
    /// Starts the service on a PostgreSQL database with the demo university that it reaches by way of a proxy; `None`
    /// where PostgreSQL is not installed.
    pub async fn before_app(settings: &[(&str, &str)]) -> Option<(TestApp, Self)> {
        let database = template::copy(Backend::Postgres).await?;
        let proxy = Self::start(database.socket()).await;
        let url = format!(
            "postgres://postgres@127.0.0.1:{}/{}",
            proxy.port(),
            database.name()
        );
        let is_given = |key: &str| settings.iter().any(|it| it.0 == key);
        let usual = HURRIED.iter().filter(|it| !is_given(it.0));
        let settings: Vec<_> = usual.chain(settings).copied().collect();
        let app = TestApp::start(database.reached_at(url), &settings).await;
        Some((app, proxy))
    }

    /// Starts one before the server that listens on this socket.
    pub async fn start(socket: PathBuf) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let cut = Arc::new(Decision::default());
        let mut tasks = JoinSet::new();
        let own = Arc::clone(&cut);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let (socket, cut) = (socket.clone(), Arc::clone(&own));
                // Whoever is cut off notices by himself.
                connections.spawn(async move { drop(pass(client, &socket, &cut).await) });
            }
        });
        Self {
            port,
            cut,
            _tasks: tasks,
        }
    }

    /// Returns the port on which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Decides on the next COMMIT; those after it pass.
    pub fn cut(&self, cut: Cut) {
        self.cut.replace(Some(cut));
    }

    /// Returns whether the COMMIT that was decided on has come. If it has not, the decision is taken back.
    pub fn has_cut(&self) -> bool {
        self.cut.replace(None).is_none()
    }
}

/// Passes on what both sides send, until one of them is gone or the connection is cut.
async fn pass(mut client: TcpStream, socket: &Path, cut: &Decision) -> std::io::Result<()> {
    let mut server = UnixStream::connect(socket).await?;
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            count = client.read(&mut asked) => {
                let bytes = asked.get(..count?).unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(());
                }
                let commits = bytes.windows(COMMIT.len()).any(|it| it == COMMIT);
                let what = if commits { cut.replace(None) } else { None };
                if what == Some(Cut::Before) {
                    return Ok(());
                }
                server.write_all(bytes).await?;
                match what {
                    Some(Cut::After) => return server.read(&mut answered).await.map(drop),
                    Some(Cut::Held) => pending().await,
                    _ => {}
                }
            }
            count = server.read(&mut answered) => {
                let bytes = answered.get(..count?).unwrap_or_default();
                if bytes.is_empty() {
                    return Ok(());
                }
                client.write_all(bytes).await?;
            }
        }
    }
}
