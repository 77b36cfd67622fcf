//! The `lectern` program: the service with the types that come with it.

use std::process::ExitCode;

use entity_providers as _;
use mimalloc::MiMalloc;

// Hashing a password takes 19 MiB; this allocator gives them back, and is faster on small things as well. Its second
// version gives back within 10 ms what the third keeps for a second: on a small machine it takes 30 MiB less.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    server::run()
}
