-- The strictest wish of the spiders that have work on a host counts; the only one may also relax it.
local function configure(name, stream, delay, cap, burst)
  local h = host(name)
  if h[RAW] and delay == h[FLOOR] and cap == h[CAP] and burst == h[BURST] then return end
  unsettled[name] = true
  local alone = true
  for other in string.gmatch(h[STREAMS], '[^\n]+') do
    alone = alone and spider_of(other) == spider_of(stream)
  end
  if alone or delay > h[FLOOR] then h[FLOOR] = delay end
  if alone or cap < h[CAP] then h[CAP] = cap end
  if alone or burst < h[BURST] then h[BURST] = burst end
  local least = math.max(h[FLOOR], h[CRAWL])
  h[WIDTH] = h[HURT] > 0 and math.min(h[WIDTH], h[CAP]) or h[CAP]
  if THROTTLE == 1 then
    h[DELAY] = math.max(h[RAW] and h[DELAY] or THROTTLE_START_MS, least)
  else
    h[DELAY] = h[HURT] > 0 and math.max(h[DELAY], least) or least
  end
end
