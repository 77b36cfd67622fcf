//! The visits to sites, and the events of sites by day.

use super::Tables;

pub(super) const STEP: Tables = Tables {
    name: "m20261124_000090_presence",
    statements: &[
        "CREATE TABLE presence (
            site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
            user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
            seen BIGINT NOT NULL,
            PRIMARY KEY (site_id, user_id)
        )",
        "CREATE INDEX presence_by_seen ON presence (seen)",
        "CREATE INDEX presence_by_user ON presence (user_id)",
        "CREATE TABLE site_activity (
            site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
            day TEXT NOT NULL,
            kind TEXT NOT NULL,
            events BIGINT NOT NULL,
            PRIMARY KEY (site_id, day, kind)
        )",
        "CREATE INDEX site_activity_by_day ON site_activity (day)",
    ],
};
