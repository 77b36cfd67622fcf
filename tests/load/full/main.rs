//! The tests that `cargo test` leaves out: those that need load, a fault of the machine, a limit of memory, the timing
//! of another program, or more than ten seconds.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that fails says so and stops"
)]

mod attack;
mod authors;
mod backup;
mod driver;
mod durability;
mod fault;
mod health;
mod idle;
#[expect(
    unreachable_pub,
    clippy::struct_field_names,
    reason = "it is a crate of somebody else"
)]
#[rustfmt::skip]
#[path = "../../third-party/src/lib.rs"]
mod library_shelf;
mod listen;
mod new_type;
mod nodes;
mod sanitizer;
mod third_party;
