#!lua flags=allow-oom
-- report: an answer came (or none will): free the host's slot, space the next request from this one's wire start, and
-- adapt the host's pace. The lease itself goes on until ack, so slow storage never holds a host.
-- KEYS[1] the shard's tag. ARGV[1] a random number in [0, 1); ARGV[2...] reports: id (d), token (d), ms since wire start (I4),
-- latency ms (I4), status or 0 (H), Retry-After ms (I4), and a sum (B): 1 to keep the slot for a follow-up request, 2 when
-- the host is not to blame (a proxy failed): then its pace stays as it is, 4 when it is, though it did not answer.
-- Result: 1 per report, 0 where the token is stale or the slot was freed before; where it opened the host's breaker the ms
-- for which it did, -1 where it closed that. O(streams of the host) each.
-- include: clock state hosts records release adapt
local REPORT = '>ddI4I4HI4B'
local jitter, ids, tokens = tonumber(ARGV[1]), {}, {}
for i = 2, #ARGV do
  ids[i - 1], tokens[i - 1] = struct.unpack(REPORT, ARGV[i])
end
local records = lookup(ids, tokens)
load_hosts_of(records)
local result, changed, gone = {}, {}, {}
for i, r in ipairs(records) do
  result[i] = 0
  if r and r[RELEASED] == 0 then
    local id, _, elapsed, latency, status, retry_after, flags = struct.unpack(REPORT, ARGV[i + 1])
    local h, wire, keep = host(r[HOST]), now - elapsed, flags % 2
    r[STATUS] = status
    local excused = flags % 4 >= 2
    result[i] = excused and 1 or adapt(h, wire, latency, status, retry_after, flags >= 4, jitter)
    unsettled[r[HOST]] = true -- its pace, or its breaker, may have changed
    if keep == 1 then
      h[NEXT] = h[NEXT] == r[RESERVED] and next_after(h, wire, true) or math.max(h[NEXT], next_after(h, wire))
      r[RESERVED] = -1
    else
      release(r, wire)
    end
    if r[STREAM] == '' and keep == 0 then
      gone[#gone + 1] = id
    else
      changed[#changed + 1], changed[#changed + 2] = id, write_record(r)
    end
  end
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
forget_leases(gone)
save_hosts()
save_state()
return result
