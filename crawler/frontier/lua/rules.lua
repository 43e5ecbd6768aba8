#!lua flags=allow-oom
-- rules: a worker states by which rules its spider visits hosts, see lib/rules; again every few seconds while it lives.
-- KEYS[1] the shard's tag. ARGV[1] the statement, ARGV[2] its digest, ARGV[3] how many exceptions it has; then, to store
-- some of them: name, rule...
-- Result: 0 when its exceptions are not all there: they are to be sent first; else 1 and how many values were set aside as
-- damaged. O(live statements + exceptions sent).
-- include: clock damage state hosts rules
local KEPT_MS = 86400000
local exceptions = T .. ':rules:' .. ARGV[2]
if ARGV[4] then call('HSET', exceptions, unpack(ARGV, 4)) end
if call('PTTL', exceptions) < KEPT_MS / 2 then call('PEXPIRE', exceptions, KEPT_MS) end -- not each time: each is a write
save_state()
if call('HLEN', exceptions) < tonumber(ARGV[3]) then return 0 end
call('ZADD', T .. ':rules', now, ARGV[1])
if now >= state.stepped + SILENT_MS then call('ZREMRANGEBYSCORE', T .. ':rules', '-inf', now - SILENT_MS) end
return 1 + call('HLEN', T .. ':damaged')
