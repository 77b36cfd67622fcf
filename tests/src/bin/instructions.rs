//! Counts the instructions of requests: `cargo run --profile counted -p tests --bin instructions [-- --write]`.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use tests::instructions;

// That of the service.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    instructions::run(std::env::args().skip(1))
}
