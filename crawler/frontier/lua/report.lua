#!lua flags=allow-oom
-- report: an answer came (or none will): free the host's slot, space the next request from this one's wire start, and
-- adapt the host's pace. The lease itself goes on until ack, so slow storage never holds a host.
-- KEYS[1] the shard's tag. ARGV[1] a random number in [0, 1); ARGV[2...] of each: id, token, ms since wire start, latency
-- ms, status or 0, Retry-After ms, '1' to keep the slot for a follow-up request.
-- Result: 1 per report, 0 where the token is stale or the slot was freed before. O(streams of the host) each.
-- include: clock state tally hosts queue leases adapt
local FIELDS = 7
local jitter = tonumber(ARGV[1])
local records, ids = lookup(2, FIELDS)
local result, changed, gone = {}, {}, {}
for i, r in ipairs(records) do
  result[i] = 0
  if r and r.released == 0 then
    local at = 2 + (i - 1) * FIELDS
    local h, wire, keep = host(r.host), now - ARGV[at + 2], ARGV[at + 6] == '1'
    r.status = tonumber(ARGV[at + 4])
    adapt(h, wire, tonumber(ARGV[at + 3]), r.status, tonumber(ARGV[at + 5]), jitter)
    if keep then
      h.next = h.next == r.reserved and wire + h.delay or math.max(h.next, wire + h.delay)
      r.reserved = -1
    else
      release(r, wire)
    end
    if r.stream == '' and not keep then
      gone[#gone + 1] = ids[i]
    else
      changed[#changed + 1], changed[#changed + 2] = ids[i], write_record(r)
    end
    result[i] = 1
  end
end
if #changed > 0 then call('HSET', T .. ':infl', unpack(changed)) end
forget_leases(gone)
save_all()
return result
