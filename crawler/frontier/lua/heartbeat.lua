#!lua flags=allow-oom
-- heartbeat: a worker lives.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  worker
-- ARGV[2]  what it says of itself (opaque), '' when it leaves
-- ARGV[3...]  the streams that it leases from
-- T:workers ZSET worker -> ms of its last sign, T:workers:info HASH worker -> what it says of itself.
-- T:streams ZSET stream -> ms when it was last served.
-- Result: now. O(log workers).
-- include: clock damage state
local FORGOTTEN_MS = 86400000
local at, info = T .. ':workers', T .. ':workers:info'
local gone = call('ZRANGEBYSCORE', at, '-inf', now - FORGOTTEN_MS, 'LIMIT', 0, 100)
if ARGV[2] == '' then
  gone[#gone + 1] = ARGV[1]
else
  call('ZADD', at, now, ARGV[1])
  call('HSET', info, ARGV[1], ARGV[2])
end
for i = 3, #ARGV do call('ZADD', T .. ':streams', now, ARGV[i]) end
if #gone > 0 then
  call('ZREM', at, unpack(gone))
  call('HDEL', info, unpack(gone))
end
save()
return now
