#!lua flags=allow-oom
-- run_begin: begin a run in the generation of plain starts and start URLs; it counts from where the last one ended.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  generation
-- ARGV[3]  how many requests it had accepted, with letters retried since, when that was looked at; 0 for a start that
--          joins a generation; '' for the one that opens it, which is a run in any case;
--          'lost' when that is less than the last run left: the counters begin anew;
--          'leased' for a worker that holds a lease of the current generation, which is part of the run
-- ARGV[4]  how many runs are kept
-- Result: the record of the unfinished run there, begun now or before; '' if nothing was accepted since the last one,
-- or a lease is of an older generation. O(unfinished runs).
-- A worker that asks with a lease keeps looks from before it from ending the run: its record counts them as `asked`.
-- include: clock damage state runs
local spider, generation, accepted = ARGV[1], ARGV[2], ARGV[3]
local leased = accepted == 'leased'
if leased and (call('HGET', T .. ':current', spider) or '0') ~= generation then return '' end
for _, run in ipairs(live_runs('generation', generation)) do
  if run.spider == spider and run.generation == generation then
    if leased then run.asked = (tonumber(run.asked) or 0) + 1 end
    local raw = leased and keep_run(run) or cmsgpack.pack(run)
    save()
    return raw
  end
end
local ok, before = pcall(cmsgpack.unpack, call('HGET', T .. ':runs:until', spider) or '')
local base = ''
if ok and type(before) == 'table' and before.generation == generation and accepted ~= 'lost' then
  base = before.counts
end
local known = type(base) == 'table' and (tonumber(base.accepted) or 0) + (tonumber(base.retried) or 0) or 0
if tonumber(accepted) and tonumber(accepted) <= known then
  save()
  return ''
end
local raw = begin_run({
  name = 'start', spider = spider, generation = generation, producer = 'start', key = '', fresh = false, shares = '',
  base = base,
}, ARGV[4])
save()
return raw
