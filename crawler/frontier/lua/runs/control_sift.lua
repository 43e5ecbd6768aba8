#!lua flags=allow-oom
-- control_sift: go through a slice of one host's queue, and drop, reprioritise or move matching requests. Others keep
-- their place in the order: from the list they go to those ahead of its end.
-- KEYS[1]  the shard's tag
-- ARGV[1]  stream, '!' behind it for its suspects
-- ARGV[2]  host
-- ARGV[3]  generation, '' for any
-- ARGV[4]  a Lua pattern that the whole URL matches, '' for any
-- ARGV[5]  'drop', 'priority' or 'stream'; 'count' changes nothing
-- ARGV[6]  why it is dropped, the new priority, or the new stream
-- ARGV[7]  rank of the first to examine ahead of the list's end, once the list is done
-- ARGV[8]  how many
-- Result: {how many were examined, how many of them matched, 1 if they came from the list, how many were invalid and
-- set aside}. O(log queue) each.
-- include: clock damage state tally lose_one hosts addresses lines members queue seen heads drop
local queue, name, generation, pattern, action = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
local stream, most = string.gsub(queue, '!$', ''), tonumber(ARGV[8])
local place = place_of(queue, name)
local list, ahead = T .. ':q:' .. place, T .. ':early:' .. place

local function url_of(envelope)
  local _, at = struct.unpack('>Bc0', envelope, 11)
  _, at = struct.unpack('>Bc0', envelope, at)
  local ok, body = pcall(cmsgpack.unpack, string.sub(envelope, at))
  return ok and type(body) == 'table' and body.u or ''
end

local function is_meant(entry)
  local ok, of = pcall(generation_of, string.sub(entry, MEMBER_AT))
  if not ok or #entry < ENTRY_BYTES then return false end
  if generation ~= '' and of ~= generation then return false end
  if action == 'priority' and priority_of(string.sub(entry, MEMBER_AT)) == tonumber(ARGV[6]) then return false end
  return pattern == '' or string.find(url_of(string.sub(entry, ENVELOPE_AT)), pattern) ~= nil
end

local moved = {}

local function carry_out(entry)
  local member = string.sub(entry, MEMBER_AT)
  local of, envelope = generation_of(member), string.sub(member, ENVELOPE_IN_MEMBER)
  local t = tally(stream, of)
  t.queued = t.queued - 1
  if string.sub(queue, -1) == '!' then state.suspects = state.suspects - 1 end
  if action == 'drop' then
    drop_request(struct.unpack('>I6', member), stream, of, envelope, ARGV[6])
  else
    moved[#moved + 1] = member
  end
end

local from_list = call('EXISTS', list) == 1 and tonumber(ARGV[7]) == 0 and action ~= 'count'
local entries
if action == 'count' then
  entries = call('LRANGE', list, ARGV[7], ARGV[7] + most - 1)
elseif from_list then
  entries = call('LRANGE', list, 0, most - 1)
else
  entries = call('ZRANGE', ahead, ARGV[7], ARGV[7] + most - 1)
end
local examined, meant, left = #entries, 0, {}
if action ~= 'count' then entries = whole_of(entries, stream, place) end
local invalid = examined - #entries
for _, entry in ipairs(entries) do
  if is_meant(entry) then
    meant = meant + 1
    if action ~= 'count' then
      carry_out(entry)
      if not from_list then
        call('ZREM', ahead, entry)
        state.ahead = state.ahead - 1
      end
    end
  elseif from_list then
    left[#left + 1], left[#left + 2] = (struct.unpack('>d', entry)), entry
  end
end
if from_list then
  call('LTRIM', list, #entries, -1)
  if #left > 0 then
    call('ZADD', ahead, unpack(left))
    state.ahead = state.ahead + #left / 2
  end
end
local to = action == 'stream' and ARGV[6] or stream
for _, member in ipairs(moved) do
  local id, deliveries, status = struct.unpack(MEMBER_FORMAT, member)
  local envelope, of = string.sub(member, ENVELOPE_IN_MEMBER), generation_of(member)
  if action == 'priority' then envelope = struct.pack('>h', ARGV[6]) .. string.sub(envelope, 3) end
  local t = tally(to, of)
  t.queued = t.queued + 1
  if to ~= stream then
    local from = tally(stream, of)
    from.accepted, t.accepted = from.accepted - 1, t.accepted + 1
  end
  local again = member_of(id, deliveries, status, envelope)
  turn_to(stream_for(to, deliveries), name)
  enqueue(stream_for(to, deliveries), name, score_of(priority_of(again)), again, priority_of(again))
end
turn_to('', '') -- write requests that were queued again now: the queue may be empty without them
if action ~= 'count' and call('EXISTS', list, ahead) == 0 and has_stream(host(name), queue) then unfile(name, queue) end
save()
return {examined, meant, from_list and 1 or 0, invalid}
