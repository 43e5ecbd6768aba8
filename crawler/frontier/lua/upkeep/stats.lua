#!lua flags=no-writes
-- stats: the counters of every generation, and how many hosts could be leased from now.
-- KEYS[1]  the shard's tag
-- ARGV     names of the generations, at most GENERATIONS_AT_ONCE; none: the first ones there are
-- Result: {born, now, seq, token, evicted, {{name, {field, value, ...}}...},
-- {{stream, hosts due, hosts waiting, suspects}...}, uncounted, {name...} of generations to ask for in further calls}.
-- Uncounted: how far what all generations count as queued and delayed is from the backlog, and how many leased requests
-- they miss, as counters were damaged.
-- O(generations + streams * log hosts).
-- include: clock damage state
local names, generations, streams, known, rest = ARGV, {}, {}, {}, {}
local uncounted = 0
if #names == 0 then
  names = generation_names()
  local backlog, leased = 0, 0
  for _, name in ipairs(names) do
    local row = call('HMGET', T .. ':gen:' .. name, 'queued', 'delayed', 'leased')
    backlog = backlog + (whole_number(row[1]) or 0) + (whole_number(row[2]) or 0)
    leased = leased + (whole_number(row[3]) or 0)
  end
  uncounted = math.abs(state.backlog - backlog) + math.max(0, call('HLEN', T .. ':body') - leased)
end
for i = GENERATIONS_AT_ONCE + 1, #names do rest[i - GENERATIONS_AT_ONCE] = names[i] end
for i = 1, math.min(#names, GENERATIONS_AT_ONCE) do
  local name = names[i]
  generations[#generations + 1] = {name, call('HGETALL', T .. ':gen:' .. name)}
  local stream = string.match(name, '^(.*):')
  if not known[stream] then
    known[stream] = true
    local due, wait, at_cap = T .. ':due:' .. stream, T .. ':wait:' .. stream, T .. ':park:' .. stream
    local ready = call('ZCARD', due) + call('ZCOUNT', wait, '-inf', now)
    local all = call('ZCARD', due) + call('ZCARD', wait) + call('SCARD', at_cap)
    local suspects = call('ZCARD', due .. '!') + call('ZCARD', wait .. '!') + call('SCARD', at_cap .. '!')
    streams[#streams + 1] = {stream, ready, all - ready, suspects}
  end
end
return {state.born, now, state.seq, state.token, state.evicted, generations, streams, uncounted, rest}
