//! The capacity of the service: connections that read from the database, and requests that work with them at once.
//!
//! One place decides this, because the numbers belong together. A list of all sites of a person is everyday work, but no
//! index leads to its rows; so it is read by the connections for statements that may look at many rows. Searches are read
//! there too and take as long as a statement may, and so do those in a batch, which counts as a write. There are
//! therefore more of these connections than requests that may search, and everyday lists find one of the rest.

use std::num::NonZero;
use std::thread::available_parallelism;

use entity_providers::storage::db::Pools;

use crate::base::config::Config;

/// The fewest connections that find rows by an index: to a SQLite file, and to a PostgreSQL server, which works beside
/// the service.
const READERS: [usize; 2] = [4, 8];
/// The connections for statements that may look at many rows that are there for lists alone: those of SQLite are read by
/// other connections, unless they are large.
const LISTS: [usize; 2] = [4, 8];
/// The most of these connections, unless a setting says otherwise.
const MOST: usize = 64;
/// With fewer of each kind the service does not work.
const LEAST: usize = 2;
/// The memory of a reader and of a connection for scans. A reader is two connections of SQLite,
/// each of which may cache 2 MiB, knows the schema (1 MiB) and prepares statements; a scan keeps rows ahead too.
const MEMORY: [usize; 2] = [96 << 20, 48 << 20];

/// The files that a connection to a SQLite file has open: that file and its journal.
const FILES: usize = 2;
/// The number of connections to a SQLite file there are for each reader: one of the pool, and one of the lane.
const FOR_READER: usize = 2;
/// The other connections to SQLite files: two that write, to the content and to the audit log, and one for probes.
const FURTHER: usize = 3;
/// The files that connections share: an index of the journal for each of the two databases.
const SHARED: usize = 2;
/// The other connections to a PostgreSQL server: those for probes, and one that looks at it when the service starts.
const PROBES: usize = 3;

/// The number of connections of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Connections for statements that find their rows by an index.
    pub(crate) readers: usize,
    /// Connections for statements that may look at many rows.
    pub(crate) scans: usize,
    /// Connections that write to PostgreSQL.
    pub(crate) writers: usize,
    /// Requests that run at once and may search.
    pub(crate) searches: usize,
    /// Requests that run at once and may change something.
    pub(crate) writes: usize,
    /// True if the database is a SQLite file.
    is_file: bool,
}

impl Capacity {
    /// As `config` says and, where it says nothing, as is usual for the processors that there are.
    pub(crate) fn of(config: &Config) -> Self {
        Self::on(available_parallelism().map_or(1, NonZero::get), config)
    }

    pub(crate) fn on(cores: usize, config: &Config) -> Self {
        let is_file = config.database.is_file();
        let [least, of_server] = READERS;
        let [large_lists, all_lists] = LISTS;
        let (least, lists) = if is_file {
            (least, large_lists)
        } else {
            (of_server, all_lists)
        };
        let twice = cores.saturating_mul(2);
        let searches = config.admission.scans.unwrap_or(cores.max(2));
        let writes = config.admission.writes.unwrap_or(twice.max(8));
        let enough = searches.saturating_add(writes).saturating_add(lists);
        let scans = config.pool.scans.unwrap_or(enough.min(MOST)).max(1);
        let usual = || usize::try_from(Pools::default().writers).unwrap_or(usize::MAX);
        Self {
            readers: config.pool.readers.unwrap_or(twice.max(least)).max(1),
            scans,
            writers: config.pool.writers.unwrap_or_else(usual),
            // One is left for lists, however few there are.
            searches: searches.min(scans.saturating_sub(1)).max(1),
            writes,
            is_file,
        }
    }

    /// Lets `config` say this.
    pub(crate) fn tell(self, config: &mut Config) {
        config.pool.readers = Some(self.readers);
        config.pool.scans = Some(self.scans);
        config.admission.scans = Some(self.searches);
    }

    /// Limits the capacity to so many bytes of memory.
    pub(crate) fn within_memory(self, bytes: usize) -> Self {
        let [reader, scan] = MEMORY;
        self.within(bytes / reader, bytes / scan)
    }

