#!lua flags=allow-oom
-- report: an answer came (or none will): free the host's slot, space the next request from this one's wire start, and
-- adapt the host's pace. The lease itself goes on until ack, so slow storage never holds a host.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of {id, token, ms since wire start, latency ms, status or 0, Retry-After
-- ms, '1' to keep the slot for a follow-up request}; ARGV[2] a random number in [0, 1).
-- Result: 1 per report, 0 where the token is stale or the slot was freed before. O(streams of the host) each.
-- include: clock state generations hosts queue leases adapt
local reports, jitter = cmsgpack.unpack(ARGV[1]), tonumber(ARGV[2])
local result, changed, gone = {}, {}, {}
for i, r in ipairs(lookup(reports)) do
  if r and r.released == 0 then
    local id, _, elapsed, latency, status, retry_after, keep = unpack(reports[i])
    local h, wire = touch(r.host), now - elapsed
    adapt(h, wire, latency, status, retry_after, jitter)
    r.status = status
    if keep then
      h.next = h.next == r.reserved and wire + h.delay or math.max(h.next, wire + h.delay)
      r.reserved = -1
    else
      release(r, wire)
    end
    if r.stream == '' and not keep then
      gone[#gone + 1] = id
    else
      changed[#changed + 1], changed[#changed + 2] = id, write_record(r)
    end
    result[i] = 1
  else
    result[i] = 0
  end
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
forget_leases(gone)
save_all()
return result
