#!lua flags=allow-oom
-- share_wants: which limits are spent on this shard, and may not be on others; said once.
-- KEYS[1]  the shard's tag
-- Result: {name, the day's begin, ...} of up to MOST_WANTS. O(these).
-- include: clock damage state
local MOST_WANTS = 100
local wants = call('HGETALL', T .. ':wants')
local found = {}
for i = 1, math.min(#wants, 2 * MOST_WANTS) do found[i] = wants[i] end
for i = 1, #found, 2 do call('HDEL', T .. ':wants', found[i]) end
save()
return found
