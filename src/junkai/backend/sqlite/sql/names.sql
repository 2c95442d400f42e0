-- find: the source that has this URL key, now or before a move.
SELECT source_id FROM source WHERE url_key = ?1
UNION ALL SELECT source_id FROM earlier_url WHERE url_key = ?1;

-- current: what a source is called now.
SELECT url_key, url FROM source WHERE source_id = ?;

-- keep_earlier: the name a source had before a permanent move.
INSERT INTO earlier_url (url_key, source_id, url, moved_at) VALUES (?, ?, ?, ?);

-- forget_earlier: a source that moves back.
DELETE FROM earlier_url WHERE url_key = ?;

-- rename: a source's new URL.
UPDATE source SET url_key = ?, url = ? WHERE source_id = ?;
