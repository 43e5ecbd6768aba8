-- Politeness state of a host. T:h:<host> is a msgpack map; absent fields have the values of DEFAULTS.
--   next      no request of this host may go out before (ms)      floor, crawl  configured delay, Crawl-delay
--   delay     ms between two wire starts, adapted                 cap, width    configured and present concurrency
--   inflight  slots held                                          blocked       quiet until (429, 503, Retry-After)
--   hold      kept for a taken slot until                         hurt          when the host last pushed back
--   latency   running mean, ms                                    ok, bad       answers, for the success rate
--   streams   the set of streams with queued requests of this host
local DEFAULTS = {
  next = 0, delay = 0, floor = 0, crawl = 0, cap = 1, width = 1, inflight = 0,
  blocked = 0, hold = 0, hurt = 0, latency = 0, ok = 0, bad = 0,
}
local AS_DEFAULT = {__index = DEFAULTS}
local hosts, touched, unsettled = {}, {}, {}

local function host(name)
  local h = hosts[name]
  if not h then
    local raw = call('GET', T .. ':h:' .. name)
    h = setmetatable(raw and cmsgpack.unpack(raw) or {streams = {}, fresh = 1}, AS_DEFAULT)
    hosts[name] = h
  end
  return h
end

local function touch(name)
  touched[name] = true
  return host(name)
end

-- When the host may next be handed out. At its cap it is parked: the report that frees a slot calls it back.
local function ready_at(h)
  if h.inflight >= h.width then return now + LEASE_MS end
  return math.max(h.next, h.blocked, h.hold)
end

-- The strictest wish of the spiders that have work on a host counts; the only one may also relax it.
local function configure(h, stream, delay, cap)
  local alone = true
  for other in pairs(h.streams) do alone = alone and spider_of(other) == spider_of(stream) end
  if delay > h.floor or alone then h.floor = delay end
  if cap < h.cap or alone then h.cap = cap end
  local least = math.max(h.floor, h.crawl)
  if h.fresh then
    h.fresh = nil
    h.delay = THROTTLE == 1 and math.max(least, THROTTLE_START_MS) or least
    h.width = h.cap
  elseif h.hurt > 0 or THROTTLE == 1 then
    h.delay = math.max(h.delay, least)
    h.width = h.hurt > 0 and math.min(h.width, h.cap) or h.cap
  else
    h.delay, h.width = least, h.cap
  end
end

local function save_hosts()
  for name in pairs(unsettled) do
    local h = host(name)
    for stream in pairs(h.streams) do
      call('ZADD', T .. ':wait:' .. stream, 'XX', ready_at(h), name)
    end
  end
  for name in pairs(touched) do
    local h = host(name)
    local raw = cmsgpack.pack(h)
    if h.inflight == 0 and not next(h.streams) then
      local idle_from = math.max(now, h.next, h.blocked, h.hurt > 0 and h.hurt + FORGIVE_MS or 0)
      call('SET', T .. ':h:' .. name, raw, 'PX', idle_from - now + QUIET_MS)
    else
      call('SET', T .. ':h:' .. name, raw)
    end
  end
end
