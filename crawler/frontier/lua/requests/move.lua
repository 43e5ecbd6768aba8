#!lua flags=allow-oom
-- move: queue a leased request on another stream of its spider (another tier), under its id and uncharged.
-- KEYS[1]  the shard's tag
-- ARGV[1]  id
-- ARGV[2]  token
-- ARGV[3]  stream
-- ARGV[4]  delay ms; 0: it keeps its place in the queue
-- ARGV[5]  its new priority; if missing, like ARGV[6], neither changes
-- ARGV[6]  its new body
-- Result: DONE or STALE. O(log delayed + log queue).
-- include: clock damage state tally hosts addresses members shares pages queue records rewritten budgets spend lose
-- include: release seen control drop cancel requeue
local id, r = held()
if not r then return STALE end
release_unreported(r)
refund_request(r)
local envelope = rewritten(id, ARGV[5], ARGV[6])
local stream, delay = ARGV[3], tonumber(ARGV[4])
local from, to = tally(r[STREAM], r[GENERATION]), tally(stream, r[GENERATION])
from.accepted, from.leased = from.accepted - 1, from.leased - 1
to.accepted, to.leased = to.accepted + 1, to.leased + 1
r[STREAM] = stream
if delay > 0 and envelope and not is_cancelled(stream, r[GENERATION]) then
  delay_until(now + delay, stream, r[HOST], member_of(id, uncharged(r), r[STATUS], envelope))
  to.leased, to.delayed = to.leased - 1, to.delayed + 1
  count_page(stream, r[GENERATION], r[HOST], -1)
else
  requeue(id, r, uncharged(r), envelope)
end
forget_leases({id})
save()
return DONE
