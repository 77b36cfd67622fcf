//! Just enough of HTTP/1.1 to load a server: one request at a time on a connection, and answers that are counted and
//! thrown away.

use std::fmt::Write as _;
use std::io::{Error, ErrorKind, Result};
use std::str;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// More than the head of an answer and the first part of its body.
const BUFFER: usize = 64 * 1024;
/// The end of a chunked body. No body that we ask for has it within.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// A request, as it is on the wire.
#[derive(Clone, Debug)]
pub struct Request(Vec<u8>);

impl Request {
    /// Asks for `path`, with these further header fields.
    pub fn get(path: &str, fields: &[(&str, &str)]) -> Self {
        Self(head("GET", path, fields).into_bytes())
    }

    /// Sends `body`, which is of this media type.
    pub fn post(path: &str, fields: &[(&str, &str)], (media_type, body): (&str, &str)) -> Self {
        let length = body.len().to_string();
        let own = [("Content-Type", media_type), ("Content-Length", &length)];
        Self((head("POST", path, &[&own, fields].concat()) + body).into_bytes())
    }
}

fn head(method: &str, path: &str, fields: &[(&str, &str)]) -> String {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for (name, value) in fields {
        write!(head, "{name}: {value}\r\n").expect("text takes everything");
    }
    head + "\r\n"
}

/// The parts of an answer that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Body,
    /// True if the server closes the connection behind it.
    pub(super) is_last: bool,
}

/// The length of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body {
    Bytes(usize),
    Chunks,
}

/// An open connection.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// To the server on this port of this machine.
    pub(super) async fn open(port: u16) -> Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; BUFFER],
        })
    }

    /// Sends a request and reads the answer to its end; answers how many bytes its body had.
    pub(super) async fn exchange(&mut self, request: &Request) -> Result<(Answer, u64)> {
        self.stream.write_all(&request.0).await?;
        let mut filled = 0;
        let head = loop {
            filled += self.read(filled).await?;
            let known = self.buffer.get(..filled).unwrap_or_default();
            if let Some(end) = known.windows(4).position(|it| it == b"\r\n\r\n") {
                break end + 4;
            }
        };
        let answer = parse(self.buffer.get(..head).unwrap_or_default());
        let length = match answer.body {
            Body::Bytes(length) => {
                self.skip((length + head).saturating_sub(filled)).await?;
                length
            }
            Body::Chunks => self.skip_chunks(head, filled).await?,
        };
        Ok((answer, length.try_into().unwrap_or(u64::MAX)))
    }

    /// Reads some more behind the first `filled` bytes of the buffer.
    async fn read(&mut self, filled: usize) -> Result<usize> {
        let free = self.buffer.get_mut(filled..).unwrap_or_default();
        match self.stream.read(free).await? {
            0 => Err(Error::new(
                ErrorKind::UnexpectedEof,
                "the server closed the connection, or the head is too long",
            )),
            read => Ok(read),
        }
    }

    async fn skip(&mut self, mut missing: usize) -> Result<()> {
        while missing > 0 {
            // Nothing follows the answer that would not be waited for: at most the rest of it is read.
            missing = missing.saturating_sub(self.read(0).await?);
        }
        Ok(())
    }

    /// Reads to the last chunk, keeping only what might be the beginning of its end.
    async fn skip_chunks(&mut self, head: usize, mut filled: usize) -> Result<usize> {
        let mut length = filled - head;
        let keep = LAST_CHUNK.len();
        loop {
            let known = self.buffer.get(..filled).unwrap_or_default();
            if known.ends_with(LAST_CHUNK) {
                return Ok(length);
            }
            let from = filled.saturating_sub(keep);
            self.buffer.copy_within(from..filled, 0);
            filled -= from;
            let read = self.read(filled).await?;
            filled += read;
            length += read;
        }
    }
}

fn parse(head: &[u8]) -> Answer {
    let head = str::from_utf8(head).expect("a head of plain text");
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    let mut answer = Answer {
        status: status.expect("a status"),
        // News that nothing is new has no body.
        body: Body::Bytes(0),
        is_last: false,
    };
    for (name, value) in head.lines().filter_map(|it| it.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            answer.body = Body::Bytes(value.parse().expect("a length"));
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            answer.body = Body::Chunks;
        } else if name.eq_ignore_ascii_case("connection") {
            answer.is_last = value.eq_ignore_ascii_case("close");
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn the_head_of_an_answer_is_understood() {
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: a/b\r\nContent-Length: 12\r\n\r\n";
        let expected = Answer {
            status: 200,
            body: Body::Bytes(12),
            is_last: false,
        };
        assert_eq!(parse(head), expected);
        let head = b"HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n";
        let answer = parse(head);
        assert_eq!((answer.body, answer.is_last), (Body::Bytes(0), true));
    }

    #[tokio::test]
    async fn answers_end_where_the_next_one_begins() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let long = "x".repeat(200_000);
        let answers = [
            "HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\nno".to_owned(),
            format!("HTTP/1.1 200 OK\r\ncontent-length: 200000\r\n\r\n{long}"),
            format!(
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n30d40\r\n{long}\r\n0\r\n\r\n"
            ),
            "HTTP/1.1 304 Same\r\n\r\n".to_owned(),
        ];
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("a client");
            let mut seen = vec![0; 1000];
            for answer in answers {
                let read = stream.read(&mut seen).await.expect("a request");
                assert!(seen.get(..read).is_some_and(|it| it.ends_with(b"\r\n\r\n")));
                let sent = stream.write_all(answer.as_bytes()).await;
                sent.expect("the client reads");
            }
        });
        let mut connection = Connection::open(port).await.expect("it listens");
        let request = Request::get("/a", &[("Cookie", "a=b")]);
        let mut seen = Vec::new();
        for _ in 0..4 {
            let (answer, length) = connection.exchange(&request).await.expect("an answer");
            seen.push((answer.status, length));
        }
        let chunks = 200_000 + "30d40\r\n\r\n0\r\n\r\n".len();
        let chunks = u64::try_from(chunks).expect("a small number");
        assert_eq!(seen, [(503, 2), (200, 200_000), (200, chunks), (304, 0)]);
        server.await.expect("the server ends");
        assert!(connection.exchange(&request).await.is_err());
    }
}
