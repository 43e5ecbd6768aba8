#!lua flags=allow-oom
-- schedule_run: add a manual tick.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  name of the schedule
-- Result: its epoch ("now-" and the server's time in ms), or nothing without such a schedule.
-- O(1).
-- include: clock damage state
local epoch = false
if call('HEXISTS', T .. ':schedules', ARGV[1]) == 1 then
  epoch = string.format('now-%.0f', server_ms())
  call('HSETNX', T .. ':ticks', ARGV[1] .. ':' .. epoch, '{}')
end
save()
return epoch
