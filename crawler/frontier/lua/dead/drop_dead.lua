#!lua flags=allow-oom
-- drop_dead: delete dead letters, or records of gone pages, and their fingerprints: a link to the page queues it again.
-- KEYS[1]  the shard's tag
-- ARGV[1]  kind: 'dead' or 'gone'
-- ARGV[2...]  ids
-- Result: 1 per letter, 0 if there is none (any more). O(log dead) each.
-- include: clock damage state tally dead_again records seen dead
local result = {}
for i = 2, #ARGV do result[i - 1] = drop_letter(ARGV[1], ARGV[i]) and 1 or 0 end
save()
return result
