-- add_total: to a number that only grows.
INSERT INTO total (name, labels, value) VALUES (?1, ?2, ?3)
ON CONFLICT (name, labels) DO UPDATE SET value = value + excluded.value;

-- add_minute: visits of one minute with one outcome.
INSERT INTO minute (minute, outcome, visits, entries_new, bytes) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (minute, outcome) DO UPDATE SET visits = visits + excluded.visits,
  entries_new = entries_new + excluded.entries_new, bytes = bytes + excluded.bytes;

-- keep: so many rows more, or fewer.
UPDATE kept SET value = value + ?2 WHERE name = ?1;

-- this_hour: whether anything was counted since its start.
SELECT 1 FROM minute WHERE minute >= ? LIMIT 1;

-- prune: what is too old, at most the oldest day of it.
DELETE FROM minute WHERE minute < min(?1, (SELECT min(minute) FROM minute) + 1440);
