-- Politeness state of hosts: T:hosts HASH host -> these numbers in this order, then its streams. In Lua it is an array
-- (the cheapest table), read as h[NEXT].
--   NEXT      no request of this host may be sent before (ms)
--   DELAY     ms between two wire starts, adapted
--   FLOOR     minimum delay by the rules in force
--   CRAWL     Crawl-delay of its robots.txt; below 0: not obeyed
--   BLOCKED   paused until (429, 503, Retry-After)
--   HOLD      held for a reserved slot until
--   HURT      when it last complained, 0: no complaint counts any more (see lib/pace)
--   TRIPPED   when its breaker last opened
--   PRIOR     NEXT before the last reservation
--   CAP       concurrency by the rules in force
--   WIDTH     the same, for old releases
--   INFLIGHT  slots held
--   LATENCY   running mean, ms
--   OK, BAD   answers, for the success rate
--   STREAK    faults in a row, below 0
--   TRIPS     consecutive openings of its breaker, 0: it is closed
--   BURST     how many requests may follow at once
--   LEAD      priority of its most urgent request, as last seen
--   STREAMS   '\n<stream>\n' for each stream on which requests of this host are queued
--   RAW       the record as read, false for a new host
-- T:idle ZSET host -> ms when it may be forgotten; sweep checks again before it does.
local RAW, NEXT, DELAY, FLOOR, CRAWL, BLOCKED, HOLD, HURT, TRIPPED, PRIOR = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local CAP, WIDTH, INFLIGHT, LATENCY, OK, BAD, STREAK, TRIPS, BURST = 11, 12, 13, 14, 15, 16, 17, 18, 19
local LEAD, STREAMS = 20, 21
local HOST_FORMAT, HOST_BYTES = '<dddddddddHHHI4HHhBHh', 93
local SOON_MS, LATER_MS = 2500, 15000
local ARGUMENTS = 4000 -- of one call: Lua's stack has room for 8,000
local hosts, unsettled = {}, {}

-- The name of a host's queue on a stream. A tier's name has no ':', a host's may: '::' tells the host 'api:x' from the
-- tier 'api' of host 'x'. Earlier releases did not do this: their queues are renamed.
local function place_of(stream, name)
  if not string.find(name, ':', 1, true) then return stream .. ':' .. name end
  local place, old = stream .. '::' .. name, stream .. ':' .. name
  if not string.find(name, '^browser!?:') and not string.find(name, '^api!?:') then -- otherwise it is ambiguous
    for _, kind in ipairs({':q:', ':early:'}) do
      if call('EXISTS', T .. kind .. old) == 1 then call('RENAMENX', T .. kind .. old, T .. kind .. place) end
    end
  end
  return place
end

local slots -- held by leases when the script began: by host, and by address (see lib/addresses)

local function count_slots()
  slots = {}
  local shared = call('EXISTS', T .. ':address') == 1
  for _, record in ipairs(call('HVALS', T .. ':infl')) do
    local ok, _, _, _, _, _, _, released, _, of = pcall(struct.unpack, HEAD_FORMAT .. 'Bc0', record)
    if ok and released == 0 then
      slots[of] = (slots[of] or 0) + 1
      local address = shared and string.sub(call('HGET', T .. ':address', of) or '', 9) or ''
      if address ~= '' then slots[address] = (slots[address] or 0) + 1 end
    end
  end
end

local function slots_of(name)
  if not slots then count_slots() end
  return slots[name] or 0
end

-- A host whose record is lost or damaged: its queue and slots are counted again, its pace starts anew. of: a stream
-- that it is filed on.
local function rebuilt(name, raw, of)
  set_aside(T .. ':hosts ' .. name, raw)
  local h = {raw, now + 1000, 1000, 1000, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, ''}
  h[INFLIGHT] = slots_of(name)
  local known = of and {[of] = true} or {}
  for _, row in ipairs(generation_names()) do known[string.match(row, '^(.*):')] = true end
  for base in pairs(known) do
    for _, stream in ipairs({base, base .. '!'}) do
      local place = place_of(stream, name)
      if call('EXISTS', T .. ':q:' .. place, T .. ':early:' .. place, T .. ':line:' .. place) > 0 then
        h[STREAMS] = h[STREAMS] .. '\n' .. stream .. '\n'
      end
    end
  end
  unsettled[name] = true
  return h
