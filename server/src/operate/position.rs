//! The place up to which work has come that goes through rows step by step, and begins anew when the service starts.

use parking_lot::Mutex;

/// Such a place.
#[derive(Debug, Default)]
pub(crate) struct Position<T>(Mutex<T>);

impl<T: Clone> Position<T> {
    /// The place that was reached.
    pub(crate) fn get(&self) -> T {
        let reached = self.0.lock();
        reached.clone()
    }

    /// Notes that this place was reached.
    pub(crate) fn set(&self, reached: T) {
        *self.0.lock() = reached;
    }
}
