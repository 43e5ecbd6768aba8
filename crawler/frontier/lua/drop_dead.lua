#!lua flags=allow-oom
-- drop_dead: throw dead letters away. Their fingerprints are forgotten: a link to the page queues it anew.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of ids. Result: 1 per letter, 0 where there is none (any more).
-- O(log dead) each.
-- include: clock state generations hosts queue leases seen dead
local result = {}
for i, id in ipairs(cmsgpack.unpack(ARGV[1])) do
  result[i] = drop_letter(id) and 1 or 0
end
save_seen()
save_all()
return result
