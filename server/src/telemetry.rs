//! Log lines: one event a line, as JSON or for people.

use std::error::Error;

use tracing_subscriber::EnvFilter;

use crate::config::{Config, LogFormat};

/// Sends log lines to the standard error stream. A second call changes nothing.
pub fn start(config: &Config) {
    let filter = EnvFilter::try_new(&config.log_level).unwrap_or_else(|_| EnvFilter::new("info"));
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let started = match config.log_format {
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
        LogFormat::Text => lines.with_ansi(false).try_init(),
    };
    drop(started);
}

/// `error` as a field of a log line, which then tells its causes too.
pub(crate) fn cause<E: Error + 'static>(error: &E) -> &(dyn Error + 'static) {
    error
}
