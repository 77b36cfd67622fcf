CREATE TABLE user_account (
    id TEXT NOT NULL PRIMARY KEY,
    eid TEXT NOT NULL,
    email TEXT NOT NULL,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    type TEXT NOT NULL,
    password_hash TEXT,
    is_disabled BOOLEAN,
    props TEXT NOT NULL,
    last_login BIGINT,
    created BIGINT,
    created_by TEXT,
    modified BIGINT,
    version BIGINT NOT NULL,
    eid_folded TEXT,
    email_folded TEXT,
    first_name_folded TEXT,
    last_name_folded TEXT,
    is_email_verified BOOLEAN DEFAULT FALSE
);
CREATE UNIQUE INDEX user_account_eid_unique ON user_account (lower(eid));
CREATE INDEX user_account_by_email ON user_account (lower(email));
CREATE INDEX user_account_by_name ON user_account (last_name, first_name, id);

CREATE TABLE demo_password (hash TEXT NOT NULL PRIMARY KEY);

CREATE TABLE site (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    type TEXT,
    short_description TEXT,
    description TEXT,
    contact_name TEXT,
    contact_email TEXT,
    is_published BOOLEAN NOT NULL,
    is_pub_view BOOLEAN NOT NULL,
    is_joinable BOOLEAN NOT NULL,
    joiner_role TEXT,
    skin TEXT,
    icon_url TEXT,
    owner_id TEXT REFERENCES user_account (id) ON DELETE SET NULL,
    term TEXT,
    term_eid TEXT,
    provider_group_id TEXT,
    created BIGINT NOT NULL,
    modified BIGINT NOT NULL,
    version BIGINT NOT NULL,
    title_folded TEXT,
    short_description_folded TEXT
);
CREATE INDEX site_by_title ON site (title, id);
CREATE INDEX site_by_owner ON site (owner_id);
CREATE INDEX site_open ON site (title, id) WHERE is_pub_view;
CREATE INDEX site_joinable ON site (title, id) WHERE is_joinable;

CREATE TABLE site_likeness (
    skeleton TEXT NOT NULL PRIMARY KEY,
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE
);
CREATE INDEX site_likeness_by_site ON site_likeness (site_id);

CREATE TABLE site_page (
    id TEXT NOT NULL PRIMARY KEY,
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    position BIGINT NOT NULL,
    layout BIGINT NOT NULL
);
CREATE INDEX site_page_by_site ON site_page (site_id, position, id);

CREATE TABLE site_tool (
    id TEXT NOT NULL PRIMARY KEY,
    page_id TEXT NOT NULL REFERENCES site_page (id) ON DELETE CASCADE,
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    tool_id TEXT NOT NULL,
    title TEXT NOT NULL,
    position BIGINT NOT NULL
);
CREATE INDEX site_tool_by_page ON site_tool (page_id);
CREATE INDEX site_tool_by_site ON site_tool (site_id, position, id);

CREATE TABLE site_group (
    id TEXT NOT NULL PRIMARY KEY,
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    title TEXT NOT NULL,
    description TEXT,
    modified BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX site_group_by_site ON site_group (site_id, title, id);

CREATE TABLE group_member (
    group_id TEXT NOT NULL REFERENCES site_group (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    site_id TEXT,
    PRIMARY KEY (group_id, user_id)
);
CREATE INDEX group_member_by_user ON group_member (user_id, group_id);

CREATE TABLE membership (
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    is_active BOOLEAN NOT NULL,
    is_provided BOOLEAN NOT NULL,
    is_pinned BOOLEAN NOT NULL,
    pinned_position BIGINT,
    created BIGINT NOT NULL,
    is_hidden BOOLEAN NOT NULL DEFAULT FALSE,
    origin TEXT NOT NULL DEFAULT 'mandate',
    is_muted BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (user_id, site_id)
);
CREATE INDEX membership_by_site ON membership (site_id, role, user_id);

CREATE TABLE invitation (
    id TEXT NOT NULL PRIMARY KEY,
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    role TEXT NOT NULL,
    invitee TEXT NOT NULL,
    invitee_lower TEXT NOT NULL,
    invited_by TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    secret_hash TEXT
);
CREATE UNIQUE INDEX invitation_by_site ON invitation (site_id, invitee_lower);
CREATE INDEX invitation_by_invitee ON invitation (invitee_lower);
CREATE INDEX invitation_by_inviter ON invitation (invited_by);
CREATE INDEX invitation_by_end ON invitation (expires);
CREATE UNIQUE INDEX invitation_by_secret ON invitation (secret_hash);

CREATE TABLE realm_grant (
    realm TEXT NOT NULL,
    role TEXT NOT NULL,
    function TEXT NOT NULL,
    is_granted BOOLEAN NOT NULL,
    PRIMARY KEY (realm, role, function)
);
CREATE TABLE authorization_epoch (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    number BIGINT NOT NULL
);

CREATE TABLE usage (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    entities BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (kind, id)
);
CREATE TABLE usage_source (
    name TEXT NOT NULL PRIMARY KEY,
    definition TEXT NOT NULL
);

CREATE TABLE type_migration (
    origin TEXT NOT NULL,
    name TEXT NOT NULL,
    has_run BOOLEAN NOT NULL,
    PRIMARY KEY (origin, name)
);

CREATE TABLE stored_file (
    blob TEXT NOT NULL PRIMARY KEY,
    unnamed BIGINT,
    size BIGINT NOT NULL DEFAULT 0,
    account TEXT,
    site TEXT
);
CREATE INDEX stored_file_by_time ON stored_file (unnamed, blob);
CREATE INDEX stored_file_by_account ON stored_file (account);
CREATE INDEX stored_file_by_site ON stored_file (site);
CREATE TABLE stored_file_column (name TEXT NOT NULL PRIMARY KEY);
CREATE TABLE attached_use (
    file TEXT NOT NULL,
    holder TEXT NOT NULL,
    entity TEXT NOT NULL,
    noted BIGINT NOT NULL,
    PRIMARY KEY (file, holder, entity)
);
CREATE INDEX attached_use_by_time ON attached_use (file, noted, holder, entity);
CREATE INDEX attached_use_by_entity ON attached_use (holder, entity);

CREATE TABLE site_import (
    site_id TEXT NOT NULL PRIMARY KEY REFERENCES site (id) ON DELETE CASCADE,
    progress TEXT NOT NULL
);
CREATE TABLE presence (
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    user_id TEXT NOT NULL REFERENCES user_account (id) ON DELETE CASCADE,
    seen BIGINT NOT NULL,
    PRIMARY KEY (site_id, user_id)
);
CREATE INDEX presence_by_seen ON presence (seen);
CREATE INDEX presence_by_user ON presence (user_id);
CREATE TABLE site_activity (
    site_id TEXT NOT NULL REFERENCES site (id) ON DELETE CASCADE,
    day TEXT NOT NULL,
    kind TEXT NOT NULL,
    events BIGINT NOT NULL,
    PRIMARY KEY (site_id, day, kind)
);
CREATE INDEX site_activity_by_day ON site_activity (day);

INSERT INTO authorization_epoch (id, number) VALUES (1, 0);
INSERT INTO site (id, title, title_folded, is_published, is_pub_view, is_joinable, created, modified, version) VALUES
    ('!admin', 'Administration Workspace', 'administration workspace', TRUE, FALSE, FALSE, 0, 0, 1),
    ('!site', 'Message of the Day', 'message of the day', TRUE, TRUE, FALSE, 0, 0, 1);
INSERT INTO site_likeness (skeleton, site_id) VALUES ('!adrnin', '!admin'), ('!site', '!site');
