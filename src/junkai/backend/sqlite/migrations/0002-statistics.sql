-- Numbers that are kept, not counted: `tally` adds to them in the transaction that changes what they count.

-- Numbers that only grow. Labels are a JSON list of pairs. A bucket of visit_seconds holds its own visits alone, so that
-- a visit adds to one of them; they are added up when they are read.
CREATE TABLE total (
  name   TEXT NOT NULL,
  labels TEXT NOT NULL,
  value  REAL NOT NULL,
  PRIMARY KEY (name, labels)
) WITHOUT ROWID;

-- Visits by minute (since 1970-01-01 UTC) and outcome.
CREATE TABLE minute (
  minute      INTEGER NOT NULL,
  outcome     TEXT NOT NULL,
  visits      INTEGER NOT NULL,
  entries_new INTEGER NOT NULL,
  bytes       INTEGER NOT NULL,
  PRIMARY KEY (minute, outcome)
) WITHOUT ROWID;

-- How many rows there are. No triggers: one on entry doubled the cost of storing an entry.
CREATE TABLE kept (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO kept (name, value)
SELECT 'sources', count(*) FROM source
UNION ALL SELECT 'entries', count(*) FROM entry
UNION ALL SELECT 'hosts', count(*) FROM host WHERE slot = 0;

CREATE INDEX host_held ON host (hold_until) WHERE hold_until IS NOT NULL;
CREATE INDEX host_blocked ON host (key) WHERE is_blocked;
CREATE INDEX host_in_turn ON host (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX source_failing ON source (last_visit_at) WHERE state IN ('error', 'fetch_error');
