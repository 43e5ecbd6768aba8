-- Politeness state of a host: T:h:<host> STRING, these numbers in this order, then its streams.
--   next      no request of this host may go out before (ms)      floor, crawl  configured delay, Crawl-delay
--   delay     ms between two wire starts, adapted                 cap, width    configured and present concurrency
--   blocked   quiet until (429, 503, Retry-After)                 inflight      slots held
--   hold      kept for a taken slot until                         latency       running mean, ms
--   hurt      when the host last pushed back                      ok, bad       answers, for the success rate
--   streams   '\n<stream>\n' for each stream on which requests of this host are queued
local HOST = '>dddddddHHHI4HH'
local hosts, unsettled = {}, {}

local function write_host(h)
  return struct.pack(HOST, h.next, h.delay, h.floor, h.crawl, h.blocked, h.hold, h.hurt,
    h.cap, h.width, h.inflight, h.latency, h.ok, h.bad) .. h.streams
end

local function read_host(raw)
  local next_at, delay, floor, crawl, blocked, hold, hurt, cap, width, inflight, latency, ok, bad, at =
    struct.unpack(HOST, raw)
  return {
    raw = raw, next = next_at, delay = delay, floor = floor, crawl = crawl, blocked = blocked, hold = hold,
    hurt = hurt, cap = cap, width = width, inflight = inflight, latency = latency, ok = ok, bad = bad,
    streams = string.sub(raw, at),
  }
end

local function host(name)
  local h = hosts[name]
  if not h then
    local raw = call('GET', T .. ':h:' .. name)
    h = raw and read_host(raw) or {
      next = 0, delay = 0, floor = 0, crawl = 0, blocked = 0, hold = 0, hurt = 0, cap = 1, width = 1, inflight = 0,
      latency = 0, ok = 0, bad = 0, streams = '',
    }
    hosts[name] = h
  end
  return h
end

local function has_stream(h, stream)
  return string.find(h.streams, '\n' .. stream .. '\n', 1, true) ~= nil
end

local function add_stream(h, stream)
  h.streams = h.streams .. '\n' .. stream .. '\n'
end

local function remove_stream(h, stream)
  local first, last = string.find(h.streams, '\n' .. stream .. '\n', 1, true)
  h.streams = string.sub(h.streams, 1, first - 1) .. string.sub(h.streams, last + 1)
end

-- When the host may next be handed out. At its cap it is parked: the report that frees a slot calls it back.
local function ready_at(h)
  if h.inflight >= h.width then return now + LEASE_MS end
  local at = math.max(h.next, h.blocked, h.hold)
  if h.next > 0 and h.next < state.resumed then -- perhaps the clock jumped over the delay
    at = math.max(at, state.resumed + h.delay + (h.inflight > 0 and START_MS or 0))
  end
  return at
end

-- The strictest wish of the spiders that have work on a host counts; the only one may also relax it.
local function configure(h, stream, delay, cap)
  if h.raw and delay == h.floor and cap == h.cap then return end
  local alone = true
  for other in string.gmatch(h.streams, '[^\n]+') do
    alone = alone and spider_of(other) == spider_of(stream)
  end
  if alone or delay > h.floor then h.floor = delay end
  if alone or cap < h.cap then h.cap = cap end
  local least = math.max(h.floor, h.crawl)
  h.width = h.hurt > 0 and math.min(h.width, h.cap) or h.cap
  if THROTTLE == 1 then
    h.delay = math.max(h.raw and h.delay or THROTTLE_START_MS, least)
  else
    h.delay = h.hurt > 0 and math.max(h.delay, least) or least
  end
end

local function save_hosts()
  for name in pairs(unsettled) do
    local h = hosts[name]
    for stream in string.gmatch(h.streams, '[^\n]+') do
      call('ZADD', T .. ':wait:' .. stream, 'XX', ready_at(h), name)
    end
  end
  for name, h in pairs(hosts) do
    local raw = write_host(h)
    if raw ~= h.raw then
      if h.inflight == 0 and h.streams == '' then
        local idle_from = math.max(now, h.next, h.blocked, h.hurt > 0 and h.hurt + FORGIVE_MS or 0)
        call('SET', T .. ':h:' .. name, raw, 'PX', idle_from - now + QUIET_MS)
      else
        call('SET', T .. ':h:' .. name, raw)
      end
    end
  end
end
