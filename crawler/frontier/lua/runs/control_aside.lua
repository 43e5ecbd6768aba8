#!lua flags=allow-oom
-- control_aside: sort requests set aside of paused and cancelled runs, a slice per call: resumed ones are queued,
-- cancelled ones dropped; or drop those of one run.
-- KEYS[1]  the shard's tag
-- ARGV[1]  'aside', 'delayed' or 'delayed:room': of the last two only cancelled requests are touched
-- ARGV[2]  rank of the first to examine
-- ARGV[3]  how many
-- ARGV[4]  <spider>:<generation> of a run of which all are dropped, and nothing else is touched; '' for none
-- ARGV[5]  why
-- Result: {how many were examined, how many of these were removed}. O(log queue) each.
-- include: clock damage state tally hosts addresses members queue seen control drop delayed
local key = T .. (ARGV[1] == 'aside' and ':delayed:aside' or ':' .. ARGV[1])
local run, reason = ARGV[4], ARGV[5]
local entries = call('ZRANGE', key, ARGV[2], ARGV[2] + ARGV[3] - 1)
local back, dropped = {}, {}

local function why_dropped(stream, generation)
  if run ~= '' then return run_named(stream, generation) == run and reason end
  return is_cancelled(stream, generation) and 'cancelled'
end

local function is_resumed(stream, generation)
  return run == '' and ARGV[1] == 'aside' and not is_said('pause', 'run', run_named(stream, generation))
end

for _, entry in ipairs(entries) do
  local ok, stream, _, at = pcall(struct.unpack, DELAYED_FORMAT, entry)
  local member = ok and string.sub(entry, at)
  local known, generation = pcall(generation_of, member or '')
  local why = ok and known and why_dropped(stream, generation)
  if not (ok and known) then
    if run == '' then back[#back + 1] = entry end -- queue_entries sets it aside as damaged
  elseif why then
    drop_request(struct.unpack('>I6', member), stream, generation, string.sub(member, ENVELOPE_IN_MEMBER), why)
    local t = tally(stream, generation)
    t.delayed = t.delayed - 1
    dropped[#dropped + 1] = entry
  elseif is_resumed(stream, generation) then
    back[#back + 1] = entry
  end
end
queue_entries(key, back)
if #dropped > 0 then call('ZREM', key, unpack(dropped)) end
save()
return {#entries, #back + #dropped}
