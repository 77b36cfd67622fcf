//! Large answers: lists in all formats, batches of them, and readers who take their time.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::time::{Instant, sleep};

use super::super::ground::{Ground, machine_of_attackers};
use super::super::tally::{NO_ANSWER, Tally};
use super::{get, pick, post, repeat};

const WORKERS: usize = 8;
const SLOW_READERS: usize = 40;
const FORMATS: [&str; 5] = ["json", "xml", "html", "atom", "csv"];
/// The pause of a slow reader between two reads, the bytes of each, and the number of reads before it leaves.
const PAUSE: Duration = Duration::from_millis(200);
const SIP: usize = 1_024;
const SIPS: usize = 50;

pub(super) async fn attack(ground: &Ground, until: Instant) -> Tally {
    let attackers = ground.attackers.clone();
    let quick = repeat(WORKERS, until, {
        let attackers = attackers.clone();
        move |worker, turn| {
            let attacker = pick(&attackers, worker);
            async move {
                let format = FORMATS.iter().cycle().nth(turn).expect("a format");
                let path = format!(
                    "announcement/site/{}.{format}?n=200&_limit=200",
                    attacker.site
                );
                if turn % 3 > 0 {
                    return get(&attacker.client, &format!("/direct/{path}")).await;
                }
                let operation = json!({"method": "GET", "path": path});
                let batch = json!({"operations": vec![operation; 5]});
                post(&attacker.client, "/direct/batch.json", &batch).await
            }
        }
    });
    let port = ground.process.port();
    let slow = repeat(SLOW_READERS, until, move |worker, _turn| {
        let attacker = pick(&attackers, worker);
        async move {
            let path = format!(
                "/direct/announcement/site/{}.json?_limit=200",
                attacker.site
            );
            let cookie = attacker.client.cookie().expect("a session").to_owned();
            read_slowly(port, &path, &cookie).await.unwrap_or(NO_ANSWER)
        }
    });
    let (mut sum, slow) = tokio::join!(quick, slow);
    sum.merge(&slow);
    sum
}

/// Asks for `path` and reads a little now and then; the status, if there was an answer.
async fn read_slowly(port: u16, path: &str, cookie: &str) -> std::io::Result<u16> {
    let socket = TcpSocket::new_v4()?;
    let machine = IpAddr::V4(machine_of_attackers(0));
    socket.bind(SocketAddr::new(machine, 0))?;
    socket.set_recv_buffer_size(4 << 10)?;
    let service = SocketAddr::from(([127, 0, 0, 1], port));
    let mut stream = socket.connect(service).await?;
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut buffer = [0; SIP];
    let head = stream.read(&mut buffer).await?;
    let head = String::from_utf8_lossy(buffer.get(..head).unwrap_or_default()).into_owned();
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    for _ in 0..SIPS {
        sleep(PAUSE).await;
        if status != Some(200) || stream.read(&mut buffer).await? == 0 {
            break;
        }
    }
    Ok(status.unwrap_or(NO_ANSWER))
}
