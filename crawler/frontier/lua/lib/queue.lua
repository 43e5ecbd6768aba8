-- Queued requests. A host with work on a stream is in exactly one of two sets of that stream:
-- T:wait:<stream> ZSET host -> ms when it may be looked at again   T:due:<stream> ZSET host -> ms due - priority*STEP_MS
-- T:q:<stream>:<host> ZSET member -> ms queued - priority*STEP_MS: urgent first, yet age outweighs any priority in time.
-- A request that may have killed its worker twice waits on the suspects' stream, '<stream>!'.
-- T:delayed ZSET stream, host (each length-prefixed) member -> ms when it is to be queued
local run = {count = 0, best = 0} -- consecutive members of one host are written at once

local function lane(stream, deliveries)
  return deliveries >= SUSPECT_DELIVERIES and stream .. '!' or stream
end

local function flush_queue()
  if run.count == 0 then return end
  local stream, name, h = run.stream, run.host, host(run.host)
  call('ZADD', T .. ':q:' .. stream .. ':' .. name, unpack(run, 1, run.count))
  if string.sub(stream, -1) == '!' then state.suspects = state.suspects + run.count / 2 end
  run.count = 0
  if not has_stream(h, stream) then
    h[LEAD] = h[STREAMS] == '' and run.best or math.max(h[LEAD], run.best)
    h[STREAMS] = h[STREAMS] .. '\n' .. stream .. '\n'
    local at = ready_at(h)
    if at <= now then
      call('ZADD', T .. ':due:' .. stream, score_of(run.best), name)
    else
      call('ZADD', T .. ':wait:' .. stream, at, name)
    end
  elseif run.best > h[LEAD] then -- brings the host forward, if it is due already
    h[LEAD] = run.best
    call('ZADD', T .. ':due:' .. stream, 'XX', 'LT', score_of(run.best), name)
  end
end

-- Ends the run of another host or stream, so that this host's streams are known.
local function turn_to(stream, name)
  if run.count > 0 and (run.host ~= name or run.stream ~= stream) then flush_queue() end
end

local function enqueue(stream, name, score, member, priority)
  turn_to(stream, name)
  local count = run.count
  if count == 0 then run.stream, run.host, run.best = stream, name, priority end
  run[count + 1], run[count + 2] = score, member
  run.count = count + 2
  if priority > run.best then run.best = priority end
end

local function delay_until(at, stream, name, member)
  wake_at(at)
  call('ZADD', T .. ':delayed', at, struct.pack('>Bc0Bc0', #stream, stream, #name, name) .. member)
end
