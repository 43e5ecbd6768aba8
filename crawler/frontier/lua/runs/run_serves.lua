#!lua flags=allow-oom
-- run_serves: where the workers of a spider take start URLs from.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  kind and name of the key, '' for none
-- Result: 1. O(1).
-- include: clock damage state
if call('HGET', T .. ':starts', ARGV[1]) ~= ARGV[2] then call('HSET', T .. ':starts', ARGV[1], ARGV[2]) end
save()
return 1
