#!lua flags=allow-oom
-- runs: the state of unfinished runs and of the spiders.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  '0', or ms within which only one such call is answered
-- T:runs:turn STRING ms of the last such call; T:starts HASH spider -> kind and name of its start-URLs key, or ''.
-- Result: {} if it is not the caller's turn; else {the last run number, T:current, T:starts, T:runs:until,
-- {record, ...}}. O(these runs + spiders).
-- include: clock damage state runs
if ARGV[1] ~= '0' then
  local looked = tonumber(call('GET', T .. ':runs:turn') or nil)
  if looked and looked <= now and now < looked + ARGV[1] then
    save()
    return {}
  end
  call('SET', T .. ':runs:turn', now)
end
local records = {}
for _, run in ipairs(live_runs()) do records[#records + 1] = cmsgpack.pack(run) end
save()
return {
  call('GET', T .. ':runs:last') or '0', call('HGETALL', T .. ':current'), call('HGETALL', T .. ':starts'),
  call('HGETALL', T .. ':runs:until'), records,
}
