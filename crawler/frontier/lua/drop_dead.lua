#!lua flags=allow-oom
-- drop_dead: throw dead letters away. Their fingerprints are forgotten: a link to the page queues it anew.
-- KEYS[1] the shard's tag. ARGV ids. Result: 1 per letter, 0 where there is none (any more). O(log dead) each.
-- include: clock state tally records seen dead
local result = {}
for i, id in ipairs(ARGV) do result[i] = drop_letter(id) and 1 or 0 end
save_seen()
save_tallies()
save_state()
return result
