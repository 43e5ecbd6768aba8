-- The shipped report, start and reservation of one host or two fleets at one site, over simulated time: see
-- pace_simulation.py. It stands behind the text of the scripts' own parts (PARTS there).
local random_state = tonumber(ARGV[2])
local P = cjson.decode(ARGV[1])

local function random()
  random_state = (random_state * 16807) % 2147483647
  return random_state / 2147483647
end

local start_at = now

-- What limits a site: each tells for how many ms a request at `at` waits to be served, or false and in how many ms the
-- next one would be served.
local site, limiters = {tokens = math.huge, at = 0, served = {}, count = 0}, {}

function limiters.bucket(at)
  local size = P.burst > 0 and P.burst or math.max(1, P.rate)
  site.tokens = math.min(size, site.tokens + (at - site.at) / 1000 * P.rate)
  site.at = at
  if site.tokens < 1 then return false, (1 - site.tokens) * 1000 / P.rate end
  site.tokens = site.tokens - 1
  return 0
end

function limiters.window(at)
  local begin = at - at % P.window_ms
  if begin > site.at then site.at, site.tokens = begin, P.rate * P.window_ms / 1000 end
  if site.tokens < 1 then return false, begin + P.window_ms - at end
  site.tokens = site.tokens - 1
  return 0
end

function limiters.sliding(at)
  local place = site.count % math.floor(P.rate * P.window_ms / 1000)
  local free_at = (site.served[place] or -math.huge) + P.window_ms
  if at < free_at then return false, free_at - at end
  site.served[place], site.count = at, site.count + 1
  return 0
end

function limiters.queue(at)
  local wait = math.max(0, site.at - at)
  if wait * P.rate / 1000 > P.burst then return false, wait - P.burst * 1000 / P.rate end
  site.at = math.max(site.at, at) + 1000 / P.rate
  return wait
end

-- What the site answers at `at`: a status, after how many ms, and the ms of its Retry-After.
local function answer(at)
  if P.refuse_all > 0 then return P.refuse_all, 0, P.retry_after_ms end
  local wait, served_in = 0, 0
  if P.rate > 0 and (P.lifted_ms == 0 or at < start_at + P.lifted_ms) then wait, served_in = limiters[P.limiter](at) end
  if not wait then return P.limit_status, 0, P.tells and math.ceil(served_in / 1000) * 1000 or P.retry_after_ms end
  if random() < P.noise then return P.noise_status, wait, P.retry_after_ms end
  return 200, wait, 0
end

local events, count = {}, 0
local function later(at, what, fleet, request)
  count = count + 1
  local e, i = {at, what, fleet, request, count}, #events + 1
  events[i] = e
  while i > 1 do -- a heap
    local up = math.floor(i / 2)
    if events[up][1] < e[1] or (events[up][1] == e[1] and events[up][5] < e[5]) then break end
    events[i], events[up], i = events[up], e, up
  end
end

local function next_event()
  local first, last = events[1], table.remove(events)
  if #events > 0 then
    local i = 1
    while true do
      local child = 2 * i
      if child > #events then break end
      local a, b = events[child], events[child + 1]
      if b and (b[1] < a[1] or (b[1] == a[1] and b[5] < a[5])) then child, a = child + 1, b end
      if last[1] < a[1] or (last[1] == a[1] and last[5] < a[5]) then break end
      events[i], i = a, child
    end
    events[i] = last
  end
  return first
end

local function new_host()
  local delay = P.start_ms > 0 and P.start_ms or P.floor
  return {false, 0, delay, P.floor, 0, 0, 0, 0, 0, 0, P.cap, P.cap, 0, 0, 0, 0, 0, 0, 1, 0, ''}
end

local bins = {}
local function note(fleet, at, kind, h)
  local i = math.floor((at - start_at) / P.bin_ms) + 1
  local key = fleet .. ':' .. i
  local b = bins[key] or {0, 0, 0, 0, 0}
  b[kind], b[4], b[5] = b[kind] + 1, h[DELAY], math.max(0, pace_of(fleet, h)[TRYING])
  bins[key] = b
