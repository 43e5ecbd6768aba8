#!lua flags=allow-oom
-- run_alarm: too many requests of a run fail; it is told once.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  id
-- Result: 1 when that is news, else 0. O(1).
-- include: clock damage state runs
local run = run_of(ARGV[1])
if not run or run.failing or (run.state ~= 'open' and run.state ~= 'sealed') then return 0 end
run.failing = now
keep_run(run)
tell_run(run, 'failing')
save()
return 1
