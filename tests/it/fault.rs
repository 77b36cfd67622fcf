//! Faults of storage, machines and networks, one file for each kind.

mod commit;
mod lock;
mod logging;
mod migration;
mod nth;
mod power;
mod restart;
mod storage;
mod transaction;
mod writer;
mod deadline;
mod lock;
mod logging;
mod migration;
mod power;
mod descriptors;
