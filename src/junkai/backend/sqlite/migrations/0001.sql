-- The first schema. Moments are milliseconds since 1970-01-01 UTC; docs/frontier.md says what the rows promise.

-- One row per connection that a host allows (slot): the row is the lock. AUTOINCREMENT, here and below: an id that was
-- deleted is never given out again, so that a stale turn or visit cannot meet another row under its number.
CREATE TABLE host (
  host_id     INTEGER PRIMARY KEY AUTOINCREMENT,
  key         TEXT NOT NULL,
  slot        INTEGER NOT NULL DEFAULT 0,
  domain      TEXT NOT NULL,
  shard       INTEGER NOT NULL,
  ready_at    INTEGER NOT NULL,            -- max(not_before, earliest due), or the lease's end while in a turn
  not_before  INTEGER NOT NULL DEFAULT 0,  -- the one floor: last request + delay, Retry-After, hold, block
  hold_until  INTEGER,                     -- why the floor is far: only ever explains not_before
  hold_why    TEXT,
  lease_until INTEGER,                     -- NULL: in no turn
  turn_no     INTEGER NOT NULL DEFAULT 0,
  owner       TEXT,
  delay_ms    INTEGER NOT NULL,
  is_exempt   INTEGER NOT NULL DEFAULT 0,
  is_blocked  INTEGER NOT NULL DEFAULT 0,
  UNIQUE (key, slot),
  CHECK (ready_at >= not_before),
  CHECK (hold_until IS NULL OR hold_until <= not_before)
);
CREATE INDEX host_ready ON host (shard, ready_at);
CREATE INDEX host_ready_any_shard ON host (ready_at);

CREATE TABLE source (
  source_id           INTEGER PRIMARY KEY AUTOINCREMENT,
  url_key             BLOB NOT NULL UNIQUE CHECK (length(url_key) = 16),
  host_id             INTEGER NOT NULL,    -- where it is asked next
  home_id             INTEGER,             -- the host of its own URL, while it is asked elsewhere (pending_url)
  crawl               INTEGER NOT NULL DEFAULT 0,
  kind                TEXT NOT NULL,
  downloader          TEXT NOT NULL DEFAULT 'http',
  url                 TEXT NOT NULL,
  pending_url         TEXT,
  state               TEXT NOT NULL,
  prio                INTEGER NOT NULL DEFAULT 1 CHECK (prio IN (0, 1, 2)),
  due_at              INTEGER,             -- NULL: never again
  is_paused           INTEGER NOT NULL DEFAULT 0,
  why                 TEXT NOT NULL DEFAULT '',
  attempts            INTEGER NOT NULL DEFAULT 0,
  error               TEXT,
  http_status         INTEGER,
  interval_s          REAL,
  explicit_interval_s REAL,
  etag                TEXT,
  last_modified       TEXT,
  validators_url      TEXT,
  body_hash           BLOB NOT NULL DEFAULT x'',
  known               BLOB NOT NULL DEFAULT x'',
  last_visit_at       INTEGER,
  added_at            INTEGER NOT NULL,
  rest                BLOB NOT NULL DEFAULT x'80',  -- what no query asks for: a MessagePack map, see rows.py
  CHECK (due_at IS NULL OR NOT is_paused)
);
CREATE INDEX source_next ON source (host_id, prio, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX source_due ON source (due_at, host_id) WHERE due_at IS NOT NULL;
CREATE INDEX source_host ON source (host_id);
CREATE INDEX source_away ON source (home_id) WHERE home_id IS NOT NULL;
-- The usual state is left out: a feed that stays well costs nothing here, and its number is what the others leave.
CREATE INDEX source_state ON source (state) WHERE state <> 'fetched';
CREATE INDEX source_paused ON source (is_paused) WHERE is_paused;

-- The URLs that a source had before permanent moves.
CREATE TABLE earlier_url (
  url_key   BLOB PRIMARY KEY,
  source_id INTEGER NOT NULL,
  url       TEXT NOT NULL,
  moved_at  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX earlier_url_source ON earlier_url (source_id, moved_at);

CREATE TABLE subscription (
  source_id INTEGER NOT NULL,
  owner     TEXT NOT NULL,                 -- '' is the operator
  title     TEXT NOT NULL DEFAULT '',
  site_url  TEXT,
  added_at  INTEGER NOT NULL,
  PRIMARY KEY (source_id, owner)
) WITHOUT ROWID;
CREATE INDEX subscription_owner ON subscription (owner);

CREATE TABLE subscription_group (
  source_id INTEGER NOT NULL,
  owner     TEXT NOT NULL,
  name      TEXT NOT NULL,
  PRIMARY KEY (source_id, owner, name)
) WITHOUT ROWID;
CREATE INDEX subscription_group_name ON subscription_group (name);

-- seq is the row's own key and changes with each revision: reading on from a cursor is a walk along the table.
CREATE TABLE entry (
  seq           INTEGER PRIMARY KEY,
  source_id     INTEGER NOT NULL,
  id_hash       BLOB NOT NULL CHECK (length(id_hash) = 16),
  content_hash  BLOB NOT NULL,
  revision      INTEGER NOT NULL DEFAULT 1,
  first_seen_at INTEGER NOT NULL,
  published_at  INTEGER,
  updated_at    INTEGER,
  content       BLOB NOT NULL,             -- model.Entry as MessagePack
  UNIQUE (source_id, id_hash)
);
CREATE INDEX entry_seen ON entry (first_seen_at);

-- The last seq given out, in one row: it outlives the entries, so that no cursor ever meets a number twice.
CREATE TABLE entry_seq (last INTEGER NOT NULL);
INSERT INTO entry_seq (last) VALUES (0);
