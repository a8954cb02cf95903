-- The month of what was said in May was left out of the index of English texts, since it was read as the small word: it is
-- added, once for each item, to the blocks of the stem `5m`.
INSERT INTO memory_postings (scope, term, block, postings)
    SELECT w.scope, '5m', w.seq >> 10, unhex(group_concat(printf('%02X%02X%02X%02X',
        w.seq & 255, ((w.seq >> 8) & 3) | 4, w.length & 255, w.length >> 8), ''))
    FROM memory_words w JOIN memory_items i ON i.seq = w.seq
    WHERE strftime('%m', i.at, 'unixepoch') = '05' AND instr(' ' || w.stems || ' ', ' 5m ') = 0
    GROUP BY w.scope, w.seq >> 10
    ON CONFLICT DO UPDATE SET postings = CAST(postings || excluded.postings AS BLOB);
UPDATE memory_words SET stems = stems || ' 5m' WHERE instr(' ' || stems || ' ', ' 5m ') = 0
    AND seq IN (SELECT seq FROM memory_items WHERE strftime('%m', at, 'unixepoch') = '05');
