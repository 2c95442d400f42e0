-- add: a source nobody knew.
INSERT INTO source (url_key, host_id, kind, url, state, due_at, added_at)
VALUES (?, ?, ?, ?, 'discovered', ?, ?);

-- subscribe: an owner's wish; said again, it only gains what was not said before.
INSERT INTO subscription (source_id, owner, title, site_url, added_at)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (source_id, owner) DO UPDATE SET
  title = CASE WHEN excluded.title = '' THEN title ELSE excluded.title END,
  site_url = coalesce(excluded.site_url, site_url);

-- join_group: an idempotent membership.
INSERT INTO subscription_group (source_id, owner, name) VALUES (?, ?, ?) ON CONFLICT DO NOTHING;

-- set_interval: the operator's interval; the last word counts.
UPDATE source SET explicit_interval_s = ? WHERE source_id = ?;

-- ready: hosts that may be asked, least ready_at first.
SELECT host_id, turn_no, key, slot, domain, delay_ms, is_exempt FROM host
WHERE ready_at <= :now ORDER BY ready_at LIMIT :hosts_max;

-- ready_in_shard: the same of one shard.
SELECT host_id, turn_no, key, slot, domain, delay_ms, is_exempt FROM host
WHERE shard = :shard AND ready_at <= :now ORDER BY ready_at LIMIT :hosts_max;

-- ready_in_round: the same with a source of this round; one index probe a priority.
SELECT host_id, turn_no, key, slot, domain, delay_ms, is_exempt FROM host
WHERE ready_at <= :now AND EXISTS (SELECT 1 FROM source
  WHERE source.host_id = host.host_id AND prio IN (0, 1, 2) AND due_at <= :due)
ORDER BY ready_at LIMIT :hosts_max;

-- ready_in_round_and_shard: both.
SELECT host_id, turn_no, key, slot, domain, delay_ms, is_exempt FROM host
WHERE shard = :shard AND ready_at <= :now AND EXISTS (SELECT 1 FROM source
  WHERE source.host_id = host.host_id AND prio IN (0, 1, 2) AND due_at <= :due)
ORDER BY ready_at LIMIT :hosts_max;

-- ready_shards: since when something of each shard has been ready; one index probe a shard.
WITH RECURSIVE one (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM one WHERE shard + 1 < :shards)
SELECT shard, (SELECT ready_at FROM host WHERE host.shard = one.shard AND ready_at <= :now ORDER BY ready_at LIMIT 1)
FROM one;

-- ready_shards_in_round: the same with a source of this round.
WITH RECURSIVE one (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM one WHERE shard + 1 < :shards)
SELECT shard, (SELECT ready_at FROM host WHERE host.shard = one.shard AND ready_at <= :now
  AND EXISTS (SELECT 1 FROM source WHERE source.host_id = host.host_id AND prio IN (0, 1, 2) AND due_at <= :due)
  ORDER BY ready_at LIMIT 1)
FROM one;

-- take: a claim; that it could be made says that a hold is over.
UPDATE host SET ready_at = :until, lease_until = :until, turn_no = turn_no + 1, owner = :owner,
  hold_until = NULL, hold_why = NULL
WHERE host_id = :host_id;

-- due: the first due sources of each host claimed. The inner select walks the index priority by priority and ends at the limit, so that 50,000 sources on a host cost no more than the few that are due.
SELECT {source}, source.prio, claimed.value FROM json_each(:host_ids) AS claimed
CROSS JOIN source ON source.source_id IN (
  SELECT source_id FROM source AS next
  WHERE next.host_id = claimed.value AND next.prio IN (0, 1, 2) AND next.due_at <= :due
  ORDER BY next.prio, next.due_at LIMIT :sources_max);

-- free_slot: the slot of one very host that may be asked now, whether or not anything is due.
SELECT host_id, turn_no, key, slot, domain, delay_ms, is_exempt FROM host
WHERE key = :key AND not_before <= :now AND (lease_until IS NULL OR lease_until <= :now)
ORDER BY not_before, slot LIMIT 1;

-- turns: hosts in a turn, as they stand.
SELECT host_id, turn_no, not_before, delay_ms FROM host
WHERE host_id IN (SELECT value FROM json_each(?)) AND lease_until IS NOT NULL;

-- wanted: of these sources, those that are to be visited.
SELECT source_id FROM source WHERE source_id IN (SELECT value FROM json_each(?)) AND NOT is_paused;

-- renew: a later end for a turn that is still ours.
UPDATE host SET lease_until = max(lease_until, :now + :lease + delay_ms),
  ready_at = max(ready_at, :now + :lease + delay_ms)
WHERE host_id = :host_id AND turn_no = :turn_no AND lease_until IS NOT NULL
RETURNING lease_until;

-- release: the end of a turn that is still ours. SQLite's one writer is the lock under which the subqueries read.
UPDATE host SET lease_until = NULL, owner = NULL, not_before = max(not_before, :floor),
  ready_at = max(not_before, :floor, min(
    coalesce((SELECT min(due_at) FROM source WHERE host_id = host.host_id AND prio = 0 AND due_at IS NOT NULL), :never),
    coalesce((SELECT min(due_at) FROM source WHERE host_id = host.host_id AND prio = 1 AND due_at IS NOT NULL), :never),
    coalesce((SELECT min(due_at) FROM source WHERE host_id = host.host_id AND prio = 2 AND due_at IS NOT NULL), :never)))
WHERE host_id = :host_id AND turn_no = :turn_no AND lease_until IS NOT NULL;

-- remaining: what is due in a round, by whether its host is held; own turns left out.
SELECT is_held, count(*), min(ready_at) FROM (
  SELECT host.is_blocked OR coalesce(host.hold_until, 0) > :now AS is_held, host.ready_at
  FROM source JOIN host USING (host_id)
  WHERE source.due_at <= :due AND NOT (host.lease_until IS NOT NULL AND host.lease_until > :now AND host.owner = :owner)
) GROUP BY is_held;

-- next_ready_at: when the first host is ready.
SELECT min(ready_at) FROM host;
