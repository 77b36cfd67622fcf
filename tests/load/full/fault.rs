//! Faults of storage, machines and networks, one file for each kind.

mod clock;
mod commit;
mod deadline;
mod descriptors;
mod filling;
mod load;
mod lock;
mod logging;
mod memory;
mod migration;
mod nth;
mod pooler;
mod power;
mod restart;
mod server_stops;
mod stop;
mod storage;
mod transaction;
mod writer;
