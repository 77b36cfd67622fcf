//! A connection in memory: its client sends request after request, each when the last one was answered, and looks at
//! nothing but whether the answer is good and where it ends.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use memchr::memmem;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The connection, as its server sees it.
#[derive(Debug)]
pub(super) struct Connection {
    requests: Vec<Vec<u8>>,
    /// The status of a good answer.
    status: &'static str,
    /// The number of requests that are still to be sent.
    left: usize,
    turn: Turn,
    /// The server, when it waits for a request.
    waker: Option<Waker>,
}

/// The side that acts next.
#[derive(Debug)]
enum Turn {
    /// The client sends the next request.
    Client,
    /// The server answers.
    Server,
    /// The server is to send so many further bytes of the answer.
    Body(usize),
}

impl Connection {
    /// A connection that sends all of `requests`, so many times, and expects answers of this status.
    pub(super) fn new(requests: &[Vec<u8>], rounds: usize, status: &'static str) -> Self {
        Self {
            status,
            left: requests.len() * rounds,
            requests: requests.to_vec(),
            turn: Turn::Client,
            waker: None,
        }
    }

    /// Returns the number of requests that were not answered.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    fn take(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let missing = match self.turn {
            Turn::Client => panic!("the server answers what nobody asked"),
            Turn::Server => length(bytes, self.status),
            Turn::Body(missing) => missing,
        };
        let missing = missing.checked_sub(bytes.len());
        match missing.expect("an answer as long as it says") {
            0 => {
                self.left -= 1;
                self.turn = Turn::Client;
                if let Some(waker) = self.waker.take() {
                    waker.wake();
                }
            }
            missing => self.turn = Turn::Body(missing),
        }
    }
}

/// Returns the length of the answer of which these are the first bytes, its head among them.
fn length(answer: &[u8], status: &str) -> usize {
    let (head, body) = head(answer, status).unwrap_or_else(|| {
        panic!(
            "no good answer of a known length: {}",
            String::from_utf8_lossy(answer)
        )
    });
    head + body
}

/// The lengths of the head and of the body, if the answer has this status.
fn head(answer: &[u8], status: &str) -> Option<(usize, usize)> {
    const FIELD: &[u8] = b"\r\ncontent-length: ";
    let told = answer.strip_prefix(b"HTTP/1.1 ")?;
    if !told.starts_with(status.as_bytes()) {
        return None;
    }
    let end = memmem::find(answer, b"\r\n\r\n")?;
    let head = answer.get(..end)?;
    let value = head.get(memmem::find(head, FIELD)? + FIELD.len()..)?;
    let digits = value.iter().take_while(|it| it.is_ascii_digit());
    let body = digits.fold(0, |sum, it| sum * 10 + usize::from(it - b'0'));
    Some((end + 4, body))
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        match self.turn {
            // The connection ends.
            Turn::Client if self.left == 0 => {}
            Turn::Client => {
                let next = self.left % self.requests.len();
                buffer.put_slice(self.requests.get(next).expect("less than there are"));
                self.turn = Turn::Server;
            }
            Turn::Server | Turn::Body(_) => {
                self.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        for part in parts {
            self.take(part);
        }
        Poll::Ready(Ok(parts.iter().map(|it| it.len()).sum()))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_where_its_head_says() {
        let answer = b"HTTP/1.1 200 OK\r\netag: 1\r\ncontent-length: 12\r\n\r\n{";
        assert_eq!(head(answer, "200"), Some((answer.len() - 1, 12)));
        assert_eq!(
            head(
                b"HTTP/1.1 404 Not Found\r\ncontent-length: 12\r\n\r\n",
                "200"
            ),
            None
        );
        assert_eq!(
            head(
                b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
                "200"
            ),
            None
        );
    }

    #[test]
    fn a_request_is_sent_when_the_last_one_was_answered() {
        let mut connection = Connection::new(&[b"a".to_vec(), b"b".to_vec()], 1, "200");
        let mut cx = Context::from_waker(Waker::noop());
        let mut read = |connection: &mut Connection| {
            let mut bytes = [0; 8];
            let mut buffer = ReadBuf::new(&mut bytes);
            let polled = Pin::new(connection).poll_read(&mut cx, &mut buffer);
            polled.is_ready().then(|| buffer.filled().to_vec())
        };
        for request in ["a", "b"] {
            assert_eq!(read(&mut connection), Some(request.into()));
            assert_eq!(read(&mut connection), None);
            connection.take(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{");
            assert_eq!(read(&mut connection), None);
            connection.take(b"}");
        }
        assert_eq!(connection.left(), 0);
        assert_eq!(read(&mut connection), Some(Vec::new()));
    }
}
