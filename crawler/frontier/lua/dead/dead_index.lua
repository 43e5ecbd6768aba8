#!lua flags=allow-oom
-- dead_index: note the ids of dead letters that an older release kept, some per call: until then their pages are known
-- as dead in every run.
-- KEYS[1]  the shard's tag
-- T:dead:cursor STRING how many letters have been looked at, the oldest first; not there when all are indexed.
-- Result: 1 while there is more to look at. O(letters looked at).
-- include: clock damage state tally dead_again seen
local LETTERS = 100
local from = tonumber(call('GET', T .. ':dead:cursor') or nil)
if not from and call('HLEN', T .. ':dead:fp') <= call('HLEN', T .. ':dead:id') then return 0 end
from = from or 0
local ids = call('ZRANGE', T .. ':dead:at', from, from + LETTERS - 1)
for _, id in ipairs(ids) do
  local ok, letter = pcall(cmsgpack.unpack, call('HGET', T .. ':dead', id) or '')
  if ok and is_letter(letter) and letter.host ~= '' then
    call('HSETNX', T .. ':dead:id', dead_name(letter.stream, letter.envelope), id)
  end
end
if #ids == LETTERS then
  call('SET', T .. ':dead:cursor', from + LETTERS)
else
  call('DEL', T .. ':dead:cursor')
end
return #ids == LETTERS and 1 or 0
