#!lua flags=allow-oom
-- schedule_claim: the leader decides on epochs of a schedule; each is decided only once.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  the leader's token
-- ARGV[2]  name of the schedule
-- ARGV[3]  its definition as read
-- ARGV[4]  its cursor as read, '' for none
-- ARGV[5]  the last epoch decided now
-- ARGV[6]  how many epochs are passed over
-- ARGV[7...]  the epochs whose ticks are to be run
-- Result: 1; 0 if another one decided or the schedule was changed; -1 if the caller no longer leads. O(epochs).
-- include: clock damage state leader
local name, cursors = ARGV[2], T .. ':schedules:cursor'
local result = 1
if not leads(ARGV[1]) then
  result = -1
elseif call('HGET', T .. ':schedules', name) ~= ARGV[3] or (call('HGET', cursors, name) or '') ~= ARGV[4] then
  result = 0
else
  call('HSET', cursors, name, ARGV[5])
  if tonumber(ARGV[6]) > 0 then call('HINCRBY', T .. ':schedules:missed', name, ARGV[6]) end
  for i = 7, #ARGV do call('HSETNX', T .. ':ticks', name .. ':' .. ARGV[i], '{}') end
end
save()
return result
