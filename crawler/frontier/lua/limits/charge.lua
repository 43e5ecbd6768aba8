#!lua flags=allow-oom
-- charge: count what responses spent. A budget is overrun only by what was in flight when it ran out.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  host, spider, generation, bytes, browser ms, cost in millionths of each
-- Result: 1. O(rows).
-- include: clock damage state records shares budgets spend
for i = 1, has_budgets() and #ARGV or 0, 6 do
  spend_all(ARGV[i], ARGV[i + 1], ARGV[i + 2], 0, ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
end
save()
return 1
