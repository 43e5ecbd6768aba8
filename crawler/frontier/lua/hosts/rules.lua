#!lua flags=allow-oom
-- rules: a worker states the rules that its spider crawls hosts by, see lib/rules; repeated every few seconds while it
-- lives.
-- KEYS[1]  the shard's tag
-- ARGV[1]  the statement
-- ARGV[2]  its digest
-- ARGV[3]  how many exceptions it has
-- ARGV[4...]  some of these to store: name, rule...
-- T:server STRING the run id of the Redis that answered last. One that has started since may have lost the last turns
-- that were given out: each host's delay begins again.
-- Result: INCOMPLETE if exceptions are missing, which have to be sent first; else STATED and how many values were set
-- aside as damaged. O(live statements + exceptions sent).
-- include: clock damage state hosts rules
local KEPT_MS = 86400000
local INCOMPLETE, STATED = 0, 1

local function meet_server()
  local info = redis.pcall('INFO', 'server') -- who may not ask is told elsewhere
  local run_id = type(info) == 'string' and string.match(info, 'run_id:(%w+)')
  local before = call('GET', T .. ':server')
  if not run_id or run_id == before then return end
  call('SET', T .. ':server', run_id)
  if before then state.stepped = now end
end

meet_server()
local exceptions = T .. ':rules:' .. ARGV[2]
if ARGV[4] then call('HSET', exceptions, unpack(ARGV, 4)) end
-- Not each time: each one is a write.
if call('PTTL', exceptions) < KEPT_MS / 2 then call('PEXPIRE', exceptions, KEPT_MS) end
save_state()
if call('HLEN', exceptions) < tonumber(ARGV[3]) then return INCOMPLETE end
call('ZADD', T .. ':rules', now, ARGV[1])
if now >= state.stepped + SILENT_MS then call('ZREMRANGEBYSCORE', T .. ':rules', '-inf', now - SILENT_MS) end
return STATED + call('HLEN', T .. ':damaged')
