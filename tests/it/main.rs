//! All integration tests, as one binary. The folders mirror the URLs.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that fails says so and stops"
)]

mod access;
mod api;
mod archive;
mod attack;
mod audit;
mod authentication;
mod backup;
mod children;
mod commands;
mod conformance;
mod cors;
mod csrf;
mod direct;
mod edge;
mod endless;
mod event_stream;
mod events;
mod feeds;
mod files;
mod growth;
mod hostile;
mod identity;
mod known_passwords;
mod leaks;
mod links;
mod lost_update;
mod nodes;
mod operator;
mod own_row;
mod parity;
mod passwords;
mod portal;
mod production;
mod programs;
mod proxy;
mod python;
mod query;
mod readme;
mod redaction;
mod removal;
mod scale;
mod shape;
mod sight;
mod size;
mod statements;
mod storage;
mod strict;
mod throttle;
mod tidy;
mod usage;
mod webhooks;
mod words;
