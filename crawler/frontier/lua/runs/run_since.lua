#!lua flags=allow-oom
-- run_since: a run in the generation that plain starts join is over: what is dead there is not known to the next one.
-- KEYS[1]  the shard's tag
-- ARGV[1]  spider
-- ARGV[2]  generation
-- T:gen:<spider>:<generation> HASH since: dead letters of before then belong to other runs.
-- Result: 1. O(1).
-- include: clock damage state
call('HSET', T .. ':gen:' .. ARGV[1] .. ':' .. ARGV[2], 'since', now + 1)
save()
return 1
