#!lua flags=allow-oom
-- tick_save: store a tick's progress, or its outcome.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  the leader's token
-- ARGV[2]  name of the schedule
-- ARGV[3]  the tick's epoch
-- ARGV[4]  its progress (opaque) as read
-- ARGV[5]  the new one, '' once it has ended
-- ARGV[6]  its outcome (opaque), once it has ended
-- Result: 1; 0 if there is no such tick (any more); -1 if the caller no longer leads, or its progress is another one,
-- as Redis was set back: what was pushed since then is lost. O(1).
-- include: clock damage state leader
local key, id = T .. ':ticks', ARGV[2] .. ':' .. ARGV[3]
local result, progress = 1, call('HGET', key, id)
if not leads(ARGV[1]) then
  result = -1
elseif not progress then
  result = 0
elseif progress ~= ARGV[4] then
  result = -1
elseif ARGV[5] ~= '' then
  call('HSET', key, id, ARGV[5])
else
  call('HDEL', key, id)
  if call('HEXISTS', T .. ':schedules', ARGV[2]) == 1 then call('HSET', T .. ':schedules:last', ARGV[2], ARGV[6]) end
end
save()
return result
