//! All integration tests, as one binary. The folders mirror the URLs.
#![expect(clippy::expect_used, reason = "a test that fails says so and stops")]

mod durability;
mod feeds;
mod hostile;
mod session;
mod storage;
mod third_party;
mod tidy;
