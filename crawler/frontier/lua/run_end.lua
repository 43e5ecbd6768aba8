#!lua flags=allow-oom
-- run_end: a sealed run is over: everything that it accepted is done, dead or dropped. Whoever sees that says so, and
-- one of them is heard.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  id
-- ARGV[2]  ms when it was sealed, as it was seen: it may have been opened and sealed again
-- ARGV[3]  what it came to (msgpack map)
-- ARGV[4]  what the counters of its generation are, for a run without one of its own (msgpack map), else ''
-- Result: its record when it ended now, else ''. O(1).
-- include: clock damage state runs
local run, came_to, counters = run_of(ARGV[1]), ARGV[3], ARGV[4]
if not run or run.state ~= 'sealed' or run.sealed ~= tonumber(ARGV[2]) then return '' end
run.state, run.ended, run.counts = run.cancelled and 'cancelled' or 'finished', now, cmsgpack.unpack(came_to)
if counters ~= '' then
  call('HSET', T .. ':runs:until', run.spider,
    cmsgpack.pack({generation = run.generation, counts = cmsgpack.unpack(counters)}))
end
local raw = keep_run(run)
call('SREM', T .. ':runs:live', run.id)
tell_run(run, run.cancelled and 'cancel' or 'finish')
save()
return raw
