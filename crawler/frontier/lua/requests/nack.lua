#!lua flags=allow-oom
-- nack: retry a request later, under the same id, uncharged: a retry is no crash.
-- KEYS[1]  the shard's tag
-- ARGV[1]  id
-- ARGV[2]  token
-- ARGV[3]  delay ms
-- ARGV[4]  why; '' keeps the last reason
-- ARGV[5]  its new priority; if missing, like ARGV[6], neither changes
-- ARGV[6]  its new body
-- T:why HASH id -> why it was last put back, until it is done or dead.
-- Result: DONE or STALE; GIVEN_UP if its host is given up, and this request with it. O(log delayed + log queue + log
-- dead).
-- include: clock damage state tally dead_again hosts addresses members shares pages queue records rewritten budgets
-- include: spend lose release seen control drop cancel requeue dead down
local GIVEN_UP = 2
local id, r = held()
if not r then return STALE end

-- Requests delayed without having been sent keep their host's pace, or an unreachable host's queue would be run
-- through.
release(r, (r[STARTED] > 0 or tonumber(ARGV[3]) > 0) and now or nil)
refund_request(r)
local envelope = rewritten(id, ARGV[5], ARGV[6])
if ARGV[4] ~= '' then call('HSET', T .. ':why', id, ARGV[4]) end
local deliveries, delay, t = uncharged(r), tonumber(ARGV[3]), tally(r[STREAM], r[GENERATION])
local given_up = envelope and is_given_up(r[HOST])
if given_up then
  r[DELIVERIES] = deliveries
  bury(id, r, envelope, 'host_down', down_detail(r[HOST]))
elseif delay > 0 and envelope and not is_cancelled(r[STREAM], r[GENERATION]) then
  delay_until(now + delay, r[STREAM], r[HOST], member_of(id, deliveries, r[STATUS], envelope))
  t.leased, t.delayed, t.nacked = t.leased - 1, t.delayed + 1, t.nacked + 1
  count_page(r[STREAM], r[GENERATION], r[HOST], -1)
else
  t.nacked = t.nacked + 1
  if envelope then
    local priority = struct.unpack('>h', envelope)
    r[SCORE] = retry_score(stream_for(r[STREAM], deliveries), r[HOST], priority)
  end
  requeue(id, r, deliveries, envelope)
end
forget_leases({id})
save()
return given_up and GIVEN_UP or DONE