end

-- A worker calls again at the earliest time it was given.
local looks = {}
local function look(name, at)
  if looks[name] and looks[name] <= at then return end
  looks[name] = at
  later(at, 'lease', name)
end

-- Refused requests come back before new ones: `tries` of those that are due, by fleet.
local due = {}

-- A host meets new rules when it is leased from.
local function enforce_floor(name, h)
  local floor = P.floor
  for _, change in ipairs(P.floors) do
    if now >= start_at + change[1] then floor = change[2] end
  end
  if floor ~= h[FLOOR] then set_rules(name, h, floor, P.cap, 1) end
end

local id = 0
local function lease(name, at)
  local h = host(name)
  enforce_floor(name, h)
  while ready_at(h) <= now and not is_full(h) do
    if h[DELAY] > 0 then reserve(h) end
    h[INFLIGHT] = h[INFLIGHT] + 1
    id = id + 1
    local raw = struct.pack(HEAD_FORMAT, id, 0, h[NEXT], now + START_MS, 0, 0, 0, 0) .. names_of(name, 's', '0', 'w')
    later(at + P.path_ms * (0.5 + random()), 'wire', name, {id, read_record(raw), tries = table.remove(due[name]) or 0})
    if h[DELAY] > 0 then break end
  end
  if not is_full(h) then look(name, math.max(at + 1, ready_at(h)) + P.poll_ms * random()) end
end

for f = 1, P.fleets do
  hosts['fleet' .. f], due['fleet' .. f] = new_host(), {}
  look('fleet' .. f, now + (f - 1) * P.apart_ms)
end
state.resumed, state.stepped = 0, 0
local stop = start_at + P.run_ms
while true do
  local e = next_event()
  if e[1] > stop then break end
  now = math.floor(e[1])
  local at, what, name, q = e[1], e[2], e[3], e[4]
  local h = host(name)
  if what == 'lease' then
    if looks[name] == at then
      looks[name] = nil
      lease(name, at)
    end
  elseif what == 'retry' then
    table.insert(due[name], 1, q)
  elseif what == 'wire' then
    local status, wait, asks = answer(at)
    later(at + P.path_ms * (0.5 + random()), 'start', name, q)
    q[3], q[4], q.asks = status, at, asks
    later(at + wait + P.latency_ms * (0.5 + random()), 'answer', name, q)
  elseif what == 'start' then
    if q[2][RELEASED] == 0 then
      start(q[2], q[1], true)
      if not is_full(h) then look(name, math.max(at + P.path_ms * random(), ready_at(h))) end
    end
  elseif what == 'answer' then
    q[5] = math.floor(at - q[4])
    later(at + P.path_ms * (0.5 + random()), 'report', name, q)
  elseif what == 'report' then
    local status, blocked = q[3], q[3] == 403
    local asks = blocked and 0 or q.asks
    local again, told = q.tries > 0 and 1 or 0, {math.floor(at - q[4]), q[5], status, asks}
    local row = struct.pack('<I4I4HI4B', told[1], told[2], status, asks, 8 * again)
    report(q[2], q[1], string.rep('\0', 16) .. row, random())
    if blocked then
      local p = pace_of(name, h)
      complain(h, p, math.floor(q[4]), 0, again, random(), true)
      judge(h, p, math.floor(q[4]), 0, false, true, random())
    end
    if status ~= 200 and q.tries < (blocked and 2 or 10) then
      local wait = math.min(60, 2 ^ q.tries) * (blocked and 30 or 1)
      later(at + asks + 1000 * wait * random(), 'retry', name, q.tries + 1)
    end
    note(name, at, status == 200 and 1 or 2, h)
    if not is_full(h) then look(name, math.max(at, ready_at(h))) end
  end
end
local result = {}
for key, b in pairs(bins) do result[#result + 1] = key .. ' ' .. table.concat(b, ' ') end
return result
