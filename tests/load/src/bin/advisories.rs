//! Fails when `Cargo.lock` names a vulnerable version. Arguments: the `RustSec` database's folder, the lock file.
#![expect(clippy::print_stderr, reason = "this is how the program answers")]

use std::path::Path;
use std::process::ExitCode;

use load::advisories::{Weight, check};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(folder), Some(lock)) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: advisories DATABASE LOCKFILE");
        return ExitCode::FAILURE;
    };
    let findings = std::fs::read_to_string(&lock)
        .map_err(|error| format!("{lock}: {error}"))
        .and_then(|text| check(Path::new(&folder), &text));
    match findings {
        Ok(findings) => {
            for finding in &findings {
                eprintln!("{finding}");
            }
            let is_bad = findings.iter().any(|it| it.weight == Weight::Vulnerable);
            eprintln!("{} advisories concern what is in use", findings.len());
            ExitCode::from(u8::from(is_bad))
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}
