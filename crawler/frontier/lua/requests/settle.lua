#!lua flags=allow-oom
-- settle: requests were sent, hosts have answered, requests are done and their effects durable; in this order. A lease
-- that is reported continues until its ack, so slow storage never holds a host.
-- KEYS[1]  the shard's tag
-- ARGV[1]  a random number in [0, 1)
-- ARGV[2]  number of starts (on the wire)
-- ARGV[3]  number of reports
-- ARGV[4...]  these; then the reports, as lib/report reads them, and the acks: id and token (d, d), as of the starts
-- Result: one number per row: of a start DONE, or STALE; of a report see lib/report; of an ack DONE, or STALE (also for
-- a mere slot): then nothing changes. O(log in flight + streams of the host) each.
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
