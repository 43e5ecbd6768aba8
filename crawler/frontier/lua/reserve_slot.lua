#!lua flags=allow-oom
-- reserve_slot: a paced slot for a request that bypasses the queue (redirect hop, robots.txt, media).
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  delay ms
-- ARGV[3]  cap
-- ARGV[4]  burst
-- ARGV[5]  worker
-- ARGV[6]  its spider, or ''
-- ARGV[7...]  for a request under a lease, its id and token (d, d): in the lease's slot while it holds one, else the
-- lease gets a slot again
-- Result: {wait ms, id, token}; wait GRANTED: report it under id and token; LOST: the lease is stale; else ask again
-- after wait ms. The host is held for a waiting request. O(streams of the host).
-- include: clock damage state hosts rules records
local HOLD_MS, POLL_MS = 500, 250
local GRANTED, LOST = 0, -1 -- instead of ms to wait
local records, ids = lookup_rows(7)
local r, id = records[1], ids[1]
if id and not r then return {LOST, 0, 0} end
local name = r and r[HOST] or ARGV[1]
local h = host(name)
local own = not r and {tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])}
if not enforce(name, h, ARGV[6], own) and own then configure(name, '', unpack(own)) end
local holds_slot = r and r[RELEASED] == 0

local function wait_for()
  local at = open_at(h)
  if holds_slot and r[RESERVED] == h[NEXT] and now <= r[START_BY] then at = h[BLOCKED] end -- its own turn, still unused
  if at > now then return at - now end
  if not holds_slot and h[INFLIGHT] >= width(h) then return POLL_MS end
  return GRANTED
end

local wait = math.ceil(wait_for())
unsettled[name] = true
if wait > GRANTED then
  h[HOLD] = math.max(h[HOLD], now + wait + HOLD_MS)
  save()
  return {wait, 0, 0}
end
h[HOLD] = 0
if h[DELAY] > 0 then reserve(h, r and r[RESERVED] == h[NEXT]) else h[NEXT] = now end
if not holds_slot then h[INFLIGHT] = h[INFLIGHT] + 1 end
if not r then
  state.seq, state.token = state.seq + 1, math.max(state.token, now * 1024) + 1
  id = state.seq
  r = read_record(struct.pack(HEAD_FORMAT, state.token, 0, 0, 0, 0, 0, 0, 0) .. names_of(name, '', '', ARGV[5]))
  call('ZADD', T .. ':lease', now + LEASE_MS, id)
  wake_at(now + LEASE_MS)
end
r[RESERVED], r[START_BY], r[RELEASED] = h[NEXT], now + START_MS, 0
call('HSET', T .. ':infl', id, write_record(r))
save()
return {GRANTED, id, r[TOKEN]}
