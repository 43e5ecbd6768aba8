#!lua flags=allow-oom
-- domains: count what the busiest domains answered.
-- KEYS[1]  the tag of shard 0
-- ARGV[1...]  domain, outcome, count of each; the outcomes of a domain are adjacent
-- T:domains HASH domain -> outcome -> count (msgpack), of the MOST_DOMAINS that answered most recently.
-- T:domains:busy ZSET domain -> logarithm of its answers, whose weight halves about every 7 minutes: time adds to the
-- score of new answers what old ones would lose, so no score has to be aged.
-- Result: how many domains are counted. O(log MOST_DOMAINS) per row.
-- include: clock damage state
local MOST_DOMAINS, AGING_MS = 1000, 600000
local counts, busy, age = T .. ':domains', T .. ':domains:busy', now / AGING_MS

local function read(name)
  local raw = call('HGET', counts, name)
  if not raw then return {} end
  local ok, known = pcall(cmsgpack.unpack, raw)
  if ok and type(known) == 'table' then return known end
  set_aside(counts .. ' ' .. name, raw)
  return {}
end

local i = 1
while i <= #ARGV do
  local name, sum = ARGV[i], 0
  local known = read(name)
  while ARGV[i] == name do
    local outcome, count = ARGV[i + 1], tonumber(ARGV[i + 2])
    known[outcome], sum = (tonumber(known[outcome]) or 0) + count, sum + count
    i = i + 3
  end
  local before = tonumber(call('ZSCORE', busy, name) or -math.huge)
  call('HSET', counts, name, cmsgpack.pack(known))
  call('ZADD', busy, age + math.log(math.exp(math.min(before - age, 700)) + sum), name)
end
local surplus = call('ZCARD', busy) - MOST_DOMAINS
if surplus > 0 then
  local idle = call('ZPOPMIN', busy, surplus)
  for at = 1, #idle, 2 do call('HDEL', counts, idle[at]) end
end
save()
return call('ZCARD', busy)
