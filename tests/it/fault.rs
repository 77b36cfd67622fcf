//! Faults of storage, machines and networks, one file for each kind.

mod lock;
mod logging;
mod power;
mod migration;
