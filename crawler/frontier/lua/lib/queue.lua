-- Queued requests. A host with work on a stream is in exactly one of two sets of that stream:
-- T:wait:<stream> ZSET host -> ms when it may be looked at again   T:due:<stream> ZSET host -> ms due - priority*STEP_MS
-- T:q:<stream>:<host> ZSET member -> ms queued - priority*STEP_MS: urgent first, yet age outweighs any priority in time.
--   member = id (6 bytes, keeps equal scores in order) deliveries (1) last status (2) envelope
--   envelope = priority (2) fingerprint (8) digest and generation (each length-prefixed) body
-- A request that may have killed its worker twice waits on the suspects' stream, '<stream>!'.
-- T:delayed ZSET stream, host (length-prefixed) member -> ms when it is to be queued
local pending = {}

local function lane(stream, deliveries)
  return deliveries >= SUSPECT_DELIVERIES and stream .. '!' or stream
end

local function member_of(id, deliveries, status, envelope)
  return struct.pack('>I6BH', id, deliveries, status) .. envelope
end

local function priority_of(member)
  return (struct.unpack('>h', member, 10))
end

local function generation_of(member)
  local _, at = struct.unpack('>Bc0', member, 20)
  return (struct.unpack('>Bc0', member, at))
end

local function score_of(priority)
  return now - priority * STEP_MS
end

-- Collects; flush_queue writes all members of one host at once.
local function enqueue(stream, name, score, member)
  local of_stream = pending[stream]
  if not of_stream then
    of_stream = {}
    pending[stream] = of_stream
  end
  local batch = of_stream[name]
  if not batch then
    batch = {best = -1000}
    of_stream[name] = batch
  end
  batch[#batch + 1], batch[#batch + 2] = score, member
  batch.best = math.max(batch.best, priority_of(member))
end

local function list(stream, name, h, priority)
  local at = ready_at(h)
  if at <= now then
    call('ZADD', T .. ':due:' .. stream, score_of(priority), name)
  else
    call('ZADD', T .. ':wait:' .. stream, at, name)
  end
end

local function flush_queue()
  for stream, of_stream in pairs(pending) do
    for name, batch in pairs(of_stream) do
      call('ZADD', T .. ':q:' .. stream .. ':' .. name, unpack(batch))
      local h = host(name)
      if h.streams[stream] then
        call('ZADD', T .. ':due:' .. stream, 'XX', 'LT', score_of(batch.best), name)
      else
        touch(name).streams[stream] = 1
        list(stream, name, h, batch.best)
      end
    end
  end
  pending = {}
end

local function delay_until(at, stream, name, member)
  call('ZADD', T .. ':delayed', at, struct.pack('>Bc0Bc0', #stream, stream, #name, name) .. member)
end
