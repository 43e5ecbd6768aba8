#!lua flags=allow-oom
-- tier_spend: count what tiers cost today.
-- KEYS[1]  the tag of shard 0
-- ARGV[1...]  tier, requests, cost of each
-- T:spent:<day> HASH <tier>:requests, <tier>:cost.
-- Result: the whole day: {field, value, ...}. O(tiers).
-- include: clock damage state
local DAY_MS, KEPT_S = 86400000, 259200
local key = T .. ':spent:' .. math.floor(now / DAY_MS)
for i = 1, #ARGV, 3 do
  call('HINCRBY', key, ARGV[i] .. ':requests', ARGV[i + 1])
  call('HINCRBYFLOAT', key, ARGV[i] .. ':cost', ARGV[i + 2])
end
if #ARGV > 0 then call('EXPIRE', key, KEPT_S) end
save()
return call('HGETALL', key)
