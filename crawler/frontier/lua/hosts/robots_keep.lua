#!lua flags=allow-oom
-- robots_keep: store the results of fetching robots.txt files for the fleet, and the delays that they ask for. Of a
-- host's origins the longest counts. The delay is forgotten with the host, after that was idle for long.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  eleven for each file:
--   origin
--   the worker that fetched it
--   verdict
--   status
--   ms it stays fresh
--   ms it is kept
--   body
--   sitemaps
--   host
--   ms between two requests, 0 for none; '' if it was unreachable: the old delay stays
--   terms of the hours in which it may be visited (see lib/budgets), with the ms they hold; '' for none
-- T:origins:<host> HASH origin -> ms, while one of its robots.txt is remembered.
-- Result: for each the host's delay now in ms, more if it is paused for longer; -1 if another worker has taken over and
-- nothing changed.
-- O(streams and origins of the host) each.
-- include: clock damage state hosts
local TAKEN_OVER, FIELDS = -1, 11

local function ask_for(h, name, origin, ms)
  local origins = T .. ':origins:' .. name
  call('HSET', origins, origin, ms)
  call('PEXPIRE', origins, ROBOTS_MS)
  local before, longest = floor_of(h), 0
  for _, one in ipairs(call('HVALS', origins)) do longest = math.max(longest, tonumber(one) or 0) end
  h[CRAWL] = longest
  local least = math.max(h[FLOOR], longest)
  if h[DELAY] <= before or h[DELAY] < least then -- not adapted to a longer one
    h[NEXT] = h[NEXT] > 0 and h[NEXT] + math.max(0, least - h[DELAY]) or 0
    -- Until now its turns said nothing of what is on the wire: the file itself may have been asked for at any moment.
    local unspaced = h[DELAY] == 0 or (h[NEXT] > 0 and h[BURST] > 1)
    if unspaced and longest > 0 then h[NEXT] = math.max(h[NEXT], now + least) end
    h[DELAY] = least
  end
  unsettled[name] = true
end

-- What is known before a file is stored; nothing if another worker has taken over.
local function prepare(origin, worker, _, _, _, _, _, _, name, asked, terms)
  local key = T .. ':robots:' .. origin
  local owner = call('GET', key .. ':lock')
  local fresh_until, since = unpack(call('HMGET', key, 'until', 'since'))
  if owner ~= worker and (owner or (tonumber(fresh_until) or 0) > now) then return nil end
  local h = host(name)
  if asked == '' then return h, (tonumber(since) or 0) > 0 and since or now end
  ask_for(h, name, origin, asked)
  if terms == '' then
    call('HDEL', T .. ':budgets', 'v:' .. name)
  else
    local until_ms = now + struct.unpack('<d', terms)
    call('HSET', T .. ':budgets', 'v:' .. name, struct.pack('<d', until_ms) .. string.sub(terms, 9))
  end
  return h, 0
end

local function store(since, origin, _, verdict, status, fresh_ms, keep_ms, body, sitemaps)
  local key = T .. ':robots:' .. origin
  call('HSET', key, 'verdict', verdict, 'status', status, 'until', now + fresh_ms, 'since', since, 'body', body,
    'sitemaps', sitemaps)
  call('PEXPIRE', key, keep_ms)
  call('DEL', key .. ':lock')
end

local known, result = {}, {}
for i = 1, #ARGV, FIELDS do known[#known + 1] = {prepare(unpack(ARGV, i, i + FIELDS - 1))} end
-- All delays are in force before any file is known: an error above leaves all of it to be done again.
save()
for i, one in ipairs(known) do
  local h, since = unpack(one)
  result[i] = TAKEN_OVER
  if h then
    store(since, unpack(ARGV, FIELDS * (i - 1) + 1, FIELDS * i))
    result[i] = math.ceil(math.max(h[DELAY], h[BLOCKED] - now))
  end
end
return result
