#!lua flags=allow-oom
-- lease_seeds: lease entries of a start-URLs key, so that a killed worker loses none; expired leases go back first.
-- KEYS[1]  the start-URLs key
-- KEYS[2]  its leases: ZSET claim, number, score, entry -> ms when it expires
-- ARGV[1]  'list' (from the left), 'set' or 'zset' (highest score first)
-- ARGV[2]  how many
-- ARGV[3]  a unique claim
-- ARGV[4]  lease ms
-- Result: {handle, entry, handle, entry...}. O(log n) each. What is no handle goes back whole, to be refused as a seed.
local key, leases, kind, claim = KEYS[1], KEYS[2], ARGV[1], ARGV[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

for _, handle in ipairs(redis.call('ZRANGEBYSCORE', leases, '-inf', now, 'LIMIT', 0, 64)) do
  local score, entry = string.match(handle, '^[^ ]+ [^ ]+ ([^ ]+) (.*)$')
  if kind == 'zset' then
    redis.call('ZADD', key, tonumber(score) and score or 0, entry or handle)
  else
    redis.call(kind == 'set' and 'SADD' or 'LPUSH', key, entry or handle)
  end
  redis.call('ZREM', leases, handle)
end

local taken = {}
if kind == 'zset' then
  taken = redis.call('ZPOPMAX', key, ARGV[2])
else
  for _, entry in ipairs(redis.call(kind == 'set' and 'SPOP' or 'LPOP', key, ARGV[2]) or {}) do
    taken[#taken + 1], taken[#taken + 2] = entry, '0'
  end
end
local result = {}
for i = 1, #taken, 2 do
  local handle = table.concat({claim, i, taken[i + 1], taken[i]}, ' ')
  redis.call('ZADD', leases, now + ARGV[4], handle)
  result[#result + 1], result[#result + 2] = handle, taken[i]
end
return result
