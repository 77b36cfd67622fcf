//! A clock that a test sets while a process runs, by means of `libfaketime`. Time itself goes on as it does: only what the
//! clock of the machine tells is another thing.
//!
//! Where the library is missing, the tests say so in a line and do nothing, unless `REQUIRE_FAULTS` demands them.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::fault::skip;

/// The folders in which the library may be.
const PLACES: [&str; 3] = ["/usr/lib", "/usr/lib64", "/usr/local/lib"];
const LIBRARY: &str = "faketime/libfaketimeMT.so.1";

/// The clock of one process, or of several.
#[derive(Debug)]
pub struct WallClock {
    folder: TempDir,
    library: PathBuf,
}

impl WallClock {
    /// One that tells the true time; `None` where there is no library for it.
    pub fn find() -> Option<Self> {
        let Some(library) = find() else {
            skip("libfaketime is not installed");
            return None;
        };
        let folder = TempDir::with_prefix("lectern-clock-").expect("a folder for temporary files");
        let clock = Self { folder, library };
        clock.set("+0");
        Some(clock)
    }

    /// Sets it by this much: `+1h`, `-10y`; `+0` is the true time.
    pub fn set(&self, by: &str) {
        // At once, so that nobody reads half of it.
        let new = self.folder.path().join("new");
        fs::write(&new, by).expect("room for a line");
        fs::rename(new, self.file()).expect("a folder of ours");
    }

    /// The variables that let a process have this clock.
    pub fn environment(&self) -> [(&'static str, String); 6] {
        let on = || "1".to_owned();
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.file().display().to_string()),
            ("FAKETIME_NO_CACHE", on()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", on()),
            ("DONT_FAKE_MONOTONIC", on()),
            ("NO_FAKE_STAT", on()),
        ]
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("clock")
    }
}

/// The library: beside the others, or in the folder of those for this kind of machine.
fn find() -> Option<PathBuf> {
    let below = |place: &Path| {
        let folders = fs::read_dir(place).into_iter().flatten().flatten();
        folders.map(|it| it.path()).collect::<Vec<_>>()
    };
    let places = PLACES.map(PathBuf::from);
    let folders = places.iter().cloned();
    folders
        .chain(places.iter().flat_map(|it| below(it)))
        .map(|it| it.join(LIBRARY))
        .find(|it| it.is_file())
}
