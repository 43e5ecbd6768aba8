#!lua flags=allow-oom
-- run_share: a run's generation uses the fingerprints of another one, or takes in no links, see lib/seen.
-- KEYS[1]  the shard's tag
-- ARGV[1]  spider
-- ARGV[2]  the run's generation
-- ARGV[3]  the generation whose fingerprints it uses; '' for one of its own that takes in no links
-- Result: 1. O(1).
-- include: clock damage state
local name = ARGV[1] .. ':' .. ARGV[2]
if ARGV[3] == '' then
  call('HSET', T .. ':gen:' .. name, 'closed', 1)
else
  call('HSETNX', T .. ':gen:' .. name, 'shares', ARGV[3])
end
add_generation(name)
save()
return 1
