#!lua flags=no-writes
-- stats: the counters of every generation, and how many hosts could be leased from now.
-- KEYS[1]  the shard's tag
-- Result: {born, now, seq, token, evicted, {{name, {field, value, ...}}...},
-- {{stream, hosts due, hosts waiting, suspects}...}}. O(generations + streams * log hosts).
-- include: clock damage state
local generations, streams, known = {}, {}, {}
for _, name in ipairs(generation_names()) do
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
return {state.born, now, state.seq, state.token, state.evicted, generations, streams}
