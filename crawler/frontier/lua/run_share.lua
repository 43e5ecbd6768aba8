#!lua flags=allow-oom
-- run_share: a run's generation uses the fingerprints of another one, see lib/seen.
-- KEYS[1]  the shard's tag
-- ARGV[1]  spider
-- ARGV[2]  the run's generation
-- ARGV[3]  the generation whose fingerprints it uses
-- Result: 1. O(1).
-- include: clock damage state
local name = ARGV[1] .. ':' .. ARGV[2]
call('HSETNX', T .. ':gen:' .. name, 'shares', ARGV[3])
call('SADD', T .. ':gens', name)
save()
return 1
