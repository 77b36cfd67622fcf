//! A stream that ends when the client is silent for longer than the state of the connection allows.

use std::io::{Error, ErrorKind, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::ListenOptions;

/// The state of a connection. Shared by the stream and the service that answers its requests.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase(Arc<AtomicU8>);

/// Nothing came yet.
const NEW: u8 = 0;
/// A head is coming in.
const HEAD: u8 = 1;
/// A request is being answered; its own deadlines hold.
const REQUEST: u8 = 2;
/// The last request was answered.
const IDLE: u8 = 3;
/// The last request was refused for want of room: nothing is read for a while.
const REFUSED: u8 = 4;

/// The time for which nothing is read of a connection whose request was refused. To refuse costs a thirtieth of an
/// answer: 400 connections that ask again at once left others and themselves less than half of the service.
const PAUSE: Duration = Duration::from_millis(100);

impl Phase {
    pub(super) fn begin_request(&self) {
        self.0.store(REQUEST, Ordering::Release);
    }

    pub(super) fn end_request(&self) {
        self.0.store(IDLE, Ordering::Release);
    }

    pub(super) fn refuse_request(&self) {
        self.0.store(REFUSED, Ordering::Release);
    }

    fn get(&self) -> u8 {
        self.0.load(Ordering::Acquire)
    }

    /// Bytes came in. Answers whether they are the first of a head.
    fn begin_head(&self) -> bool {
        [NEW, IDLE].iter().any(|silent| {
            self.0
                .compare_exchange(*silent, HEAD, Ordering::AcqRel, Ordering::Acquire)
                .is_ok()
        })
    }
}

/// The stream.
pub(super) struct TimedStream {
    stream: TcpStream,
    phase: Phase,
    options: Arc<ListenOptions>,
    reading: Deadline,
    writing: Deadline,
    /// True if the client had no room for the last bytes.
    is_blocked: bool,
    /// The number of bytes that the client took since the deadline for them was set, having had no room each time.
    taken: usize,
}

/// The number of bytes of an answer that a client has to take within the write timeout: one that takes a little now and
/// then is as slow as one that takes nothing.
const ENOUGH: usize = 32 << 10;

impl TimedStream {
    pub(super) fn new(stream: TcpStream, phase: Phase, options: Arc<ListenOptions>) -> Self {
        Self {
            stream,
            phase,
            options,
            reading: Deadline::default(),
            writing: Deadline::default(),
            is_blocked: false,
            taken: 0,
        }
    }

    /// Notes that the client took so many bytes. One that has room at once keeps up, however little there is to send.
    fn note_taken(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes);
        if !self.is_blocked || self.taken >= ENOUGH {
            self.writing.clear();
            self.taken = 0;
        }
        self.is_blocked = false;
    }

    /// Returns the time for which the phase may go on in all, from its beginning; `None` if others watch over it.
    fn allowance(&self, phase: u8) -> Option<Duration> {
        match phase {
            NEW => Some(self.options.first_byte),
            HEAD => Some(self.options.head),
            IDLE => Some(self.options.idle),
            REFUSED => Some(PAUSE),
            _ => None,
        }
    }
}

/// A timer that is set once for each phase and looked at whenever nothing comes.
#[derive(Default)]
struct Deadline {
    phase: Option<u8>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl Deadline {
    fn poll(&mut self, phase: u8, allowance: Duration, cx: &mut Context<'_>) -> Poll<()> {
        if self.phase != Some(phase) {
            self.phase = Some(phase);
            match &mut self.timer {
                Some(timer) => timer.as_mut().reset(Instant::now() + allowance),
                None => self.timer = Some(Box::pin(sleep(allowance))),
            }
        }
        match &mut self.timer {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }

    fn clear(&mut self) {
        self.phase = None;
    }
}

fn timed_out() -> Error {
    Error::new(ErrorKind::TimedOut, "the client was silent for too long")
}

impl AsyncRead for TimedStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.phase.get() == REFUSED {
            ready!(this.reading.poll(REFUSED, PAUSE, cx));
            this.phase.end_request();
        }
        let before = buffer.filled().len();
        if let Poll::Ready(done) = Pin::new(&mut this.stream).poll_read(cx, buffer) {
            if buffer.filled().len() > before && this.phase.begin_head() {
                this.reading.clear();
                this.writing.clear();
                this.taken = 0;
            }
            return Poll::Ready(done);
        }
        let phase = this.phase.get();
        match this.allowance(phase) {
            None => {
                this.reading.clear();
                Poll::Pending
            }
            Some(allowance) => this
                .reading
                .poll(phase, allowance, cx)
                .map(|()| Err(timed_out())),
        }
    }
}

impl AsyncWrite for TimedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        if let Poll::Ready(done) = Pin::new(&mut this.stream).poll_write(cx, bytes) {
            this.note_taken(*done.as_ref().unwrap_or(&0));
            // A client that takes a long answer is not idle, although it says nothing: its time begins anew.
            // And it begins here, because hyper does not read again after an answer that it waited for.
            this.reading.clear();
            let phase = this.phase.get();
            if let Some(allowance) = this.allowance(phase)
                && this.reading.poll(phase, allowance, cx).is_ready()
            {
                return Poll::Ready(Err(timed_out()));
            }
            return Poll::Ready(done);
        }
        this.is_blocked = true;
        this.writing
            .poll(REQUEST, this.options.write, cx)
            .map(|()| Err(timed_out()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