    /// Limits the capacity to so many open files of connections.
    pub(crate) fn within_files(self, files: usize) -> Self {
        if self.files() <= files {
            return self;
        }
        let one = |readers, scans| {
            let it = Self {
                readers,
                scans,
                ..self
            };
            it.files()
        };
        let further = one(0, 0);
        let (reader, scan) = (
            one(1, 0).saturating_sub(further),
            one(0, 1).saturating_sub(further),
        );
        let room = files.saturating_sub(further);
        let readers = self.readers.min((room / 2 / reader).max(LEAST));
        let rest = room.saturating_sub(readers.saturating_mul(reader));
        self.within(readers, rest / scan)
    }

    fn within(self, readers: usize, scans: usize) -> Self {
        let scans = self.scans.min(scans.max(LEAST));
        Self {
            readers: self.readers.min(readers.max(LEAST)),
            scans,
            searches: self.searches.min(scans.saturating_sub(1)).max(1),
            ..self
        }
    }

    /// The files that all connections to the database have open, sockets among them.
    pub(crate) fn files(self) -> usize {
        let reading = |for_reader| {
            self.readers
                .saturating_mul(for_reader)
                .saturating_add(self.scans)
        };
        match self.is_file {
            true => reading(FOR_READER)
                .saturating_add(FURTHER)
                .saturating_mul(FILES)
                .saturating_add(SHARED),
            false => reading(1)
                .saturating_add(self.writers)
                .saturating_add(PROBES),
        }
    }

    /// The connections to the database that `config` asks for.
    pub(crate) fn pools(config: &Config) -> Pools {
        let it = Self::of(config);
        let count = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Pools {
            readers: count(it.readers),
            scans: count(it.scans),
            writers: count(it.writers),
            statement_time: config.pool.statement_time,
            wait: config.pool.wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(cores: usize, settings: &[(&str, &str)]) -> [usize; 3] {
        let it = Capacity::on(cores, &Config::with(settings));
        [it.readers, it.scans, it.searches]
    }

    #[test]
    fn lists_have_connections_that_no_search_takes() {
        for cores in [1, 2, 4, 8, 16, 18] {
            for (database, lists) in ["sqlite://x.db", "postgres://x"].into_iter().zip(LISTS) {
                let it = Capacity::on(cores, &Config::with(&[("database", database)]));
                assert!(it.scans >= it.searches + it.writes + lists, "{it:?}");
            }
        }
        assert_eq!(on(2, &[]), [4, 14, 2]);
        assert_eq!(on(8, &[("database", "postgres://x")]), [16, 32, 8]);
        assert_eq!(on(64, &[]), [128, 64, 63]);
        // A setting is taken as it is, but no search takes the last connection.
        assert_eq!(on(2, &[("admission.scans", "8")]), [4, 20, 8]);
        let few = [("pool.scans", "4"), ("admission.scans", "8")];
        assert_eq!(on(2, &few), [4, 4, 3]);
        assert_eq!(
            on(2, &[("pool.readers", "1"), ("pool.scans", "1")]),
            [1, 1, 1]
        );
    }

    #[test]
    fn few_files_and_little_memory_are_few_connections() {
        let mut config = Config::with(&[]);
        let usual = Capacity::on(2, &config);
        assert_eq!(usual.files(), 52);
        assert_eq!(usual.within_files(52), usual);
        for (files, expected) in [
            (51, [4, 13, 2]),
            (32, [3, 6, 2]),
            (20, [2, 2, 1]),
            (0, [2, 2, 1]),
        ] {
            let it = usual.within_files(files);
            assert_eq!([it.readers, it.scans, it.searches], expected, "{files}");
            assert!(it.files() <= files || it.readers == LEAST, "{it:?}");
        }
        for (mebibytes, expected) in [
            (1024, [4, 14, 2]),
            (512, [4, 10, 2]),
            (256, [2, 5, 2]),
            (128, [2, 2, 1]),
        ] {
            let it = usual.within_memory(mebibytes << 20);
            assert_eq!([it.readers, it.scans, it.searches], expected, "{mebibytes}");
        }
        let few = usual.within_files(0);
        few.tell(&mut config);
        assert_eq!(Capacity::on(2, &config), few);
    }
}
