//! Instructions per request, counted by callgrind: a figure that no neighbour on the machine disturbs.
//!
//! The service and the yardstick answer requests from memory, in one thread, over the same rows; what other threads do
//! for a request counts too. Absolute figures belong to a processor and a compiler: `tests/instructions.md` keeps the
//! ratios to the yardstick, and holds them to five in a hundred.

mod callgrind;
mod cases;
mod connection;
mod counted;
mod prepare;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::table::Table;
use crate::process;

/// How far a ratio may be from that of the table, as a part of it.
const TOLERANCE: f64 = 0.05;
/// What has this process answer requests, as callgrind starts it.
const COUNTED: &str = "counted";
/// What writes the table anew.
const WRITE: &str = "cargo run --profile counted -p tests --bin instructions -- --write";

/// Counts, and compares with the table; `--write` writes the table anew; `--keep FOLDER` leaves what callgrind wrote in
/// this folder, where `callgrind_annotate` reads it.
pub fn run(arguments: impl Iterator<Item = String>) -> ExitCode {
    let arguments: Vec<String> = arguments.collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        [COUNTED, folder, cookie] => {
            counted::serve_all(Path::new(folder), cookie);
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
        "a ratio is not that of tests/instructions.md within {} %: find out why; if it has to be, `{WRITE}`",
        TOLERANCE * 100.0
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
    process::root().join("tests/instructions.md")
}
