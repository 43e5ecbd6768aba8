-- Queued requests. A host with work on a stream is in exactly one of three sets of that stream:
-- T:due:<stream> ZSET host -> ms due - priority*STEP_MS
-- T:wait:<stream> ZSET host -> ms when it may be checked again
-- T:park:<stream> SET of the hosts at their cap: refiled when a slot is freed
-- T:q:<place> LIST of entries ordered by score (ms queued - priority*STEP_MS) and id: urgent first, but in time age
-- outweighs any priority. T:early:<place> ZSET entry -> score takes entries that belong before the end of the list;
-- state.ahead counts them. The ends of a list are O(1), a ZSET is O(log n): one request of low priority at the end of
-- the list sends later ones to the ZSET until time has caught up with it.
-- Requests that may have killed their worker twice are on the suspects' stream, '<stream>!'.
-- T:delayed, T:delayed:room (see delayed) ZSET stream, host (each length-prefixed) member -> ms when it is to be queued
local run = {count = 0, best = 0} -- consecutive entries of one host are written at once

local function stream_for(stream, deliveries)
  return deliveries >= SUSPECT_DELIVERIES and stream .. '!' or stream
end

-- Files a host that had no work on this stream.
local function file_new(stream, name, h, priority)
  if is_full(h) then return call('SADD', T .. ':park:' .. stream, name) end
  local at = ready_at(h)
  if at <= now then return call('ZADD', T .. ':due:' .. stream, score_of(priority), name) end
  call('ZADD', T .. ':wait:' .. stream, look_at(h, at), name)
end

local function write_run(stream, name)
  local place = place_of(stream, name)
  local last, last_id = -math.huge, 0
  local tail = call('LINDEX', T .. ':q:' .. place, -1)
  if tail and #tail >= 14 then last, last_id = struct.unpack('>dI6', tail) end
  local queued, ahead = {}, {}
  for i = 1, run.count do
    local score, id = struct.unpack('>dI6', run[i])
    if score > last or (score == last and id > last_id) then
      queued[#queued + 1], last, last_id = run[i], score, id
    else
      ahead[#ahead + 1], ahead[#ahead + 2] = score, run[i]
    end
  end
  if #queued > 0 then call('RPUSH', T .. ':q:' .. place, unpack(queued)) end
  if #ahead > 0 then
    call('ZADD', T .. ':early:' .. place, unpack(ahead))
    state.ahead = state.ahead + #ahead / 2
  end
end

-- The same for a host that waits for its address, and for that.
local function hasten_in_line(stream, name, address, priority)
  call('ZADD', T .. ':line:' .. stream .. '::' .. address, 'XX', 'LT', score_of(priority), name)
  local a = host(address)
  if priority <= a[LEAD] then return end
  a[LEAD] = priority
  call('ZADD', T .. ':due:' .. stream, 'XX', 'LT', score_of(priority), address)
end

local function save_queue()
  if run.count == 0 then return end
  local stream, name, h = run.stream, run.host, host(run.host)
  write_run(stream, name)
  if string.sub(stream, -1) == '!' then state.suspects = state.suspects + run.count end
  run.count = 0
  if not has_stream(h, stream) then
    h[LEAD] = h[STREAMS] == '' and run.best or math.max(h[LEAD], run.best)
    h[STREAMS] = h[STREAMS] .. '\n' .. stream .. '\n'
    file_new(stream, name, h, run.best)
  elseif run.best > h[LEAD] then -- brings the host forward if it is due already
    h[LEAD] = run.best
    call('ZADD', T .. ':due:' .. stream, 'XX', 'LT', score_of(run.best), name)
    local address = address_of(name)
    if address then hasten_in_line(stream, name, address, run.best) end
  end
end

-- Flushes the entries of another host or stream, so that this host's streams are up to date.
local function turn_to(stream, name)
  if run.count > 0 and (run.host ~= name or run.stream ~= stream) then save_queue() end
end

local function enqueue(stream, name, score, member, priority)
  turn_to(stream, name)
  local count = run.count + 1
  if count == 1 then run.stream, run.host, run.best = stream, name, priority end
  run[count], run.count = struct.pack('>d', score) .. member, count
  if priority > run.best then run.best = priority end
end

-- The score of a retry: beside the first in its host's queue, or a host's retries would all wait behind its new
-- requests.
local function retry_score(stream, name, priority)
  local place = place_of(stream, name)
  local head = call('LINDEX', T .. ':q:' .. place, 0)
  local ahead = state.ahead > 0 and call('ZRANGE', T .. ':early:' .. place, 0, 0)[1]
  if ahead and (not head or ahead < head) then head = ahead end
  for i = 1, run.stream == stream and run.host == name and run.count or 0 do -- not written yet
    if not head or run[i] < head then head = run[i] end
  end
  if not head or #head < ENTRY_BYTES then return score_of(priority) end -- invalid: lease sets it aside
  local queued = struct.unpack('>d', head) + priority_of(string.sub(head, MEMBER_AT)) * STEP_MS
  return math.min(now, queued) - priority * STEP_MS
end

local function delay_until(at, stream, name, member, kind)
  wake_at(at)
  call('ZADD', T .. (kind or ':delayed'), at, struct.pack(DELAYED_FORMAT, #stream, stream, #name, name) .. member)
end
