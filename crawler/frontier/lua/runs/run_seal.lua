#!lua flags=allow-oom
-- run_seal: seal a run, to which nothing more is pushed, or reopen it before its end.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  id
-- ARGV[2]  'sealed' or 'open'
-- ARGV[3]  ms when it was opened, 0 for whichever one there is: its id may be another's by now, as Redis was emptied
-- Result: its record, unchanged when it is over or cancelled; '' where there is no such run. O(1).
-- include: clock damage state runs
local run = run_of(ARGV[1])
if not run or (ARGV[3] ~= '0' and run.opened ~= tonumber(ARGV[3])) then return '' end
local goes_on = run.state == 'open' or (run.state == 'sealed' and not run.cancelled)
if goes_on and run.state ~= ARGV[2] then
  run.state, run.sealed = ARGV[2], ARGV[2] == 'sealed' and now or 0
  keep_run(run)
end
save()
return cmsgpack.pack(run)
