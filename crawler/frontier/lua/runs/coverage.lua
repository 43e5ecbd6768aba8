#!lua flags=allow-oom
-- coverage: count which fields the items of runs have.
-- KEYS[1]  the tag of shard 0
-- ARGV[1]  ms for which a run's counts are kept after the last change
-- ARGV[2...]  spider:generation, grade, field, count of each
-- T:fields:<spider>:<generation> HASH '<grade>:<field>' -> items, for at most MOST_FIELDS of them.
-- Result: nothing. O(1) per row.
-- include: clock damage state
local MOST_FIELDS = 300
local touched = {}
for i = 2, #ARGV, 4 do
  local key, field = T .. ':fields:' .. ARGV[i], ARGV[i + 1] .. ':' .. ARGV[i + 2]
  if call('HEXISTS', key, field) == 1 or call('HLEN', key) < MOST_FIELDS then
    call('HINCRBY', key, field, ARGV[i + 3])
    touched[key] = true
  end
end
for key in pairs(touched) do call('PEXPIRE', key, ARGV[1]) end
save()
