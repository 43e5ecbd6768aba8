#!lua flags=allow-oom
-- runs: the records of runs that are not over.
-- KEYS[1]  the tag of shard 0
-- Result: {the last run number given out, record, ...}. O(these runs).
-- include: clock damage state runs
local result = {call('GET', T .. ':runs:last') or '0'}
for _, run in ipairs(live_runs()) do result[#result + 1] = cmsgpack.pack(run) end
save()
return result
