#!lua flags=allow-oom
-- resign: the leader stops; another may lead at once.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  the leader
-- Result: 1, or 0 if another one leads. O(1).
-- include: clock damage state
local key = T .. ':leader'
local is_ours = call('HGET', key, 'holder') == ARGV[1]
if is_ours then call('HSET', key, 'holder', '', 'until', 0) end
save()
return is_ours and 1 or 0
