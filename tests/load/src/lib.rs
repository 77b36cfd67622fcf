//! Load, attacks and faults: the service beside a yardstick, under attack, by counts of instructions, and on a machine
//! that fails. The tests in `full` use it, and the programs in `src/bin`.
#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "what cannot go on says so and stops"
)]

pub mod advisories;
pub mod artefacts;
pub mod balancer;
pub mod bare;
pub mod bench;
pub mod cgroup;
pub mod clock;
pub mod fault;
pub mod instructions;
pub mod long_table;
pub mod pooler;
pub mod proxy;
pub mod server;
pub mod trial;

use lectern_testing::{postgres, template};
pub use tests::*;
