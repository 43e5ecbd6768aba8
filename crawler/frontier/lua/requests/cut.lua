#!lua flags=allow-oom
-- cut: count links out of scope, which were never queued.
-- KEYS[1]  the tag of shard 0
-- ARGV[1...]  spider, generation, rule, how many
-- Result: 1. O(rows).
-- include: clock damage state tally
for i = 1, #ARGV, 4 do
  local t, field = tally(ARGV[i], ARGV[i + 1]), 'cut:' .. ARGV[i + 2]
  t[field] = (t[field] or 0) + ARGV[i + 3]
end
save()
return 1
