CREATE INDEX audit_by_time ON audit (time);

CREATE TABLE session (
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
);
CREATE INDEX session_by_user ON session (user_id, created);
CREATE INDEX session_by_use ON session (last_accessed);

CREATE TABLE login_failure (
    subject TEXT NOT NULL PRIMARY KEY,
    failures BIGINT NOT NULL,
    last_failure BIGINT NOT NULL
);
CREATE INDEX login_failure_by_time ON login_failure (last_failure);

CREATE TABLE idempotency_key (
    user_id TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    created BIGINT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body BYTES NOT NULL,
    bytes BIGINT NOT NULL DEFAULT 0,
    epoch BIGINT,
    brief BYTES,
    PRIMARY KEY (user_id, key)
);
CREATE INDEX idempotency_key_by_time ON idempotency_key (created, bytes);
CREATE INDEX idempotency_key_by_user ON idempotency_key (user_id, created);

CREATE TABLE database_identity (
    place BIGINT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL
);

CREATE TABLE outbox (
    sequence SEQUENCE,
    kind TEXT NOT NULL,
    reference TEXT NOT NULL,
    actor TEXT,
    site TEXT,
    time BIGINT NOT NULL,
    details TEXT
);
CREATE TABLE follower (
    name TEXT NOT NULL PRIMARY KEY,
    position BIGINT NOT NULL,
    person TEXT NOT NULL
);
INSERT INTO follower (name, position, person) VALUES ('notifications', 0, ''), ('webhooks', 0, ''), ('activity', 0, '');
