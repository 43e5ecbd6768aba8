#!lua flags=allow-oom
-- crawl_delay: what the robots.txt of one of a host's origins asks for. The longest counts. Forgotten with the host,
-- when it has been idle for long.
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  origin
-- ARGV[3]  ms, 0 for none
-- T:origins:<host> HASH origin -> ms, while any of its robots.txt is remembered.
-- Result: the host's delay now. O(streams and origins of the host).
-- include: clock damage state hosts
local name = ARGV[1]
local h, origins = host(name), T .. ':origins:' .. name
call('HSET', origins, ARGV[2], ARGV[3])
call('PEXPIRE', origins, ROBOTS_MS)
local before, asked = math.max(h[FLOOR], h[CRAWL]), 0
for _, ms in ipairs(call('HVALS', origins)) do asked = math.max(asked, tonumber(ms) or 0) end
h[CRAWL] = asked
local least = math.max(h[FLOOR], asked)
if h[DELAY] <= before or h[DELAY] < least then -- not adapted to anything longer
  h[NEXT] = h[NEXT] > 0 and h[NEXT] + math.max(0, least - h[DELAY]) or 0
  local bursts = h[NEXT] > 0 and h[BURST] > 1 and asked > 0 -- until now
  if bursts then h[NEXT] = math.max(h[NEXT], now + least) end
  h[DELAY] = least
end
unsettled[name] = true
save()
return h[DELAY]
