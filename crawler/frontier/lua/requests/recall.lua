#!lua flags=allow-oom
-- recall: there is room again: queue what was put off for lack of it, a few at a time.
-- KEYS[1]  the shard's tag
-- ARGV[1]  how many at most
-- Result: how many were queued; call again while that is ARGV[1]. O(log queue) each.
-- include: clock damage state tally hosts addresses members queue seen control drop delayed
local entries = call('ZRANGE', T .. ':delayed:room', 0, ARGV[1] - 1)
queue_entries(T .. ':delayed:room', entries)
save()
return #entries
