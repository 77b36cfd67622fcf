//! The types that the documents show to authors, as their own crate has them: each passes the checks of the kit, and works as
//! people use it.
#![expect(
    clippy::struct_field_names,
    clippy::unused_async,
    unreachable_pub,
    reason = "an author writes them like that"
)]

#[path = "../third-party/src/lib.rs"]
mod library_shelf;

#[path = "../../entity-core/tests/guide/booking.rs"]
mod equipment;

#[cfg(test)]
mod booking;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod job;
