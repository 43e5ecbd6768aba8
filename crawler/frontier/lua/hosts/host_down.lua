#!lua flags=allow-oom
-- host_down: a host's circuit breaker opened; if it has been open for a whole term, the host's queue is given up.
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  most requests per queue
-- Result: {ms since it opened first, requests made dead letters}. O(log dead) per request.
-- include: clock damage state tally lose_one dead_again hosts addresses lines members records seen dead down
local name, most, buried = ARGV[1], tonumber(ARGV[2]), 0
local h, key = host(name), T .. ':down:' .. ARGV[1]
local head = struct.pack(HEAD_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0)
if h[TRIPS] == 0 then
  call('DEL', key) -- it works again, as a worker saw meanwhile
elseif h[TRIPS] == 1 or not tonumber(call('GET', key) or nil) then
  call('SET', key, now)
end
call('PEXPIRE', key, 2 * (GIVE_UP_MS + BREAKER_MAX_MS))

local function give_up(queue, entry)
  local ok, _, id, deliveries, status, _, _, generation = pcall(struct.unpack, ENTRY_FORMAT, entry)
  local stream = string.gsub(queue, '!$', '')
  if not ok then
    set_aside(T .. ':q:' .. place_of(queue, name) .. ' ' .. string.sub(entry, 1, 40), entry)
    lose_one(stream, 'queued')
    return 0 -- perhaps counted nowhere else
  end
  if string.sub(queue, -1) == '!' then state.suspects = state.suspects - 1 end
  local envelope = string.sub(entry, ENVELOPE_AT)
  local r = read_record(head .. names_of(name, stream, generation, ''))
  r[DELIVERIES], r[STATUS] = deliveries, status
  keep_letter('dead', id, r, envelope, 'host_down', down_detail(name))
  leave(seen_set(stream, generation), envelope)
  local t = tally(stream, generation)
  t.queued = t.queued - 1
  count_as(t, 'dead', 'host_down', 1)
  buried = buried + 1
  return 1
end

if is_given_up(name) then
  for stream in string.gmatch(h[STREAMS], '[^\n]+') do
    local place = place_of(stream, name)
    local list, ahead = T .. ':q:' .. place, T .. ':early:' .. place
    for _, entry in ipairs(call('LRANGE', list, 0, most - 1)) do give_up(stream, entry) end
    call('LTRIM', list, most, -1)
    local before = call('ZRANGE', ahead, 0, most - 1)
    for _, entry in ipairs(before) do state.ahead = state.ahead - give_up(stream, entry) end
    if #before > 0 then call('ZREMRANGEBYRANK', ahead, 0, #before - 1) end
    if call('EXISTS', list, ahead) == 0 then unfile(name, stream) end
  end
end
save()
return {down_for(name), buried}
