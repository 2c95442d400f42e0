-- totals: all numbers that only grow.
SELECT name, labels, value FROM total ORDER BY name, labels;

-- minutes: visits by minute, or by some minutes together, and outcome.
SELECT minute / :bin_minutes * :bin_minutes, outcome, sum(visits), sum(entries_new), sum(bytes) FROM minute
WHERE minute >= :since AND minute < :until GROUP BY 1, 2 ORDER BY 1, 2;

-- backlog: how much of what is due could be asked now, how much waits for its host, and since when the first of it does. A host that is ready is not held: holds and blocks raise ready_at; one that is over stands in the row until the next claim.
SELECT count(*),
  count(*) FILTER (WHERE ready_at <= :now),
  count(*) FILTER (WHERE ready_at > :now AND (is_blocked OR hold_until > :now)),
  min(max(due_at, ready_at)) FILTER (WHERE ready_at <= :now),
  min(due_at) FILTER (WHERE ready_at <= :now OR NOT (is_blocked OR coalesce(hold_until, 0) > :now))
FROM (SELECT due_at, host_id FROM source WHERE due_at <= :now ORDER BY due_at LIMIT :sources_max) AS due
CROSS JOIN host USING (host_id);

-- planned: how many sources fall due, by minute.
SELECT due_at / 60000, count(*)
FROM (SELECT due_at FROM source WHERE due_at > :now AND due_at < :until ORDER BY due_at LIMIT :sources_max)
GROUP BY 1 ORDER BY 1;

-- freshness: milliseconds from publication to our first sight, of the latest entries published since we know their source.
SELECT seen.first_seen_at - seen.published_at
FROM (SELECT source_id, seq, first_seen_at, published_at FROM entry
  WHERE first_seen_at >= :since AND first_seen_at <= :now
  ORDER BY first_seen_at DESC, seq DESC LIMIT :looked_at_max) AS seen
CROSS JOIN source USING (source_id)
WHERE seen.published_at >= source.added_at
ORDER BY seen.first_seen_at DESC, seen.seq DESC LIMIT :entries_max;

-- failing: the latest visited first.
SELECT source_id, url, state, error, http_status, attempts, last_visit_at, due_at, rest,
  (SELECT title FROM subscription WHERE subscription.source_id = source.source_id AND title <> ''
    ORDER BY owner LIMIT 1)
FROM source WHERE state IN ('error', 'fetch_error')
ORDER BY last_visit_at DESC, source_id DESC LIMIT :rows_max;

-- held: hosts under a hold or blocked, most sources first; the first slot speaks for all.
SELECT key, is_blocked, hold_why, hold_until,
  (SELECT count(*) FROM source WHERE source.host_id IN (SELECT host_id FROM host WHERE host.key = held.key)) AS sources
FROM (
  SELECT key, is_blocked, hold_why, hold_until FROM host WHERE is_blocked AND slot = 0
  UNION ALL
  SELECT key, is_blocked, hold_why, hold_until FROM host WHERE hold_until > :now AND NOT is_blocked AND slot = 0
  LIMIT :hosts_max) AS held
ORDER BY sources DESC, key LIMIT :rows_max;

-- kept: how many sources, entries and hosts there are.
SELECT name, value FROM kept;

-- count_states: all but the usual state, which is what is left.
SELECT state, count(*) FROM source WHERE state <> 'fetched' GROUP BY state;

-- count_paused: sources that the operator has stopped.
SELECT count(*) FROM source WHERE is_paused;

-- count_due: sources that could be asked at this moment, and since when the oldest waits.
SELECT count(*), min(source.due_at) FROM source JOIN host USING (host_id)
WHERE source.due_at <= :now AND host.ready_at <= :now;

-- count_held: hosts under a hold or blocked; either is on all slots, so that the first speaks for them.
SELECT (SELECT count(*) FROM host WHERE is_blocked AND slot = 0)
  + (SELECT count(*) FROM host WHERE hold_until > :now AND NOT is_blocked AND slot = 0);

-- count_in_turn: hosts with a turn at any slot.
SELECT count(DISTINCT key) FROM host WHERE lease_until > :now;
