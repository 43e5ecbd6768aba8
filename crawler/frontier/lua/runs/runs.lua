#!lua flags=allow-oom
-- runs: the state of unfinished runs and of the spiders.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  '0', or ms within which only one such call is answered
-- ARGV[2...]  ids of runs whose records an earlier call left out: only they are told
-- T:runs:turn STRING ms of the last such call; T:starts HASH spider -> kind and name of its start-URLs key, or ''.
-- Result: {} if it is not the caller's turn; else {the last run number, T:current, T:starts, T:runs:until,
-- {record, ...}, {id of each run left out, ...}}. O(RUNS_AT_ONCE + live runs + spiders).
-- include: clock damage state runs
local records, left = {}, {}

local function tell(id)
  if #records >= RUNS_AT_ONCE then
    left[#left + 1] = id
  else
    local run = run_of(id)
    if run then records[#records + 1] = cmsgpack.pack(run) end
  end
end

if ARGV[1] ~= '0' then
  local looked = tonumber(call('GET', T .. ':runs:turn') or nil)
  if looked and looked <= now and now < looked + ARGV[1] then
    save()
    return {}
  end
  call('SET', T .. ':runs:turn', now)
end
if ARGV[2] then
  for i = 2, #ARGV do tell(ARGV[i]) end
  save()
  return {'0', {}, {}, {}, records, left}
end
for _, id in ipairs(call('SMEMBERS', T .. ':runs:live')) do tell(id) end
save()
return {
  string.match(call('GET', T .. ':runs:last') or '', '^%d+$') or '0', call('HGETALL', T .. ':current'),
  call('HGETALL', T .. ':starts'), call('HGETALL', T .. ':runs:until'), records, left,
}
