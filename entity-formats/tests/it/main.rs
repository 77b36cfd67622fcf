//! Tests of the formats through their public face.
#![expect(clippy::unwrap_used, reason = "a test that fails panics")]

mod golden;
mod input;
