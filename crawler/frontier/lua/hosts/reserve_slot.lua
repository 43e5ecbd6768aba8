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
-- after wait ms. The host is held for a waiting request. One without a lease waits while operators pause its host or
-- its worker's spider. O(streams of the host).
-- include: clock damage state hosts addresses turns rules records control
local HOLD_MS, POLL_MS, PAUSED_MS = 500, 250, 1000
local GRANTED, LOST = 0, -1 -- instead of ms to wait
local records, ids = lookup_rows(7)
local r, id = records[1], ids[1]
if id and not r then return {LOST, 0, 0} end
local name = r and r[HOST] or ARGV[1]
if not r and (is_said('pause', 'host', name) or is_said('pause', 'spider', ARGV[6])) then return {PAUSED_MS, 0, 0} end
local h, address = host(name), load_statements().by_address and address_of(name)
local a = address and host(address) or nil
local own = not r and {tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])}
if not enforce(name, h, ARGV[6], own) and own then configure(name, '', unpack(own)) end
if a then enforce_address(address, a, h) end
local holds_slot = r and r[RELEASED] == 0

local function wait_for(one)
  local at = open_at(one)
  if holds_slot and r[RESERVED] == one[NEXT] and now <= r[START_BY] then at = one[BLOCKED] end -- its own turn, unused
  if at > now then return at - now end
  if not holds_slot and one[INFLIGHT] >= width(one) then return POLL_MS end
  return GRANTED
end

local wait = math.ceil(math.max(wait_for(h), a and wait_for(a) or GRANTED))
unsettled[name] = true
if a then unsettled[address] = true end
for _, one in ipairs({h, a}) do
  one[HOLD] = wait > GRANTED and math.max(one[HOLD], now + wait + HOLD_MS) or 0
end
if wait > GRANTED then
  save()
  return {wait, 0, 0}
end
reserve(h, a, r and r[RESERVED])
for _, one in ipairs({h, a}) do
  if not holds_slot then one[INFLIGHT] = one[INFLIGHT] + 1 end
end
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
