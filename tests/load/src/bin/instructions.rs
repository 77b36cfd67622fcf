//! Counts the instructions of requests: `cargo run --profile counted -p load --bin instructions [-- --write]`.

use std::process::ExitCode;

use load::instructions;
use mimalloc::MiMalloc;

// That of the service.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    instructions::run(std::env::args().skip(1))
}
