#!lua flags=allow-oom
-- bury: set a request aside as a dead letter.
-- KEYS[1] the shard's tag. ARGV[1] id, ARGV[2] token, ARGV[3] reason, ARGV[4] detail (msgpack, opaque here).
-- Result: 1, or 0 when the token is stale. O(log dead).
-- include: clock state tally hosts records release seen dead
local id, r = held()
if not r then return 0 end
release_unreported(r)
bury(id, r, call('HGET', T .. ':body', id), ARGV[3], ARGV[4])
forget_leases({id})
save_seen()
save_hosts()
save_tallies()
save_state()
return 1
