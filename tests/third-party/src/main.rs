//! The service with books.

use std::process::ExitCode;

use library_shelf as _;

fn main() -> ExitCode {
    server::run()
}
