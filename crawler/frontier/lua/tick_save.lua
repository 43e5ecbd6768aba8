#!lua flags=allow-oom
-- tick_save: how far the leader is with a tick, or how it ended.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  the leader's token
-- ARGV[2]  name of the schedule
-- ARGV[3]  the tick's epoch
-- ARGV[4]  how far it is (opaque), '' when it is over
-- ARGV[5]  how it ended (opaque), when it is over
-- Result: 1; 0, there is no such tick (it is over); -1, the caller leads no more. O(1).
-- include: clock damage state leader
local key, id = T .. ':ticks', ARGV[2] .. ':' .. ARGV[3]
local result = 1
if not leads(ARGV[1]) then
  result = -1
elseif call('HEXISTS', key, id) == 0 then
  result = 0
elseif ARGV[4] ~= '' then
  call('HSET', key, id, ARGV[4])
else
  call('HDEL', key, id)
  if call('HEXISTS', T .. ':schedules', ARGV[2]) == 1 then call('HSET', T .. ':schedules:last', ARGV[2], ARGV[5]) end
end
save()
return result
