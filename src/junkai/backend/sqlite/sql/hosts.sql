-- slots: a host's rows, by slot.
SELECT host_id FROM host WHERE key = ? ORDER BY slot;

-- add: a host nobody knew, with nothing due.
INSERT INTO host (key, domain, shard, ready_at, delay_ms) VALUES (:key, :domain, :shard, :never, :delay_ms);

-- wake: earlier where something is due earlier, never below the floor; a turn's release sees it by itself.
UPDATE host SET ready_at = min(ready_at, max(not_before, :due)) WHERE host_id = :host_id AND lease_until IS NULL;

-- list: hosts by key, their slots added up.
SELECT key, min(domain), count(*), max(delay_ms), min(ready_at), min(not_before), max(hold_until), max(hold_why),
  max(lease_until), max(owner), max(is_exempt), max(is_blocked),
  sum((SELECT count(*) FROM source WHERE source.host_id = host.host_id)),
  sum((SELECT count(*) FROM source WHERE source.host_id = host.host_id AND prio IN (0, 1, 2) AND due_at <= :now))
FROM host WHERE key > :after GROUP BY key ORDER BY key LIMIT :rows_max;

-- one: one host in the same words.
SELECT key, min(domain), count(*), max(delay_ms), min(ready_at), min(not_before), max(hold_until), max(hold_why),
  max(lease_until), max(owner), max(is_exempt), max(is_blocked),
  sum((SELECT count(*) FROM source WHERE source.host_id = host.host_id)),
  sum((SELECT count(*) FROM source WHERE source.host_id = host.host_id AND prio IN (0, 1, 2) AND due_at <= :now))
FROM host WHERE key = :key GROUP BY key;

-- set_delay: the politeness delay of all slots.
UPDATE host SET delay_ms = :delay_ms WHERE key = :key;

-- set_exempt: whether rate limits hold it.
UPDATE host SET is_exempt = :is_exempt WHERE key = :key;

-- set_blocked: only says so; the floor follows with `lay_floor`.
UPDATE host SET is_blocked = :is_blocked WHERE key = :key;

-- lay_floor: the floor that the operator's word leaves. Where it falls, one delay from now is left of it: the last request was no later than now, or its turn is still running.
UPDATE host SET hold_until = :hold_until, hold_why = :hold_why,
  not_before = CASE WHEN is_blocked THEN :never
    ELSE max(min(not_before, :now + delay_ms), coalesce(:hold_until, 0)) END,
  ready_at = CASE WHEN is_blocked THEN :never
    ELSE max(ready_at, coalesce(:hold_until, 0)) END
WHERE key = :key;

-- settle: ready_at anew, as a release would have it, or the end of the running turn.
UPDATE host SET ready_at = max(not_before, coalesce(lease_until, (
  SELECT min(due_at) FROM source WHERE source.host_id = host.host_id AND due_at IS NOT NULL), :never))
WHERE key = :key;

-- leases: the latest end of a running turn at any slot.
SELECT max(lease_until) FROM host WHERE key = :key AND lease_until > :now;

-- sources: what lives at any slot of a host, or will when it comes back from elsewhere.
SELECT source_id, url_key, source.host_id, home_id FROM source
WHERE source.host_id IN (SELECT host_id FROM host WHERE key = :key)
UNION SELECT source_id, url_key, source.host_id, home_id FROM source
WHERE home_id IN (SELECT host_id FROM host WHERE key = :key);

-- add_slot: one more connection, under the same rules as the first.
INSERT INTO host (key, slot, domain, shard, ready_at, not_before, hold_until, hold_why, delay_ms, is_exempt, is_blocked)
SELECT key, :slot, domain, shard, ready_at, not_before, hold_until, hold_why, delay_ms, is_exempt, is_blocked
FROM host WHERE key = :key AND slot = 0;

-- move_source: to the row of its slot.
UPDATE source SET host_id = ?, home_id = ? WHERE source_id = ?;

-- drop_slots: those beyond the new number, once nothing lives there.
DELETE FROM host WHERE key = :key AND slot >= :slots;

-- fence: running turns are lost, and all slots wait until the last of them has ended; the strictest floor counts.
UPDATE host SET turn_no = turn_no + 1, owner = NULL, lease_until = :lease_until,
  not_before = max(not_before, :floor), ready_at = max(ready_at, :floor)
WHERE key = :key;

-- floor: the latest floor of any slot.
SELECT max(not_before) FROM host WHERE key = :key;
