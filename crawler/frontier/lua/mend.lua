#!lua flags=allow-oom
-- mend: set a key of the wrong type aside, on which a read-only script failed.
-- KEYS[1]  the shard's tag
-- ARGV[1]  the key
-- Result: 1, or 0 if it cannot be set aside. O(1).
-- include: damage
return heal('WRONGTYPE', '', ARGV[1]) and 1 or 0
