-- Who people are: one person, many addresses, linked by the owner only. An address without an account of ours holds for
-- all of them. Rows are deleted when they are forgotten; nothing else refers to them.
CREATE TABLE persons (
    seq        INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    class      TEXT NOT NULL CHECK (class IN ('owner', 'member')),
    added      REAL NOT NULL
) STRICT;
INSERT INTO persons (id, name, class, added) VALUES ('owner', '', 'owner', 0);

CREATE TABLE person_addresses (
    channel    TEXT NOT NULL,
    account    TEXT NOT NULL,
    address    TEXT NOT NULL,
    person     TEXT NOT NULL REFERENCES persons (id) ON DELETE CASCADE,
    linked     REAL NOT NULL,
    PRIMARY KEY (channel, account, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_addresses_person ON person_addresses (person);

-- Who asked to be let in and was told a code. Those who were denied stay, so that they cannot ask again.
CREATE TABLE pairing_requests (
    seq        INTEGER PRIMARY KEY,
    code       TEXT NOT NULL UNIQUE,
    channel    TEXT NOT NULL,
    account    TEXT NOT NULL,
    address    TEXT NOT NULL,
    name       TEXT NOT NULL,
    asked      REAL NOT NULL,
    expires    REAL NOT NULL,
    denied     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX pairing_requests_address ON pairing_requests (channel, account, address);
