#!lua flags=allow-oom
-- control_aside: sort requests set aside of paused and cancelled runs, a slice per call: resumed ones are queued,
-- cancelled ones dropped.
-- KEYS[1]  the shard's tag
-- ARGV[1]  'aside', 'delayed' or 'delayed:room': of the last two only cancelled requests are touched
-- ARGV[2]  rank of the first to examine
-- ARGV[3]  how many
-- Result: {how many were examined, how many of these were removed}. O(log queue) each.
-- include: clock damage state tally hosts addresses members queue records seen control cancel delayed
local key = T .. (ARGV[1] == 'aside' and ':delayed:aside' or ':' .. ARGV[1])
local entries = call('ZRANGE', key, ARGV[2], ARGV[2] + ARGV[3] - 1)
local back, dropped = {}, {}
for _, entry in ipairs(entries) do
  local ok, stream, _, at = pcall(struct.unpack, DELAYED_FORMAT, entry)
  local member = ok and string.sub(entry, at)
  local known, generation = pcall(generation_of, member or '')
  if not (ok and known) then
    back[#back + 1] = entry -- queue_entries sets it aside as damaged
  elseif is_cancelled(stream, generation) then
    drop_cancelled(struct.unpack('>I6', member), stream, generation, string.sub(member, ENVELOPE_IN_MEMBER))
    local t = tally(stream, generation)
    t.delayed = t.delayed - 1
    dropped[#dropped + 1] = entry
  elseif ARGV[1] == 'aside' and not is_said('pause', 'run', run_named(stream, generation)) then
    back[#back + 1] = entry
  end
end
queue_entries(key, back)
if #dropped > 0 then call('ZREM', key, unpack(dropped)) end
save()
return {#entries, #back + #dropped}
