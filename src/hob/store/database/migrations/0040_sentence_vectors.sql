-- The vectors of an item's sentences follow its own, and every number takes one byte: all memories are embedded again.
DELETE FROM memory_vectors;
DELETE FROM memory_bits;
UPDATE memory_embedders SET place = 0;
