-- What is in flight. T:infl HASH id -> record, T:body HASH id -> envelope, T:lease ZSET id -> ms when it expires.
-- A record without a stream is a slot alone (see take): it paces a request that is not in the queue.
local RECORD = '>dddddBBHBc0Bc0Bc0Bc0'

local function write_record(r)
  return struct.pack(RECORD, r.token, r.score, r.reserved, r.start_by, r.started, r.deliveries, r.released,
    r.status, #r.stream, r.stream, #r.host, r.host, #r.generation, r.generation, #r.worker, r.worker)
end

local function read_record(raw)
  local r = {}
  r.token, r.score, r.reserved, r.start_by, r.started, r.deliveries, r.released, r.status,
    r.stream, r.host, r.generation, r.worker = struct.unpack(RECORD, raw)
  return r
end

-- The records of handles {{id, token}, ...}; false where the token is stale. A handle named twice gives one record.
local function lookup(handles)
  local ids, records, known = {}, {}, {}
  for i, handle in ipairs(handles) do ids[i] = handle[1] end
  if #ids == 0 then return records end
  for i, raw in ipairs(call('HMGET', T .. ':infl', unpack(ids))) do
    local r = known[ids[i]] or raw and read_record(raw)
    known[ids[i]] = r
    records[i] = r and r.token == handles[i][2] and r or false
  end
  return records
end

-- Gives the host its slot back, once. wire: ms when the request went out, nil when it never did.
-- Only the latest reservation may be lowered: a later one belongs to another request.
local function release(r, wire)
  if r.released == 1 then return end
  r.released = 1
  local h = touch(r.host)
  unsettled[r.host] = true
  h.inflight = h.inflight - 1
  if h.next == r.reserved then
    h.next = wire and wire + h.delay or now
  elseif wire then
    h.next = math.max(h.next, wire + h.delay)
  end
end

-- A request that ends without a report: if it was started, it may be leaving the worker this very moment.
local function release_unreported(r)
  release(r, r.started > 0 and now or nil)
end

local function forget_leases(ids)
  if #ids == 0 then return end
  call('HDEL', T .. ':infl', unpack(ids))
  call('HDEL', T .. ':body', unpack(ids))
  call('ZREM', T .. ':lease', unpack(ids))
end

local function requeue(id, r, deliveries, envelope)
  enqueue(lane(r.stream, deliveries), r.host, r.score, member_of(id, deliveries, r.status, envelope))
  count(r.stream, r.generation, 'leased', -1)
  count(r.stream, r.generation, 'queued', 1)
end

local function save_all()
  flush_queue()
  save_hosts()
  save_counters()
  save_state()
end
