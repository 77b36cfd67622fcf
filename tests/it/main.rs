//! All integration tests, as one binary. The folders mirror the URLs.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so and stops"
)]

mod storage;
mod tidy;
