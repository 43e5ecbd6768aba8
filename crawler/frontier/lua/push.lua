#!lua
-- push: accept a batch of requests, once per fingerprint and generation.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of {host, stream, generation, envelope, fingerprint digits or nil
-- (not deduplicated), not before ms, delay ms, cap}; ARGV[2] '1' for children of leased work, never refused for
-- fullness; ARGV[3] '1' while memory is above its mark.
-- Result: one number per request: 0 accepted, 1 duplicate, 2 duplicate of a dead letter, 3 queue full, 4 memory.
-- O(1) per request, and one bucket of fingerprints split per LOAD accepted. Refused by the server at maxmemory.
-- include: clock state generations hosts queue leases seen dead
local ACCEPTED, DUPLICATE, DUPLICATE_DEAD, FULL, MEMORY = 0, 1, 2, 3, 4
local forced, low_memory = ARGV[2] == '1', ARGV[3] == '1'
local any_dead = call('EXISTS', T .. ':dead:fp') == 1
local seq = state.seq

local function judge(stream, generation, envelope, digits)
  if not forced and low_memory then return MEMORY end
  if not forced and state.backlog >= QUEUE_LIMIT then return FULL end
  if digits then
    if any_dead and is_dead(stream, envelope) then return DUPLICATE_DEAD end
    if not remember(seen_set(stream, generation), digits) then return DUPLICATE end
  end
  return ACCEPTED
end

local EVENTS = {[ACCEPTED] = 'accepted', 'duplicates', 'duplicates_dead', 'refused', 'refused'}
local result = {}
for i, message in ipairs(cmsgpack.unpack(ARGV[1])) do
  local name, stream, generation, envelope, digits, not_before, delay, cap = unpack(message)
  local outcome = judge(stream, generation, envelope, digits)
  result[i] = outcome
  count(stream, generation, EVENTS[outcome], 1)
  if outcome == ACCEPTED then
    seq = seq + 1
    local member = member_of(seq, 0, 0, envelope)
    configure(touch(name), stream, delay, cap)
    if not_before > now then
      delay_until(not_before, stream, name, member)
      count(stream, generation, 'delayed', 1)
    else
      enqueue(stream, name, score_of(priority_of(member)), member)
      count(stream, generation, 'queued', 1)
    end
  end
end
put('seq', seq)
save_seen()
save_all()
return result
