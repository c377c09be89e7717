-- The store of bulkcat. Times are microseconds since 1970 UTC. Other tools may open it read-only; only bulkcat writes it,
-- because each page ends with a checksum.

-- How requests ended: one row for each, the newest.
CREATE TABLE answers (
  id             INTEGER PRIMARY KEY,
  service        TEXT    NOT NULL, -- that was asked
  kind           TEXT    NOT NULL, -- website or product
  classification TEXT    NOT NULL,
  input          TEXT    NOT NULL, -- normalized
  outcome        TEXT    NOT NULL, -- answer or rejection
  status         INTEGER NOT NULL, -- of HTTP
  asked_at       INTEGER NOT NULL, -- when the service gave the answer last
  answered_at    INTEGER NOT NULL, -- when the service gave the answer first
  body           TEXT    NOT NULL, -- the answer as the service sent it, or the reason of a rejection
  checksum       INTEGER NOT NULL, -- CRC-32C of the other columns
  UNIQUE (input, classification, kind, service)
);

-- One row for each category of an answer.
CREATE VIEW categories AS
SELECT a.id, a.service, a.kind, a.classification, a.input, e.key + 1 AS rank,
  e.value ->> '$.value' AS value, e.value ->> '$.title' AS title, e.value ->> '$.confidence' AS confidence,
  strftime('%Y-%m-%dT%H:%M:%fZ', a.answered_at / 1e6, 'unixepoch') AS answered_at
FROM answers a, json_each(a.body, '$."' || a.classification || '"') e
WHERE a.outcome = 'answer';

-- What runs and gateways keep beside the answers of a service, or, without a service, beside all: what API keys have used.
CREATE TABLE notes (
  service TEXT NOT NULL,
  name    TEXT NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (service, name)
) WITHOUT ROWID;

-- Requests that a process is about to ask, and the processes. A process is gone if no process holds its lock, or if it
-- has stopped changing its row.
CREATE TABLE claims (
  request INTEGER PRIMARY KEY, -- a hash of its columns in answers
  owner   INTEGER NOT NULL
);
CREATE TABLE owners (
  id    INTEGER PRIMARY KEY,
  pid   INTEGER NOT NULL,
  beats INTEGER NOT NULL
);
