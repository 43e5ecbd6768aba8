#!lua flags=allow-oom
-- probe_other: a host's circuit breaker opened because of one of its ports: a request to another one probes it, if any
-- is queued, so that a port that is down holds up no other. The first one is sent at once.
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  the origin of the fault, in the form of lib/report
-- Result: 1 if there is such a request. O(LOOKS + log queue) on each stream of the host.
-- include: clock damage state hosts members ports
local LOOKS = 500
local name, blamed = ARGV[1], ARGV[2]

local function first_other(entries)
  for _, entry in ipairs(entries) do
    local origin = #entry >= ENTRY_BYTES and origin_of(name, string.sub(entry, ENVELOPE_AT))
    if origin and origin ~= blamed then return entry end
  end
end

-- Puts the first such request before all others of its stream; whether there is one.
local function bring_forward(stream)
  local place = place_of(stream, name)
  local list, ahead = T .. ':q:' .. place, T .. ':early:' .. place
  local score, found = score_before(place), first_other(call('ZRANGE', ahead, 0, LOOKS - 1))
  if found then
    call('ZREM', ahead, found)
    state.ahead = state.ahead - 1
  else
    found = first_other(call('LRANGE', list, 0, LOOKS - 1))
    if not found then return false end
    call('LREM', list, 1, found)
  end
  call('ZADD', ahead, score, struct.pack('>d', score) .. string.sub(found, MEMBER_AT))
  state.ahead = state.ahead + 1
  return true
end

local h, is_there = host(name), false
if h[TRIPS] > 0 and h[STREAK] < 0 then
  if h[TRIPS] == 1 then call('HSET', T .. ':blamed', name, blamed) end
  for stream in string.gmatch(h[STREAMS], '[^\n]+') do is_there = bring_forward(stream) or is_there end
  if is_there and call('HEXISTS', T .. ':blamed', name) == 1 then try_now(name, h) end
end
save()
return is_there and 1 or 0
