-- feeds: sources by id, as lists show them; conditions are put in by `feeds`.
SELECT {source}, source.prio, source.is_paused, source.added_at,
  host.key, host.is_exempt, host.not_before, host.hold_why, host.is_blocked,
  (SELECT count(*) FROM entry WHERE entry.source_id = source.source_id),
  (SELECT json_group_array(json_array(owner, title)) FROM subscription
    WHERE subscription.source_id = source.source_id),
  (SELECT json_group_array(name) FROM (SELECT DISTINCT name FROM subscription_group
    WHERE subscription_group.source_id = source.source_id ORDER BY name)),
  (SELECT json_group_array(url) FROM (SELECT url FROM earlier_url
    WHERE earlier_url.source_id = source.source_id ORDER BY moved_at))
FROM source CROSS JOIN host USING (host_id)
WHERE source.source_id > :after {conditions}
ORDER BY source.source_id LIMIT :rows_max;

-- pause: never, until resumed.
UPDATE source SET is_paused = 1, due_at = NULL, why = 'paused' WHERE source_id = :source_id;

-- resume: due now, as if nothing had failed.
UPDATE source SET is_paused = 0, due_at = :now, why = 'resumed', attempts = 0,
  state = CASE state WHEN 'error' THEN 'fetch_error' ELSE state END
WHERE source_id = :source_id;

-- refresh: due now, unless it is paused. In a turn, later than its visit began: record sees the operator's word by that.
UPDATE source SET why = 'asked for by the operator',
  due_at = CASE WHEN EXISTS (SELECT 1 FROM host WHERE host.host_id = source.host_id AND lease_until IS NOT NULL)
    THEN :now ELSE min(coalesce(due_at, :now), :now) END
WHERE source_id = :source_id AND NOT is_paused;

-- refresh_all: every active one due now.
UPDATE source SET due_at = min(due_at, :now), why = 'asked for by the operator' WHERE due_at IS NOT NULL;

-- forget_body: the next visit is unconditional. Entries stay, and their ids decide what is new.
UPDATE source SET etag = NULL, last_modified = NULL, validators_url = NULL, body_hash = x'', known = x''
WHERE source_id = :source_id AND NOT is_paused;

-- forget_all_bodies: the same for every active one.
UPDATE source SET etag = NULL, last_modified = NULL, validators_url = NULL, body_hash = x'', known = x''
WHERE due_at IS NOT NULL;

-- host_of: where a source is asked next.
SELECT host_id FROM source WHERE source_id = ?;

-- wake_all: every host that has something due, never below the floor; turns see it at their release.
UPDATE host SET ready_at = min(ready_at, max(not_before, :now)) WHERE lease_until IS NULL
  AND EXISTS (SELECT 1 FROM source WHERE source.host_id = host.host_id AND due_at IS NOT NULL);

-- remove_entries: of one source.
DELETE FROM entry WHERE source_id = ?;

-- remove_subscriptions: of one source.
DELETE FROM subscription WHERE source_id = ?;

-- remove_groups: of one source.
DELETE FROM subscription_group WHERE source_id = ?;

-- remove_earlier_urls: of one source.
DELETE FROM earlier_url WHERE source_id = ?;

-- remove: the source itself.
DELETE FROM source WHERE source_id = ?;

-- owners: and how many sources each subscribes to.
SELECT owner, count(*) FROM subscription GROUP BY owner ORDER BY owner;
