#!lua flags=allow-oom
-- crawl_delay: what a host's robots.txt asks for. Forgotten with the host, when it has been idle for long.
-- KEYS[1] the shard's tag. ARGV[1] host, ARGV[2] ms, 0 for none. Result: the host's delay now. O(streams of the host).
-- include: clock state hosts
local name, asked = ARGV[1], tonumber(ARGV[2])
local h = host(name)
local before = math.max(h[FLOOR], h[CRAWL])
h[CRAWL] = asked
local least = math.max(h[FLOOR], asked)
if h[DELAY] <= before or h[DELAY] < least then -- not adapted to anything longer
  h[NEXT] = h[NEXT] > 0 and h[NEXT] + math.max(0, least - h[DELAY]) or 0
  h[DELAY] = least
end
unsettled[name] = true
save_hosts()
save_state()
return h[DELAY]
