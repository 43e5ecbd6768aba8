#!lua flags=allow-oom
-- tier_learn: replace what is known of a host's tier, unless it has changed meanwhile.
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  the old state, '' for none
-- ARGV[3]  the new state (opaque)
-- ARGV[4]  ms for which an unchanged state is kept
-- ARGV[5]  how many hosts are kept
-- T:tiers HASH host -> state; T:tiers:at ZSET host -> ms of its last change, all different.
-- Result: 1, or 0 if ARGV[2] is outdated. O(log hosts).
-- include: clock damage state
local FORGOTTEN = 16 -- hosts per call
local index, known = T .. ':tiers:at', T .. ':tiers'
if (call('HGET', known, ARGV[1]) or '') ~= ARGV[2] then return 0 end
local last = tonumber(call('ZRANGE', index, -1, -1, 'WITHSCORES')[2] or 0)
call('HSET', known, ARGV[1], ARGV[3])
call('ZADD', index, math.max(now, last + 1), ARGV[1])
local gone = call('ZRANGEBYSCORE', index, '-inf', now - ARGV[4], 'LIMIT', 0, FORGOTTEN)
local over = math.min(call('ZCARD', index) - ARGV[5], FORGOTTEN)
if over > #gone then gone = call('ZRANGE', index, 0, over - 1) end
if #gone > 0 then
  call('ZREM', index, unpack(gone))
  call('HDEL', known, unpack(gone))
end
save()
return 1
