//! The tables of the service itself: sessions, failures to log in, private feeds, results of requests that may
//! be repeated, and the identity of the database.

use entity_providers::storage::migration::{FoldedAnew, FoldedColumns, Tables};
use sea_orm_migration::MigrationTrait;

use crate::operate::files::owner::IDENTITY;

/// The steps, in order. They run behind those of the providers.
pub fn migrations() -> Vec<Box<dyn MigrationTrait>> {
    vec![
        Box::new(SESSIONS),
        Box::new(LOGIN_FAILURES),
        Box::new(FEEDS),
        Box::new(IDEMPOTENCY_KEYS),
        Box::new(FOLDED_FEEDS),
        Box::new(IDEMPOTENCY_BOUNDS),
        Box::new(IDEMPOTENCY_EPOCH),
        Box::new(IDENTITY),
        Box::new(FEEDS_FOLDED_ANEW),
    ]
}

const SESSIONS: Tables = Tables {
    name: "m20261121_000901_sessions",
    statements: &[
        "CREATE TABLE session (
            id_hash TEXT NOT NULL PRIMARY KEY,
            handle TEXT NOT NULL UNIQUE,
            user_id TEXT NOT NULL,
            user_eid TEXT NOT NULL,
            display_name TEXT NOT NULL,
            created BIGINT NOT NULL,
            last_accessed BIGINT NOT NULL,
            max_inactive BIGINT NOT NULL,
            csrf_token TEXT NOT NULL,
            address TEXT NOT NULL,
            attributes TEXT NOT NULL
        )",
        "CREATE INDEX session_by_user ON session (user_id, created)",
        "CREATE INDEX session_by_use ON session (last_accessed)",
    ],
};

const LOGIN_FAILURES: Tables = Tables {
    name: "m20261121_000902_login_failures",
    statements: &[
        "CREATE TABLE login_failure (
            subject TEXT NOT NULL PRIMARY KEY,
            failures BIGINT NOT NULL,
            last_failure BIGINT NOT NULL
        )",
        "CREATE INDEX login_failure_by_time ON login_failure (last_failure)",
    ],
};

const FEEDS: Tables = Tables {
    name: "m20261121_000903_feeds",
    statements: &[
        "CREATE TABLE feed (
            id TEXT NOT NULL PRIMARY KEY,
            token_hash TEXT NOT NULL UNIQUE,
            user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
            title TEXT NOT NULL,
            path TEXT NOT NULL,
            query TEXT NOT NULL,
            formats TEXT NOT NULL,
            created BIGINT NOT NULL,
            expires BIGINT,
            last_used BIGINT,
            version BIGINT NOT NULL
        )",
        "CREATE INDEX feed_by_user ON feed (user_id, id)",
    ],
};

const FOLDED_FEEDS: FoldedColumns = FoldedColumns {
    name: "m20261121_000025_folded_feeds",
    table: "feed",
    texts: &["title"],
    html: &[],
};

const FEEDS_FOLDED_ANEW: FoldedAnew = FoldedAnew {
    name: "m20261126_000131_folded_accents_of_feeds",
    columns: &[FOLDED_FEEDS],
    has_types: false,
};

const IDEMPOTENCY_KEYS: Tables = Tables {
    name: "m20261121_000904_idempotency_keys",
    statements: &[
        "CREATE TABLE idempotency_key (
            user_id TEXT NOT NULL,
            key TEXT NOT NULL,
            request TEXT NOT NULL,
            created BIGINT NOT NULL,
            status INTEGER NOT NULL,
            headers TEXT NOT NULL,
            body BYTES NOT NULL,
            PRIMARY KEY (user_id, key)
        )",
        "CREATE INDEX idempotency_key_by_time ON idempotency_key (created)",
    ],
};

/// What each result takes of the disk, and the ways to find those that are too many.
const IDEMPOTENCY_BOUNDS: Tables = Tables {
    name: "m20261121_000911_idempotency_bounds",
    statements: &[
        "ALTER TABLE idempotency_key ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
        "DROP INDEX idempotency_key_by_time",
        "CREATE INDEX idempotency_key_by_time ON idempotency_key (created, bytes)",
        "CREATE INDEX idempotency_key_by_user ON idempotency_key (user_id, created)",
    ],
};

/// What permissions were made of when a result was kept, and what is told of a batch when they may be others.
const IDEMPOTENCY_EPOCH: Tables = Tables {
    name: "m20261122_000930_idempotency_epoch",
    statements: &[
        "ALTER TABLE idempotency_key ADD COLUMN epoch BIGINT",
        "ALTER TABLE idempotency_key ADD COLUMN brief BYTES",
    ],
};
