#!lua flags=allow-oom
-- host_down: a host's circuit breaker opened; where it has been open for a whole term, what is queued there is given
-- up.
-- KEYS[1]  the shard's tag
-- ARGV[1]  host
-- ARGV[2]  ms of a term
-- ARGV[3]  most requests per queue
-- ARGV[4]  detail (msgpack)
-- T:down:<host> STRING ms when it opened first; host_up deletes it, and so does a retry of its dead letters.
-- Result: {ms since it opened first, requests made dead letters}. O(log dead) per request.
-- include: clock damage state tally hosts members records seen dead
local key, name, most, buried = T .. ':down:' .. ARGV[1], ARGV[1], tonumber(ARGV[3]), 0
local head = struct.pack(HEAD_FORMAT, 0, 0, 0, 0, 0, 0, 0, 0)
call('SET', key, now, 'NX')
call('PEXPIRE', key, 2 * (tonumber(ARGV[2]) + BREAKER_MAX_MS))
local down = now - tonumber(call('GET', key))

local function give_up(stream, entry)
  local id, deliveries, status = struct.unpack('>I6BH', entry, 9)
  local generation = generation_of(string.sub(entry, 9))
  local envelope = string.sub(entry, 18)
  local r = read_record(head .. names_of(name, stream, generation, ''))
  r[DELIVERIES], r[STATUS] = deliveries, status
  keep_letter('dead', id, r, envelope, 'host_down', ARGV[4])
  leave(seen_set(stream, generation), envelope)
  local t = tally(stream, generation)
  t.queued, t.dead = t.queued - 1, t.dead + 1
  buried = buried + 1
end

if down >= tonumber(ARGV[2]) then
  for stream in string.gmatch(host(name)[STREAMS], '[^\n]+') do
    if string.sub(stream, -1) ~= '!' then
      local place = place_of(stream, name)
      local list, early = T .. ':q:' .. place, T .. ':early:' .. place
      for _, entry in ipairs(call('LRANGE', list, 0, most - 1)) do give_up(stream, entry) end
      call('LTRIM', list, most, -1)
      local before = call('ZRANGE', early, 0, most - 1)
      for _, entry in ipairs(before) do give_up(stream, entry) end
      if #before > 0 then
        call('ZREMRANGEBYRANK', early, 0, #before - 1)
        state.early = state.early - #before
      end
    end
  end
end
save()
return {down, buried}
