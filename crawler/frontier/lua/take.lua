#!lua flags=allow-oom
-- take: a paced slot for a request that bypasses the queue (redirect hop, robots.txt, media).
-- KEYS[1] the shard's tag. ARGV[1] host, ARGV[2] delay ms, ARGV[3] cap, ARGV[4] worker, ARGV[5] id and ARGV[6] token of the
-- lease it goes under ('' for none): in its slot if it still holds one, else the lease is given one again.
-- Result: {wait ms, start within ms, id, token}; wait 0: granted, report it under id and token; else ask again after
-- wait ms. wait -1: the lease is stale. While somebody waits the host is held for it. O(streams of the host).
-- include: clock state generations hosts queue leases
local HOLD_MS, POLL_MS = 500, 250
local name, id = ARGV[1], tonumber(ARGV[5])
local r
if id then
  r = lookup({{id, tonumber(ARGV[6])}})[1]
  if not r then return {-1, 0, 0, 0} end
  name = r.host
end
local h = touch(name)
if h.fresh then configure(h, '', tonumber(ARGV[2]), tonumber(ARGV[3])) end

local holds_slot = r and r.released == 0

local function wait_for()
  local at = math.max(h.next, h.blocked)
  if holds_slot and r.reserved == h.next and now <= r.start_by then at = h.blocked end -- its own turn, not used yet
  if at > now then return at - now end
  if not holds_slot and h.inflight >= h.width then return POLL_MS end
  return 0
end

local wait = wait_for()
unsettled[name] = true
if wait > 0 then
  h.hold = math.max(h.hold, now + wait + HOLD_MS)
  save_all()
  return {wait, 0, 0, 0}
end
h.hold = 0
h.next = h.delay > 0 and now + START_MS + h.delay or now
if not holds_slot then h.inflight = h.inflight + 1 end
if not r then
  id = state.seq + 1
  put('seq', id)
  put('token', math.max(state.token, now * 1024) + 1)
  r = {token = state.token, score = 0, started = 0, deliveries = 0, status = 0, stream = '', host = name,
    generation = '', worker = ARGV[4]}
  call('ZADD', T .. ':lease', now + LEASE_MS, id)
end
r.reserved, r.start_by, r.released = h.next, now + START_MS, 0
call('HSET', T .. ':infl', id, write_record(r))
save_all()
return {0, START_MS, id, r.token}