end

local function read_host(raw)
  if #raw < HOST_BYTES then return false end
  local h = {raw, struct.unpack(HOST_FORMAT, raw)}
  h[STREAMS] = string.sub(raw, h[STREAMS])
  local others = h[FLOOR] + h[CRAWL] + h[HURT] + h[TRIPPED] + h[PRIOR]
  local latest = now + 1e10
  if h[STREAMS] ~= '' and not string.find(h[STREAMS], '^\n.*\n$') then return false end
  return h[DELAY] >= 0 and h[DELAY] < 1e9 and h[NEXT] > -1e12 and h[NEXT] < latest and h[BLOCKED] < latest
    and h[HOLD] < latest and math.abs(others) < 1e14 and h
end

-- Reads many at once: a call per host would cost more than everything done with it.
local function load_hosts(names)
  local missing = {}
  for _, name in ipairs(names) do
    if not hosts[name] then
      hosts[name] = true
      missing[#missing + 1] = name
    end
  end
  if #missing == 0 then return end
  for i, raw in ipairs(call('HMGET', T .. ':hosts', unpack(missing))) do
    local h
    if raw then
      h = read_host(raw) or rebuilt(missing[i], raw)
    else
      h = {false, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1, 0, ''}
    end
    hosts[missing[i]] = h
  end
end

local function host(name)
  if not hosts[name] then load_hosts({name}) end
  return hosts[name]
end

local function has_stream(h, stream)
  return string.find(h[STREAMS], '\n' .. stream .. '\n', 1, true) ~= nil
end

local function remove_stream(h, stream)
  local first, last = string.find(h[STREAMS], '\n' .. stream .. '\n', 1, true)
  if not first then return end
  h[STREAMS] = string.sub(h[STREAMS], 1, first - 1) .. string.sub(h[STREAMS], last + 1)
end

-- When the next request may be sent. A delay that began before a step of the clock, which may have jumped over all of
-- it or a part, begins again there: with a slot held from when its request goes out at the latest, unless one has been
-- reserved since, when none of before could go out any more. Known weakness: a step shortens what BLOCKED asks for.
local function open_at(h)
  local at = math.max(h[NEXT], h[BLOCKED])
  if h[DELAY] > 0 and h[NEXT] > 0 then
    local unsent = h[INFLIGHT] > 0 and h[PRIOR] < state.stepped
    local anew = state.stepped + h[DELAY] + (unsent and START_MS or 0)
    if h[NEXT] < anew then at = math.max(at, anew) end
  end
  return at
end

-- How many requests may skip the delay; one if the site asked for a delay or has pushed back.
local function burst(h)
  return (h[CRAWL] > 0 or h[HURT] > 0) and 1 or h[BURST]
end

-- The minimum delay by the rules and robots.txt.
local function floor_of(h)
  return math.max(h[FLOOR], h[CRAWL])
end

-- The shortest delay: no less than AutoThrottle's from latency, either.
local function least(h)
  local floor = floor_of(h)
  return THROTTLE == 1 and math.max(floor, math.min(h[LATENCY] / THROTTLE_TARGET, THROTTLE_MAX_MS)) or floor
end

-- What is added to a learned delay, ms: by chance up to this share of it. Of two fleets that keep exact distances one
-- comes right behind the other each time, and is refused each time (traffic phase effects). Longer delays: pace_turns.
local SPREAD, SPREAD_BELOW_MS = 0.3, 400
local CHANCES, CHANCE = 104729, 7919 -- primes

local function spread(h, wire)
  if h[HURT] == 0 or h[DELAY] <= least(h) or h[DELAY] >= SPREAD_BELOW_MS then return 0 end
  return h[DELAY] * SPREAD * (math.floor(wire) % CHANCES * CHANCE % CHANCES) / CHANCES
end

-- When the next request may follow one sent at wire: a token bucket of `burst`, refilled by one every DELAY. NEXT is
-- its GCRA clock, less the burst. last: it was the last reservation, so that PRIOR covers everything before it.
local function next_after(h, wire, last)
  local spare = burst(h) - 2
  local at = wire - spare * h[DELAY] + spread(h, wire)
  return last and spare >= 0 and math.max(at, h[PRIOR] + h[DELAY]) or at
end

-- How many requests may be in flight: with an open breaker one, the probe.
local function width(h)
  return h[TRIPS] > 0 and 1 or h[CAP]
end

local function is_full(h)
  return h[INFLIGHT] >= width(h)
end

-- When the host may next be leased from; at its cap not before a report frees a slot.
local function ready_at(h)
  if is_full(h) then return now + LEASE_MS end
  return math.max(open_at(h), h[HOLD])
end

-- When to check a host that waits for its delay: its rules may change before that is over, sooner if workers disagree
-- on them. A pause is not cut short.
local look_ms
local function look_at(h, at)
  if at - now <= SOON_MS then return at end
  look_ms = look_ms or (call('ZCARD', T .. ':rules') > 1 and SOON_MS or LATER_MS)
  return math.min(at, math.max(now + look_ms, h[BLOCKED]))
end

local function score_of(priority)
  return now - priority * STEP_MS
end

-- Files hosts of a stream by their time: those at their cap if they have room now, others only if they wait.
local function refile(stream, names)
  local at_cap = call('SMISMEMBER', T .. ':park:' .. stream, unpack(names))
  local back, due, wait, waiting = {}, {}, {}, {}
  for i, name in ipairs(names) do
    local h = hosts[name]
    local at = ready_at(h)
    if at_cap[i] == 0 then
      waiting[#waiting + 1], waiting[#waiting + 2] = look_at(h, at), name
    elseif not is_full(h) then
      back[#back + 1] = name
      if at <= now then
        due[#due + 1], due[#due + 2] = score_of(h[LEAD]), name
      else
        wait[#wait + 1], wait[#wait + 2] = look_at(h, at), name
      end
    end
  end
  if #waiting > 0 then call('ZADD', T .. ':wait:' .. stream, 'XX', unpack(waiting)) end
  if #back > 0 then call('SREM', T .. ':park:' .. stream, unpack(back)) end
  if #due > 0 then call('ZADD', T .. ':due:' .. stream, unpack(due)) end
  if #wait > 0 then call('ZADD', T .. ':wait:' .. stream, unpack(wait)) end
end

-- Refiles hosts whose time has changed, on every stream where they have work.
local function settle_hosts()
  local moves = {} -- by the set of streams that hosts share
  for name in pairs(unsettled) do
    local h = hosts[name]
    local move = moves[h[STREAMS]]
    if not move then
      move = {}
      moves[h[STREAMS]] = move
    end
    move[#move + 1] = name
  end
  for streams, move in pairs(moves) do
    for stream in string.gmatch(streams, '[^\n]+') do refile(stream, move) end
  end
  unsettled = {}
end

local function is_idle(h)
  return h[INFLIGHT] == 0 and h[STREAMS] == ''
end

-- Forgets a new host of which nothing was accepted.
local function is_blank(h)
  local paced = h[NEXT] + h[DELAY] + h[CRAWL] + h[HOLD] + h[HURT] + h[BLOCKED] ~= 0 or h[CAP] ~= 1 or h[BURST] ~= 1
  return not h[RAW] and is_idle(h) and not paced
end

-- When an idle host's pace no longer matters. A Crawl-delay is kept while its robots.txt is fresh.
local function forget_at(h)
  local quiet = h[CRAWL] > 0 and math.max(QUIET_MS, ROBOTS_MS) or QUIET_MS
  return math.max(now, h[NEXT], h[BLOCKED]) + quiet
end

local function save_hosts()
  settle_hosts()
  local changed, idle = {}, {}
  for name, h in pairs(hosts) do
    local raw = struct.pack(HOST_FORMAT, unpack(h, NEXT, LEAD)) .. h[STREAMS]
    if raw ~= h[RAW] and not is_blank(h) then
      changed[#changed + 1], changed[#changed + 2] = name, raw
      if is_idle(h) then idle[#idle + 1], idle[#idle + 2] = forget_at(h), name end
    end
    if #changed >= ARGUMENTS then
      call('HSET', T .. ':hosts', unpack(changed))
      changed = {}
    end
    if #idle >= ARGUMENTS then
      call('ZADD', T .. ':idle', unpack(idle))
      idle = {}
    end
  end
  if #changed > 0 then call('HSET', T .. ':hosts', unpack(changed)) end
  if #idle > 0 then call('ZADD', T .. ':idle', unpack(idle)) end
end
