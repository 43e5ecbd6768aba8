#!lua flags=allow-oom
-- bury_seed: dead-letter an invalid entry of a start-URLs key, once per run: a worker that dies before it acknowledges
-- the entry leaves it to another one.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  the entry
-- ARGV[3]  reason
-- ARGV[4]  detail (msgpack)
-- ARGV[5]  the generation in which it counts as accepted and dead; '' for none
-- Result: 1, or 0 if it is a dead letter of this run already. O(log dead).
-- include: clock damage state tally dead_again records seen dead
local spider, entry, generation = ARGV[1], string.rep('\0', 12) .. ARGV[2], ARGV[5]
local name = seed_name(spider, generation, entry)

local function is_known()
  local id = call('HGET', T .. ':dead:seeds', name)
  local at = id and tonumber(call('ZSCORE', T .. ':dead:at', id) or nil)
  local since = tonumber(call('HGET', T .. ':gen:' .. spider .. ':' .. generation, 'since') or nil) or 0
  return at and at >= since
end

if is_known() then
  if generation ~= '' then
    local t = tally(spider, generation)
    t.duplicates_dead = t.duplicates_dead + 1
  end
  save()
  return 0
end
local head = struct.pack(HEAD_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0)
local seed = read_record(head .. names_of('', spider, generation, '')) -- a stream only
state.seq = state.seq + 1
call('HSET', T .. ':dead:seeds', name, string.format('%.0f', state.seq))
keep_letter('dead', state.seq, seed, entry, ARGV[3], ARGV[4])
if generation ~= '' then
  local t = tally(spider, generation)
  t.accepted = t.accepted + 1
  count_as(t, 'dead', ARGV[3], 1)
end
save()
return 1
