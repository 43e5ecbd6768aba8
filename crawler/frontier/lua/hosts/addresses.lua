#!lua flags=allow-oom
-- addresses: what hosts were found to resolve to; see lib/addresses.
-- KEYS[1]  the shard's tag
-- ARGV[1]  ms for which that holds
-- ARGV[2...]  host, its possible addresses' names divided by spaces, '' if it stands alone; host, ...
-- A host keeps the address that it has while that is among them. One that moves waits at the new address for as long as
-- its last request could still be on its way there.
-- Result: {the name in force of each}. O(streams of the host) each.
-- include: clock damage state hosts addresses lines rules members queue
local holds_until = now + tonumber(ARGV[1])
located = located or {}

local function chosen(name, names)
  local before = address_of(name)
  if before and string.find(' ' .. names .. ' ', ' ' .. before .. ' ', 1, true) then return before, before end
  return string.match(names, '^%S*'), before
end

local function carry_slots(h, from, to)
  if from then host(from)[INFLIGHT], unsettled[from] = math.max(0, host(from)[INFLIGHT] - h[INFLIGHT]), true end
  if to == '' then return end
  local a = host(to)
  enforce_address(to, a, h)
  a[INFLIGHT], unsettled[to] = a[INFLIGHT] + h[INFLIGHT], true
  local after = h[NEXT] + math.max(0, a[DELAY] - h[DELAY])
  if after > now then a[NEXT] = math.max(a[NEXT], math.min(after, now + START_MS + math.max(h[DELAY], a[DELAY]))) end
end

local function leave_lines(name, h, from)
  for stream in string.gmatch(from and h[STREAMS] or '', '[^\n]+') do
    if leave_line(stream, name, from) then file_new(stream, name, h, h[LEAD]) end
  end
end

local result = {}
for i = 2, #ARGV, 2 do
  local name = ARGV[i]
  local h, to, from = host(name), chosen(name, ARGV[i + 1])
  if not located[name] then h[HOLD], unsettled[name] = 0, true end -- it was held for this, see lease
  if to ~= (from or '') then
    leave_lines(name, h, from)
    carry_slots(h, from, to)
  end
  call('HSET', T .. ':address', name, struct.pack('<d', holds_until) .. to)
  if is_idle(h) then call('ZADD', T .. ':idle', forget_at(h), name) end
  located[name], result[#result + 1] = {holds_until, to}, to
end
save()
return result
