#!lua flags=allow-oom
-- run_open: open a run, unless its producer did so before or one of its name is not over, nor cancelled.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  name
-- ARGV[3]  producer
-- ARGV[4]  the producer's key, '' for none: identifies a run that was opened before
-- ARGV[5]  '1' to open it beside others of its name; always so without a name
-- ARGV[6]  '1' for its own fingerprints, else it shares those of ARGV[7]
-- ARGV[7]  a generation, '' for the spider's current one
-- ARGV[8]  how many runs are kept
-- Result: OPENED, KNOWN or BUSY and the record: of the run, or of the one in its way. O(unfinished runs).
-- include: clock damage state runs
local OPENED, KNOWN, BUSY = 0, 1, 2
local spider, name, key, fresh = ARGV[1], ARGV[2], ARGV[4], ARGV[6] == '1'

local known = key ~= '' and call('HGET', T .. ':runs:keys', key)
known = known and run_of(known)
if known then return {KNOWN, cmsgpack.pack(known)} end
if ARGV[5] ~= '1' and name ~= '' then
  for _, run in ipairs(live_runs('name', name)) do
    if run.spider == spider and run.name == name and not run.cancelled then return {BUSY, cmsgpack.pack(run)} end
  end
end
local owner = ARGV[7] ~= '' and ARGV[7] or call('HGET', T .. ':current', spider) or '0'
local raw = begin_run({
  name = name, spider = spider, producer = ARGV[3], key = key, fresh = fresh, shares = fresh and '' or owner, base = '',
}, ARGV[8])
save()
return {OPENED, raw}
