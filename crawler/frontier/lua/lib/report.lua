-- What a report does; row: id (d), token (d), ms since wire start (I4), latency ms (I4), status or 0 (H), Retry-After ms
-- (I4), and a sum (B): 1 to keep the slot for a follow-up request, 2 when the host is not to blame (a proxy failed): then
-- its pace stays as it is, 4 when it is, though it did not answer, 8 when it complained of this request before. jitter: a
-- random number in [0, 1).
-- Returns 0 where the token is stale or the slot was freed before, else 1; where it opened the host's breaker the ms for
-- which it did, -1 where it closed that.
local function report(r, id, row, jitter)
  if not r or r[RELEASED] == 1 then return 0 end
  local elapsed, latency, status, retry_after, flags = struct.unpack('<I4I4HI4B', row, 17)
  local h, wire, answer = host(r[HOST]), now - elapsed, 1
  local again = (flags >= 8 or r[STATUS] == 429 or r[STATUS] == 503) and 1 or 0
  if flags % 4 < 2 then
    answer = adapt(h, pace_of(r[HOST], h), wire, r[START_BY] - START_MS, latency, status, retry_after, flags % 8 >= 4, again, jitter)
  end
  r[STATUS] = status
  unsettled[r[HOST]] = true -- its pace, or its breaker, may have changed
  if flags % 2 == 1 then
    h[NEXT] = h[NEXT] == r[RESERVED] and next_after(h, wire, true) or math.max(h[NEXT], next_after(h, wire))
    r[RESERVED] = -1
  else
    release(r, wire)
    if r[STREAM] == '' then
      end_lease(id, r)
      return answer
    end
  end
  changed_records[id] = r
  return answer
end
