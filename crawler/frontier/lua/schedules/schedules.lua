#!lua flags=allow-oom
-- schedules: everything known of schedules.
-- KEYS[1]  the tag of shard 0
-- T:schedules HASH name -> definition; T:schedules:cursor HASH name -> the last epoch that is decided;
-- T:schedules:missed HASH name -> how many were passed over; T:schedules:last HASH name -> how its last tick ended.
-- T:ticks HASH "<name>:<epoch>" -> how far it is: those that are to be run.
-- Result: {ms of the server's own clock, who leads or '', schedules, cursors, missed, last, ticks}. O(schedules).
-- include: clock damage state
local holder, till = unpack(call('HMGET', T .. ':leader', 'holder', 'until'))
local answer = {server_ms(), (tonumber(till) or 0) > now and holder or ''}
for i, name in ipairs({':schedules', ':schedules:cursor', ':schedules:missed', ':schedules:last', ':ticks'}) do
  answer[i + 2] = call('HGETALL', T .. name)
end
return answer
