#!lua flags=allow-oom
-- robots_claim: read what the fleet knows of origins' robots.txt, or get the task to fetch it, one worker at a time.
-- KEYS[1]  the shard's tag
-- ARGV[1]  ms for which only one worker may fetch (calling again before that extends it)
-- ARGV[2...]  for each origin: the origin, and the worker
-- T:robots:<origin> HASH verdict, status, until, since, body, sitemaps; T:robots:<origin>:lock STRING who fetches.
-- Result: for each {'known', verdict, ms it stays fresh, status, body, ms it has been unreachable, or 0},
-- {'fetch', the same last value}, or {'wait'}: another worker is fetching. O(1) each.
-- include: clock damage state
local function claim(origin, worker)
  local key = T .. ':robots:' .. origin
  local lock = key .. ':lock'
  local found = call('HMGET', key, 'verdict', 'status', 'until', 'since', 'body')
  local verdict, status, until_ms, since, body = unpack(found)
  local failing = (tonumber(since) or 0) > 0 and now - since or 0
  if verdict and body and (tonumber(until_ms) or 0) > now then
    return {'known', verdict, tonumber(until_ms) - now, tonumber(status) or 0, body, failing}
  end
  if call('SET', lock, worker, 'NX', 'PX', ARGV[1]) or call('GET', lock) == worker then
    call('PEXPIRE', lock, ARGV[1])
    return {'fetch', failing}
  end
  return {'wait'}
end

local result = {}
for i = 2, #ARGV, 2 do result[#result + 1] = claim(ARGV[i], ARGV[i + 1]) end
save()
return result
