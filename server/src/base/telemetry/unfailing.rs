//! A writer that never fails: lines that can't be written are counted.

use std::io::{Result, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of lines that could not be written.
pub(super) static LOST: AtomicU64 = AtomicU64::new(0);

/// Writes to another writer whole lines, each at once, and says that it did.
#[derive(Debug)]
pub(super) struct Unfailing<W>(pub(super) W);

impl<W: Write> Write for Unfailing<W> {
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        if self.0.write_all(line).is_err() {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> Result<()> {
        // What could not be flushed was counted when it was written.
        drop(self.0.flush());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_counted_and_told_to_nobody() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let mut writer = Unfailing(full.unwrap());
        let before = LOST.load(Ordering::Relaxed);
        writer.write_all(b"a line\n").unwrap();
        writer.flush().unwrap();
        assert!(LOST.load(Ordering::Relaxed) > before);
    }
}
