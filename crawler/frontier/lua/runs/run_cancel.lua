#!lua flags=allow-oom
-- run_cancel: a run ends with its current leases. Its queued requests are dropped by others, see lib/control.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  id
-- ARGV[2]  ms when it was opened, 0 for whichever one there is: its id may be another's by now, as Redis was emptied
-- Result: its record, unchanged if it has ended; '' if there is no such run. O(1).
-- include: clock damage state runs
local run = run_of(ARGV[1])
if not run or (ARGV[2] ~= '0' and run.opened ~= tonumber(ARGV[2])) then return '' end
if run.state == 'open' or run.state == 'sealed' then
  if run.state == 'open' then run.state, run.sealed = 'sealed', now end
  run.cancelled = run.cancelled or now
  keep_run(run)
end
save()
return cmsgpack.pack(run)
