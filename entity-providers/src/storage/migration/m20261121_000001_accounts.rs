//! The people who can log in.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261121_000001_accounts",
    statements: STATEMENTS,
};

const STATEMENTS: &[&str] = &[
    "CREATE TABLE user_account (
        id TEXT NOT NULL PRIMARY KEY,
        eid TEXT NOT NULL,
        email TEXT NOT NULL,
        first_name TEXT NOT NULL,
        last_name TEXT NOT NULL,
        type TEXT NOT NULL,
        password_hash TEXT,
        is_disabled BOOLEAN NOT NULL,
        props TEXT NOT NULL,
        last_login BIGINT,
        created BIGINT NOT NULL,
        created_by TEXT,
        modified BIGINT NOT NULL,
        version BIGINT NOT NULL
    )",
    "CREATE UNIQUE INDEX user_account_by_eid ON user_account (lower(eid))",
    "CREATE INDEX user_account_by_email ON user_account (lower(email))",
    "CREATE INDEX user_account_by_name ON user_account (last_name, first_name, id)",
];
