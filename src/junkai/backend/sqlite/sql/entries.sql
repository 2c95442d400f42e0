-- recent: newest first, on from a place; conditions are put in by `recent`.
SELECT entry.seq, source.url, entry.content, entry.first_seen_at, entry.revision
FROM entry JOIN source USING (source_id)
WHERE (entry.first_seen_at, entry.seq) < (:before_at, :before_seq) {conditions}
ORDER BY entry.first_seen_at DESC, entry.seq DESC LIMIT :rows_max;

-- after: on from a cursor.
SELECT entry.seq, source.url, entry.content, entry.first_seen_at, entry.revision
FROM entry CROSS JOIN source USING (source_id)
WHERE entry.seq > :seq ORDER BY entry.seq LIMIT :rows_max;
