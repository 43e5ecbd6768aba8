#!lua flags=allow-oom
-- mend: set a key of the wrong type aside, on which a read-only script failed.
-- KEYS[1]  the shard's tag
-- ARGV[1]  the command that failed
-- ARGV[2]  the key
-- Result: 1, also if somebody else was first; 0 if it cannot be set aside. O(1).
-- include: damage
local TYPES = {H = 'hash', L = 'list', Z = 'zset', S = 'set', X = 'stream'}
local wanted = string.find(ARGV[1], '^SET') and 'string' or TYPES[string.sub(ARGV[1], 1, 1)] or 'string'
local found = redis.call('TYPE', ARGV[2]).ok
if found == 'none' or found == wanted then return 1 end
return heal('WRONGTYPE', '', ARGV[2]) and 1 or 0
