CREATE TABLE audit (
    sequence SEQUENCE,
    time BIGINT NOT NULL,
    request_id TEXT NOT NULL,
    user_id TEXT,
    session TEXT,
    address TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    status INTEGER NOT NULL,
    times BIGINT NOT NULL DEFAULT 1
);
