#!lua flags=allow-oom
-- robots_keep: store the result of fetching a robots.txt for the fleet, and the delay that it asks for. Of a host's
-- origins the longest counts. The delay is forgotten with the host, after that was idle for long.
-- KEYS[1]  the shard's tag
-- ARGV[1]  origin
-- ARGV[2]  the worker that fetched it
-- ARGV[3]  verdict
-- ARGV[4]  status
-- ARGV[5]  ms it stays fresh
-- ARGV[6]  ms it is kept
-- ARGV[7]  body
-- ARGV[8]  sitemaps
-- ARGV[9]  host
-- ARGV[10]  ms between two requests, 0 for none; '' if it was unreachable: the old delay stays
-- ARGV[11]  terms of the hours in which it may be visited (see lib/budgets), with the ms they hold; '' for none
-- T:origins:<host> HASH origin -> ms, while one of its robots.txt is remembered.
-- Result: the host's delay now in ms, more if it is paused for longer; -1 if another worker has taken over and nothing
-- changed.
-- O(streams and origins of the host).
-- include: clock damage state hosts
local TAKEN_OVER = -1
local origin, name, asked = ARGV[1], ARGV[9], ARGV[10]
local key = T .. ':robots:' .. origin
local lock = key .. ':lock'
local owner = call('GET', lock)
local fresh_until, since = unpack(call('HMGET', key, 'until', 'since'))
if owner ~= ARGV[2] and (owner or (tonumber(fresh_until) or 0) > now) then return TAKEN_OVER end
since = asked == '' and (tonumber(since) or 0) or 0
if asked == '' and since == 0 then since = now end

-- The delay is in force at once.
local function ask_for(h, ms)
  local origins = T .. ':origins:' .. name
  call('HSET', origins, origin, ms)
  call('PEXPIRE', origins, ROBOTS_MS)
  local before, longest = math.max(h[FLOOR], h[CRAWL]), 0
  for _, one in ipairs(call('HVALS', origins)) do longest = math.max(longest, tonumber(one) or 0) end
  h[CRAWL] = longest
  local least = math.max(h[FLOOR], longest)
  if h[DELAY] <= before or h[DELAY] < least then -- not adapted to a longer one
    h[NEXT] = h[NEXT] > 0 and h[NEXT] + math.max(0, least - h[DELAY]) or 0
    local bursts = h[NEXT] > 0 and h[BURST] > 1 and longest > 0 -- until now
    if bursts then h[NEXT] = math.max(h[NEXT], now + least) end
    h[DELAY] = least
  end
  unsettled[name] = true
end

local h = host(name)
if asked ~= '' then ask_for(h, asked) end
if asked ~= '' and ARGV[11] ~= '' then
  local until_ms = now + struct.unpack('<d', ARGV[11])
  call('HSET', T .. ':budgets', 'v:' .. name, struct.pack('<d', until_ms) .. string.sub(ARGV[11], 9))
elseif asked ~= '' then
  call('HDEL', T .. ':budgets', 'v:' .. name)
end
call('HSET', key, 'verdict', ARGV[3], 'status', ARGV[4], 'until', now + ARGV[5], 'since', since, 'body', ARGV[7],
  'sitemaps', ARGV[8])
call('PEXPIRE', key, ARGV[6])
call('DEL', lock)
save()
return math.ceil(math.max(h[DELAY], h[BLOCKED] - now))
