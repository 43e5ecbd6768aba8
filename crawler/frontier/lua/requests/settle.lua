#!lua flags=allow-oom
-- settle: start (on the wire), report and ack in one call, in this order.
-- KEYS[1]  the shard's tag
-- ARGV[1]  a random number in [0, 1)
-- ARGV[2]  number of starts
-- ARGV[3]  number of reports
-- ARGV[4...]  the starts, the reports and the acks, as those scripts take them
-- Result: one number per row, as those scripts give it. O(log in flight + streams of the host) each.
-- include: clock damage state tally dead_again hosts addresses records start release
-- include: pace pace_turns pace_trials pace_rests pace_pairs breaker adapt report
-- include window: seen
-- include: ack
local jitter, starts, reports, result = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), {}
local records, ids = lookup_rows(4)
load_hosts_of(records, starts)
for i, r in ipairs(records) do
  if i <= starts then
    result[i] = start(r, ids[i], true)
  elseif i <= starts + reports then
    result[i] = report(r, ids[i], ARGV[i + 3], jitter)
  else
    result[i] = ack(r, ids[i])
  end
end
save()
return result
