#!lua flags=allow-oom
-- budgets: state budgets, and delete those no longer stated.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  name, terms (see lib/budgets) with the ms for which they hold, 0 for ever
-- Result: 1. O(budgets).
-- include: clock damage state
for i = 1, #ARGV, 2 do
  local holds = struct.unpack('<d', ARGV[i + 1])
  local until_ms = holds > 0 and now + holds or 0
  call('HSET', T .. ':budgets', ARGV[i], struct.pack('<d', until_ms) .. string.sub(ARGV[i + 1], 9))
end
local rows = call('HGETALL', T .. ':budgets')
for i = 1, #rows, 2 do
  local until_ms = #rows[i + 1] >= 8 and struct.unpack('<d', rows[i + 1]) or 1
  if until_ms > 0 and until_ms <= now then call('HDEL', T .. ':budgets', rows[i]) end
end
local closed = call('HGETALL', T .. ':closed')
for i = 1, #closed, 2 do
  local at = tonumber(string.match(closed[i + 1], '^%d+') or 0)
  if at <= now then call('HDEL', T .. ':closed', closed[i]) end
end
save()
return 1
