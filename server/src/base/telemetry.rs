//! Log lines: one event a line, as JSON or for people.
//!
//! Logging never fails: a line that can't be written, because the disk is full or nobody reads the pipe any more, is
//! counted and left out. Nor can it be used to fill a disk: a place in the code that logs without end is cut to a
//! number of lines a minute, and the rest is counted.

mod limit;
mod unfailing;

use std::error::Error;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::IsTerminal as _;
use std::sync::atomic::Ordering;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::base::config::{Config, LogFormat};

use limit::{LIMITER, Limit};
use unfailing::{LOST, Unfailing};

/// The log lines that were not written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lines {
    /// The number that were only counted, because too many came from the same place.
    pub(crate) repeated: u64,
    /// The number that could not be written.
    pub(crate) lost: u64,
}

/// Sends log lines to the standard error stream. A second call changes nothing.
pub fn start(config: &Config) {
    let filter = EnvFilter::try_new(&config.log.level).unwrap_or_else(|_| EnvFilter::new("info"));
    let limit = Limit(config.log.lines_per_minute);
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // It would tell of its failures on the same stream, and panic where that fails too.
        .log_internal_errors(false)
        .with_writer(|| Unfailing(std::io::stderr()));
    let started = match form(config.log.format, Surroundings::find()) {
        Form::Json => lines
            .json()
            .flatten_event(true)
            .finish()
            .with(limit)
            .try_init(),
        Form::Text { has_colours } => lines.with_ansi(has_colours).finish().with(limit).try_init(),
    };
    drop(started);
}

/// The destination of log lines.
#[derive(Clone, Copy, Debug)]
struct Surroundings {
    /// True if a person reads them as they come.
    is_terminal: bool,
    /// True if the person wants no colours: see <https://no-color.org>.
    is_plain: bool,
}

impl Surroundings {
    fn find() -> Self {
        let is_set = |it: std::ffi::OsString| !it.is_empty();
        Self {
            is_terminal: std::io::stderr().is_terminal(),
            is_plain: std::env::var_os("NO_COLOR").is_some_and(is_set),
        }
    }
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Text { has_colours: bool },
}

fn form(format: LogFormat, surroundings: Surroundings) -> Form {
    let text = Form::Text {
        has_colours: surroundings.is_terminal && !surroundings.is_plain,
    };
    match format {
        LogFormat::Text => text,
        LogFormat::Auto if surroundings.is_terminal => text,
        LogFormat::Json | LogFormat::Auto => Form::Json,
    }
}

/// The lines that were not written since the service started.
pub(crate) fn lines() -> Lines {
    Lines {
        repeated: LIMITER.repeated(),
        lost: LOST.load(Ordering::Relaxed),
    }
}

/// Logs how many lines were not written because too many came from the same place.
pub(crate) fn tell_repeated() {
    for (source, count) in LIMITER.take() {
        tracing::warn!(source, count, "lines like others were not written");
    }
}

/// The number by which lines that tell the same cause are known, as their field `cause.id`: each cause has one line in a
/// minute, and the further ones are counted.
pub(crate) fn cause_id(cause: impl Hash) -> u64 {
    let mut number = DefaultHasher::new();
    cause.hash(&mut number);
    number.finish().max(1)
}

/// `error` as a field of a log line, which then tells its causes too.
pub(crate) fn cause<E: Error + 'static>(error: &E) -> &(dyn Error + 'static) {
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_at_a_terminal_read_text_and_programs_json() {
        let (plain, coloured) = (
            Form::Text { has_colours: false },
            Form::Text { has_colours: true },
        );
        for (format, is_terminal, is_plain, expected) in [
            (LogFormat::Auto, true, false, coloured),
            (LogFormat::Auto, true, true, plain),
            (LogFormat::Auto, false, false, Form::Json),
            (LogFormat::Text, true, false, coloured),
            (LogFormat::Text, true, true, plain),
            (LogFormat::Text, false, false, plain),
            (LogFormat::Json, true, false, Form::Json),
            (LogFormat::Json, false, true, Form::Json),
        ] {
            let surroundings = Surroundings {
                is_terminal,
                is_plain,
            };
            let found = form(format, surroundings);
            assert_eq!(found, expected, "{format:?} {surroundings:?}");
        }
    }
}
