#!lua flags=allow-oom
-- bury_seed: dead-letter an invalid entry of a start-URLs key.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  spider
-- ARGV[2]  the entry
-- ARGV[3]  reason
-- ARGV[4]  detail (msgpack)
-- ARGV[5]  the generation in which it counts as accepted and dead; '' for none
-- Result: 1. O(log dead).
-- include: clock damage state tally again records seen dead
local head = struct.pack(HEAD_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0)
local seed = read_record(head .. names_of('', ARGV[1], ARGV[5], '')) -- a stream only
state.seq = state.seq + 1
keep_letter('dead', state.seq, seed, string.rep('\0', 12) .. ARGV[2], ARGV[3], ARGV[4])
if ARGV[5] ~= '' then
  local t = tally(ARGV[1], ARGV[5])
  t.accepted = t.accepted + 1
  count_as(t, 'dead', ARGV[3], 1)
end
save()
return 1
