//! Faults of storage, machines and networks, one file for each kind.

mod lock;
mod logging;
mod migration;
mod nth;
mod power;
mod storage;
mod transaction;
mod writer;
