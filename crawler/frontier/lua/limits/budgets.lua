#!lua flags=allow-oom
-- budgets: state budgets, and delete those no longer stated.
-- KEYS[1]  the shard's tag
-- ARGV[1...]  name, terms (see lib/budgets) with the ms for which they hold, 0 for ever
-- Result: 1. O(budgets).
-- include: clock damage state
local changed = {} -- by name; '*' for all hosts that it governs
for i = 1, #ARGV, 2 do
  local holds, terms = struct.unpack('<d', ARGV[i + 1]), string.sub(ARGV[i + 1], 9)
  local until_ms = holds > 0 and now + holds or 0
  changed[ARGV[i]] = string.sub(call('HGET', T .. ':budgets', ARGV[i]) or '', 9) ~= terms
  call('HSET', T .. ':budgets', ARGV[i], struct.pack('<d', until_ms) .. terms)
end
local rows = call('HGETALL', T .. ':budgets')
for i = 1, #rows, 2 do
  local until_ms = #rows[i + 1] >= 8 and struct.unpack('<d', rows[i + 1]) or 1
  local is_over = until_ms > 0 and until_ms <= now and now >= state.stepped + STATED_MS
  if is_over or until_ms ~= until_ms then
    changed[rows[i]] = true
    call('HDEL', T .. ':budgets', rows[i])
  end
end
-- What another term held back is said again when it still is.
local closed = call('HGETALL', T .. ':closed')
for i = 1, #closed, 2 do
  local at = tonumber(string.match(closed[i + 1], '^%d+') or 0)
  local name = string.sub(closed[i], 1, 2) == '*:' and '*' or closed[i]
  if at <= now or changed[name] then call('HDEL', T .. ':closed', closed[i]) end
end
save()
return 1
