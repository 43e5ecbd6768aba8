#!lua flags=allow-oom
-- run_begin: begin a run in the generation of plain starts and start URLs; it counts from where the last one ended.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  generation
-- ARGV[3]  how many requests it had accepted, with letters retried since, when that was looked at; '' for a start,
--          which is a run in any case; 'lost' when that is less than the last run left: the counters begin anew
-- ARGV[4]  how many runs are kept
-- Result: the record of the unfinished run there, begun now or before; '' if nothing was accepted since the last one.
-- O(unfinished runs).
-- include: clock damage state runs
local spider, generation, accepted = ARGV[1], ARGV[2], ARGV[3]
for _, run in ipairs(live_runs()) do
  if run.spider == spider and run.generation == generation then
    save()
    return cmsgpack.pack(run)
  end
end
local ok, before = pcall(cmsgpack.unpack, call('HGET', T .. ':runs:until', spider) or '')
local base = ''
if ok and type(before) == 'table' and before.generation == generation and accepted ~= 'lost' then
  base = before.counts
end
local known = type(base) == 'table' and (tonumber(base.accepted) or 0) + (tonumber(base.retried) or 0) or 0
if accepted ~= '' and accepted ~= 'lost' and tonumber(accepted) <= known then
  save()
  return ''
end
local raw = begin_run({
  name = 'start', spider = spider, generation = generation, producer = 'start', key = '', fresh = false, shares = '',
  base = base,
}, ARGV[4])
save()
return raw
