//! Trials: the service under attack, while other people use it as people do.
//!
//! Service, database, attackers and everybody else share the cores of one machine. The attackers have a thread of their
//! own that yields to all others, as if they were on another machine; each of them sends no more than one machine can,
//! and waits a moment when it is refused. The others are polite, and their requests are due at fixed times: what an
//! answer took is counted from then, so that nobody who had to wait is forgotten. The service has its own limits.

mod attack;
mod attacks;
mod ground;
mod level;
mod others;
mod soak;
mod storage;
mod tally;

pub use attacks::attacks;
pub use soak::soak;
