#!lua flags=allow-oom
-- share_state: take what shard 0 has dealt this shard, give back half of what is free, all of it where nothing is
-- queued, and tell how things stand.
-- KEYS[1]  the shard's tag
-- ARGV[1]  name of a shared limit
-- ARGV[2]  when its day began (ms)
-- ARGV[3]  granted ever of the four kinds and what is spent on all shards (5 d), '' for no news
-- ARGV[4]  '1' to give back
-- What was granted and given back only grows, so that a repeated or late call changes nothing.
-- Result: used, granted, given back, most: of four kinds each (16 d). O(1).
-- include: clock damage state tally shares pages budgets
local name, begin, dealt = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local share, used, most = shares.of(name, begin), nil, {0, 0, 0, 0}
if string.sub(name, 1, 2) == 'p:' then
  local count = page_count(string.sub(name, 3), '')
  used, most = {count.used, 0, 0, 0}, {count.most, 0, 0, 0}
else
  local b = budget_named(name) and terms_of[name]
  if b and b.begin == begin then used, most = used_by(name), b.most end
end
used = used or {0, 0, 0, 0}
if dealt ~= '' then
  local news = {struct.unpack('<ddddd', dealt)}
  for kind = 1, 4 do share[kind] = math.max(share[kind], news[kind]) end
  share[9] = news[5]
end
if ARGV[4] == '1' then
  for kind = 1, 4 do
    local free = share[kind] - share[4 + kind] - used[kind]
    if free > 0 then share[4 + kind] = share[4 + kind] + (state.backlog > 0 and math.ceil(free / 2) or free) end
  end
end
if share[1] + share[2] + share[3] + share[4] > 0 and (dealt ~= '' or ARGV[4] == '1') then
  call('HSET', shares.key(begin), name, struct.pack(SHARE_FORMAT, unpack(share)))
  if begin > 0 then call('PEXPIRE', shares.key(begin), SHARES_KEPT_MS) end
end
save()
local parts = {}
for kind = 1, 4 do
  parts[kind], parts[4 + kind] = struct.pack('<d', used[kind]), struct.pack('<d', share[kind])
  parts[8 + kind], parts[12 + kind] = struct.pack('<d', share[4 + kind]), struct.pack('<d', most[kind])
end
return table.concat(parts)
