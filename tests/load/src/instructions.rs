//! Instructions per request, counted by callgrind: a figure that no neighbour on the machine disturbs.
//!
//! The service and the yardstick answer requests from memory, in one thread, over the same rows; what other threads do
//! for a request counts too. Absolute figures belong to a processor and a compiler: tables keep the ratios to the
//! yardstick, and hold them to some parts in a hundred. `tests/instructions.md` is of optimised programs;
//! `tests/instructions-of-tests.md` is of those that tests run, which takes no building of its own.

mod callgrind;
mod cases;
mod connection;
mod counted;
mod prepare;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::prepare::Cookies;
use self::table::Table;
use crate::process;

/// The largest difference of a ratio from that of the table, as a part of it.
const TOLERANCE: f64 = match cfg!(debug_assertions) {
    // Of fewer samples.
    true => 0.1,
    false => 0.05,
};
/// The argument that makes this process answer requests, as callgrind starts it.
const COUNTED: &str = "counted";

/// A table that is kept, of programs that were built in one way.
#[derive(Clone, Copy, Debug)]
struct Kept {
    file: &'static str,
    /// The command that writes it anew.
    command: &'static str,
}

/// The table that belongs to how this program was built.
const KEPT: Kept = match cfg!(debug_assertions) {
    true => Kept {
        file: "tests/instructions-of-tests.md",
        command: "cargo run -p load --bin instructions -- --write",
    },
    false => Kept {
        file: "tests/instructions.md",
        command: "cargo run --profile counted -p load --bin instructions -- --write",
    },
};

/// Counts, and compares with the table; `--write` writes the table anew; `--keep FOLDER` leaves what callgrind wrote in
/// this folder, where `callgrind_annotate` reads it.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [COUNTED, folder, cookies @ ..] => {
            counted::serve_all(Path::new(folder), &Cookies::read(cookies));
            ExitCode::SUCCESS
        }
        [] => compare(None),
        ["--keep", folder] => compare(Some(Path::new(folder))),
        ["--write"] => write(),
        _ => {
            eprintln!("usage: instructions [--write | --keep FOLDER]");
            ExitCode::FAILURE
        }
    }
}

fn compare(keep: Option<&Path>) -> ExitCode {
    let measured = match count(keep) {
        Ok(it) => it,
        Err(code) => return code,
    };
    let known = Table::parse(&fs::read_to_string(path()).unwrap_or_default());
    let comparison = measured.compare(&known);
    print!("{comparison}");
    if comparison.is_within(TOLERANCE) {
        return ExitCode::SUCCESS;
    }
    eprintln!(
        "a ratio is not that of {} within {} %: find out why; if it has to be, `{}`",
        KEPT.file,
        TOLERANCE * 100.0,
        KEPT.command
    );
    ExitCode::FAILURE
}

fn write() -> ExitCode {
    match count(None) {
        Ok(measured) => {
            print!("{measured}");
            fs::write(path(), measured.to_string()).expect("the table can be written");
            ExitCode::SUCCESS
        }
        Err(code) => code,
    }
}

/// Counts the instructions of all cases, and leaves what callgrind wrote in `keep`.
fn count(keep: Option<&Path>) -> Result<Table, ExitCode> {
    if !callgrind::is_installed() {
        eprintln!("valgrind is not installed: `apt-get install valgrind` on Debian");
        return Err(ExitCode::FAILURE);
    }
    let prepared = prepare::prepare();
    let folder = keep.map_or_else(|| prepared.folder(), Path::to_owned);
    fs::create_dir_all(&folder).expect("a folder can be made");
    let totals = callgrind::totals(&folder, &prepared);
    Ok(Table::of(&cases::all(), &totals))
}

fn path() -> PathBuf {
    process::root().join(KEPT.file)
}
