//! The journal of a SQLite file: it shrinks again after something has kept it from being written back.

use std::ffi::OsString;

use entity_core::Result;
use entity_core::db::Db;
use sea_orm::ConnectionTrait as _;

/// From which size on, in bytes, the journal is written back and cut.
pub const LARGE_JOURNAL: u64 = 64 * 1024 * 1024;

/// Writes the journal of a SQLite file back and cuts it, if it is larger than `most` bytes. A statement that reads
/// what is older than the journal's end keeps it from that for as long as it runs; it is waited for as long as for
/// any lock, and the next call tries again. Whether it was cut.
pub async fn shrink_journal(db: &Db, most: u64) -> Result<bool> {
    let Some(file) = &db.file else {
        return Ok(false);
    };
    let mut name = OsString::from(file.path());
    name.push("-wal");
    let size = tokio::fs::metadata(name).await.map_or(0, |it| it.len());
    if size <= most {
        return Ok(false);
    }
    // Pages that can be written back beside others are, before anybody has to wait.
    for step in ["PASSIVE", "TRUNCATE"] {
        let sql = format!("PRAGMA wal_checkpoint({step})");
        db.writer.execute_unprepared(&sql).await?;
    }
    Ok(true)
}
