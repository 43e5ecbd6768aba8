#!lua flags=allow-oom
-- run_end: a sealed run has finished: everything it accepted is done, dead or dropped. Anyone who notices may call
-- this; only the first call counts.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  id
-- ARGV[2]  ms when it was sealed, as read: it may have been reopened and sealed again
-- ARGV[3]  its final counts (msgpack map)
-- ARGV[4]  its generation's counters (msgpack map) for a run without its own generation, else ''
-- ARGV[5]  how often a worker with a lease had asked for it, as read: whoever asked since holds work of the run
-- Result: its record if it ended now, else ''. O(1).
-- include: clock damage state runs
local run, came_to, counters = run_of(ARGV[1]), ARGV[3], ARGV[4]
if not run or run.state ~= 'sealed' or run.sealed ~= tonumber(ARGV[2]) then return '' end
if (tonumber(run.asked) or 0) ~= tonumber(ARGV[5]) then return '' end
run.state, run.ended, run.counts = run.cancelled and 'cancelled' or 'finished', now, cmsgpack.unpack(came_to)
if counters ~= '' then
  call('HSET', T .. ':runs:until', run.spider,
    cmsgpack.pack({generation = run.generation, counts = cmsgpack.unpack(counters)}))
end
local raw = keep_run(run)
call('SREM', T .. ':runs:live', run.id)
for _, kind in ipairs(counters == '' and {'r:', 'p:'} or {}) do -- what share_deal has dealt to it
  call('HDEL', T .. ':dealt:0', kind .. run.spider .. ':' .. run.generation)
end
tell_run(run, run.cancelled and 'cancel' or 'finish')
save()
return raw
