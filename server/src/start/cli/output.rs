//! Output for other programs, or at a terminal: stored text must not control either.

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use entity_core::ErrorKind;
use entity_core::sheet::CsvTable;
use serde::Serialize;

/// The reason why a command failed, as it is told.
pub(super) type Failure = Box<dyn StdError + Send + Sync>;

/// The status of the program when the configuration or the arguments are wrong.
pub(super) const USAGE: u8 = 2;

/// The replacement of a character that would control a terminal.
const REPLACED: &str = "\u{fffd}";

/// The reader of the standard output, such as `head`, which closes it when it has enough.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Listener {
    has_gone: bool,
}

impl Listener {
    /// Returns whether the reader is gone.
    pub(super) fn has_gone(self) -> bool {
        self.has_gone
    }

    /// Prints `text`.
    pub(super) fn hear(&mut self, text: &str) -> Result<(), Failure> {
        let mut output = io::stdout().lock();
        match output
            .write_all(text.as_bytes())
            .and_then(|()| output.flush())
        {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.has_gone = true;
                Ok(())
            }
            Err(error) => Err(format!("can't write the output: {error}").into()),
        }
    }
}

/// `value` as a line of JSON, with all control characters in it as numbers.
pub(super) fn json(value: &impl Serialize) -> Result<String, Failure> {
    let mut text = String::new();
    for it in serde_json::to_string(value)?.chars() {
        match it.is_control() {
            true => write!(text, "\\u{:04x}", u32::from(it))?,
            false => text.push(it),
        }
    }
    text.push('\n');
    Ok(text)
}

/// The lines of `sheet`.
pub(super) fn sheet(sheet: CsvTable) -> Result<String, Failure> {
    let text = String::from_utf8(sheet.into_bytes("")?.bytes)?;
    let is_unsafe = |it: char| it.is_control() && !matches!(it, '\r' | '\n');
    Ok(text.replace(is_unsafe, REPLACED))
}

/// Returns `text` on one line, without control characters of a terminal.
pub(super) fn plain(text: &str) -> String {
    text.replace(char::is_control, REPLACED)
}

/// Writes `text` to the standard error. Errors are ignored: the reader may be gone.
pub(super) fn note(text: &str) {
    drop(writeln!(io::stderr(), "{text}"));
}

/// Tells how many files are done.
pub(super) fn tell_files(count: usize) {
    say(&format!("looked at {count} files"));
}

/// Says `text` on the standard output. If nobody listens there, nobody misses it.
pub(super) fn say(text: &str) {
    drop(writeln!(io::stdout(), "{text}"));
}

pub(super) fn fail(failure: &impl std::fmt::Display, code: u8) -> ExitCode {
    drop(writeln!(io::stderr(), "lectern: {failure}"));
    ExitCode::from(code)
}

/// A failure as the operator reads it.
pub(super) fn tell(failure: &(dyn StdError + Send + Sync + 'static)) -> String {
    match failure.downcast_ref() {
        Some(error) => explain(error),
        None => failure.to_string(),
    }
}

/// An error as the operator may read it. Where its own text does not tell what to do, its causes follow, each once:
/// many repeat theirs.
pub(super) fn explain(error: &entity_core::Error) -> String {
    let mut text = error.to_string();
    let is_ours = matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable);
    let mut cause = error.source().filter(|_| is_ours);
    while let Some(it) = cause {
        let reason = it.to_string();
        if !text.contains(&reason) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        cause = it.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_line_commands_a_terminal() {
        let text = "\u{1b}[2J\u{9b}2J\u{7f}\n";
        let line = json(&[text]).unwrap();
        assert_eq!(line, "[\"\\u001b[2J\\u009b2J\\u007f\\n\"]\n");
        assert_eq!(serde_json::from_str::<[String; 1]>(&line).unwrap(), [text]);
        let mut cells = CsvTable::new(100);
        cells.row(["a\u{1b}[2J", "=1+1"]).unwrap();
        assert_eq!(sheet(cells).unwrap(), "a\u{fffd}[2J,'=1+1\r\n");
    }
}
