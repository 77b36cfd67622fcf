CREATE TABLE job (
    name TEXT NOT NULL PRIMARY KEY,
    due BIGINT NOT NULL,
    done BIGINT,
    failures BIGINT NOT NULL,
    error TEXT
);
