-- fence: the turns of these references that are still ours, with their hosts.
SELECT host.host_id, host.turn_no, host.key FROM json_each(:refs) AS ref
CROSS JOIN host ON host.host_id = json_extract(ref.value, '$[0]')
  AND host.turn_no = json_extract(ref.value, '$[1]') AND host.lease_until IS NOT NULL;

-- sources: where these sources are, before the records.
SELECT source_id, host_id, home_id, is_paused, due_at, why, body_hash = x'' AND known = x'' FROM source
WHERE source_id IN (SELECT value FROM json_each(?));

-- save_state: what a decision says of a source that stays where it is.
UPDATE source SET state = ?, due_at = ?, why = ?, attempts = ?, error = ?, http_status = ?, interval_s = ?, etag = ?,
  last_modified = ?, validators_url = ?, body_hash = ?, known = ?, pending_url = ?, last_visit_at = ?, rest = ?
WHERE source_id = ?;

-- place: where a source is asked next, and the host it then returns to.
UPDATE source SET host_id = ?, home_id = ? WHERE source_id = ?;

-- next_seqs: numbers for so many entries; the last of them comes back.
UPDATE entry_seq SET last = last + ? RETURNING last;

-- add_entry: an entry, unless its id is known.
INSERT INTO entry (seq, source_id, id_hash, content_hash, first_seen_at, published_at, updated_at, content)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (source_id, id_hash) DO NOTHING;

-- revise_entry: a known entry whose content is another one; when it was first seen (?5) stays.
UPDATE entry SET seq = ?1, content_hash = ?4, revision = revision + 1, published_at = ?6, updated_at = ?7, content = ?8
WHERE source_id = ?2 AND id_hash = ?3 AND content_hash <> ?4;

-- raise_floor: a host that was just asked; its lease ends later, so that ready_at and its two indexes are left alone.
UPDATE host SET not_before = max(not_before, ?1) WHERE host_id = ?2 AND ready_at >= ?1;

-- raise_high_floor: the same where the floor lies beyond the lease.
UPDATE host SET not_before = max(not_before, ?1), ready_at = ?1 WHERE host_id = ?2 AND ready_at < ?1;

-- hold: all slots of a host; the longest hold counts.
UPDATE host SET
  hold_why = CASE WHEN :until >= coalesce(hold_until, 0) THEN :why ELSE hold_why END,
  hold_until = max(:until, coalesce(hold_until, 0)),
  not_before = max(not_before, :until), ready_at = max(ready_at, :until)
WHERE key = :key;

-- blocked: a host that the operator blocked.
SELECT 1 FROM host WHERE host_id = ? AND is_blocked;
