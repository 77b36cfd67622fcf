//! Runs this program below callgrind, and reads what it counted.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::COUNTED;
use super::cases::{self, SAMPLES};
use super::prepare::Prepared;

/// The name of `counted::mark`, however it is mangled.
const MARK: &str = "--dump-before=*instructions*counted*mark*";
/// The C library chooses by the processor how it copies. Here it is the same way on each: in steps of 16 bytes, and not by
/// `rep movsb`, which callgrind counts once for each byte.
const COPIES: &str =
    "glibc.cpu.hwcaps=-AVX512VL,-AVX2,-AVX2_Usable,-AVX_Fast_Unaligned_Load,-ERMS,-FSRM,-SSSE3";

/// Returns whether there is valgrind.
pub(super) fn is_installed() -> bool {
    let asked = Command::new("valgrind")
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    asked.is_ok_and(|it| it.success())
}

/// The instructions of each case, in their order, all threads together. Callgrind writes into `folder`.
pub(super) fn totals(folder: &Path, prepared: &Prepared) -> Vec<u64> {
    let output = folder.join("callgrind");
    let mut command = Command::new("valgrind");
    let status = command
        .env("GLIBC_TUNABLES", COPIES)
        .args(["--tool=callgrind", "--quiet", MARK])
        .arg(format!("--callgrind-out-file={}", output.display()))
        .arg(env::current_exe().expect("this program has a path"))
        .arg(COUNTED)
        .arg(prepared.folder())
        .args(prepared.cookies.all())
        .status()
        .expect("valgrind can be started");
    assert!(status.success(), "the requests are not answered");
    let cases = cases::all();
    // What comes before the first mark of a case is no part of it, and what comes before the second one warms up.
    let firsts = (0..cases.len()).map(|it| it * (SAMPLES + 2) + 3);
    let counted = cases.iter().zip(firsts).map(|(case, first)| {
        let parts = first..first + SAMPLES;
        let counts = parts.map(|it| total(&output.with_extension(it.to_string())));
        let requests = u64::try_from(case.paths.len() * case.rounds).expect("few requests");
        counts.min().expect("samples") / requests
    });
    counted.collect()
}

/// The instructions that the file at `part` tells of.
fn total(part: &Path) -> u64 {
    let text = fs::read_to_string(part)
        .unwrap_or_else(|error| panic!("callgrind wrote no {}: {error}", part.display()));
    read(&text).expect("callgrind tells a sum")
}

fn read(text: &str) -> Option<u64> {
    let mut lines = text.lines().rev();
    let sum = lines.find_map(|it| it.strip_prefix("totals: "))?;
    sum.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_a_part_is_read() {
        assert_eq!(
            read("events: Ir\nsummary: 5\nfn=(1)\n0 5\ntotals: 5\n"),
            Some(5)
        );
        assert_eq!(read("events: Ir\n"), None);
    }
}
