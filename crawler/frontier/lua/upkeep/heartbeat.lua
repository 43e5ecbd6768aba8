#!lua flags=allow-oom
-- heartbeat: a worker is alive.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  worker
-- ARGV[2]  its state (opaque), '' when it signs off
-- ARGV[3]  the newest generation of a run that it holds pages of, '0' for none
-- ARGV[4...]  the streams that it leases from
-- T:workers ZSET worker -> ms of its last heartbeat, T:workers:info HASH worker -> its state.
-- T:streams ZSET stream -> ms when it was last served.
-- Result: now. O(log workers).
-- include: clock damage state runs
local FORGOTTEN_MS = 86400000
local at, info = T .. ':workers', T .. ':workers:info'
local gone = call('ZRANGEBYSCORE', at, '-inf', now - FORGOTTEN_MS, 'LIMIT', 0, 100)
if ARGV[2] == '' then
  gone[#gone + 1] = ARGV[1]
else
  call('ZADD', at, now, ARGV[1])
  call('HSET', info, ARGV[1], ARGV[2])
end
keep_number(tonumber(ARGV[3]) or 0)
for i = 4, #ARGV do call('ZADD', T .. ':streams', now, ARGV[i]) end
if #gone > 0 then
  call('ZREM', at, unpack(gone))
  call('HDEL', info, unpack(gone))
end
save()
return now
