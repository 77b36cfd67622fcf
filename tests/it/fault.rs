//! Faults of storage, machines and networks, one file for each kind.

mod power;
mod lock;
mod logging;
