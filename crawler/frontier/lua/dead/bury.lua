#!lua flags=allow-oom
-- bury: make a request a dead letter.
-- KEYS[1]  the shard's tag
-- ARGV[1]  id
-- ARGV[2]  token
-- ARGV[3]  reason
-- ARGV[4]  detail (msgpack, opaque here)
-- ARGV[5]  its new priority; if missing, like ARGV[6], neither changes
-- ARGV[6]  its new body
-- Result: DONE or STALE. O(log dead).
-- include: clock damage state tally dead_again hosts addresses shares records rewritten budgets spend lose release
-- include: seen dead
local id, r = held()
if not r then return STALE end
release_unreported(r)
refund_request(r)
local envelope = rewritten(id, ARGV[5], ARGV[6])
if envelope then bury(id, r, envelope, ARGV[3], ARGV[4]) else lose(id, r) end
forget_leases({id})
save()
return DONE
