//! Python as a second opinion: what its libraries read in our answers.
//!
//! `FEED_PYTHON` names a Python with the packages `feedparser`, `icalendar`, `recurring-ical-events` and `sakaipy`. What needs
//! none of them runs with any.

use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::process::{Command, Stdio};

/// The requirements of a script beside Python itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Nothing.
    Nothing,
    /// The packages.
    Packages,
}

/// Runs `script` on `input`, and returns its output; `None` where it can't run, unless `REQUIRE_PYTHON` demands it.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn run(script: &str, input: &[u8], needs: Needs) -> Option<Vec<u8>> {
    let Some(python) = python(needs) else {
        assert!(
            env::var_os("REQUIRE_PYTHON").is_none_or(|it| it == "0"),
            "set FEED_PYTHON: REQUIRE_PYTHON demands that Python reads the answers"
        );
        eprintln!("FEED_PYTHON is not set: skipped what Python reads");
        return None;
    };
    let mut child = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a program");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(input).expect("it reads");
    drop(pipe);
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "Python complains");
    Some(output.stdout)
}

fn python(needs: Needs) -> Option<OsString> {
    let named = env::var_os("FEED_PYTHON");
    match needs {
        Needs::Packages => named,
        Needs::Nothing => named.or_else(|| {
            let found = Command::new("python3").arg("--version").output();
            found.is_ok().then(|| "python3".into())
        }),
    }
}
