//! The permissions of files with secrets.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::base::config::Problem;

/// The right of others than the owner and the group to read, write or run a file.
const OTHERS: u32 = 0o007;

/// Returns the problem with the permissions of the file at `path`, which `key` is about; none if it is not there.
pub(super) fn inspect(key: &str, path: &Path) -> Option<Problem> {
    let mode = fs::metadata(path).ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        let shown = path.display();
        let message =
            format!("everybody on this machine may use the file {shown}: run `chmod o= {shown}`");
        Problem::new(key, message)
    })
}
