#!lua flags=allow-oom
-- schedule_put: add, change or remove a schedule, unless it has changed meanwhile.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  its name
-- ARGV[2]  its definition as read, '' if there is none
-- ARGV[3]  the new one, '' removes it: its ticks go to a name that no schedule can have, and the leader ends them
-- ARGV[4]  the last epoch that counts as decided, '' leaves it unchanged
-- ARGV[5]  most schedules
-- Result: 1; 0 if it was changed by another; -1 if there are too many. O(1), to remove O(ticks).
-- include: clock damage state
local key, name = T .. ':schedules', ARGV[1]
if (call('HGET', key, name) or '') ~= ARGV[2] then
  save()
  return 0
end
if ARGV[2] == '' and ARGV[3] ~= '' and call('HLEN', key) >= tonumber(ARGV[5]) then
  save()
  return -1
end
if ARGV[3] == '' then
  call('HDEL', key, name)
  for _, of in ipairs({':schedules:cursor', ':schedules:missed', ':schedules:last'}) do call('HDEL', T .. of, name) end
  for _, id in ipairs(call('HKEYS', T .. ':ticks')) do
    if string.sub(id, 1, #name + 1) == name .. ':' then
      call('HSET', T .. ':ticks', name .. REMOVED .. string.sub(id, #name + 1), call('HGET', T .. ':ticks', id))
      call('HDEL', T .. ':ticks', id)
    end
  end
else
  call('HSET', key, name, ARGV[3])
  if ARGV[4] ~= '' then call('HSET', T .. ':schedules:cursor', name, ARGV[4]) end
end
save()
return 1
