-- What is in flight. T:infl HASH id -> record, T:body HASH id -> envelope, T:lease ZSET id -> ms when it expires.
--   token      of this lease                                  reserved    what it put into the host's next
--   score      its place in the queue, should it go back      start_by    it must be on the wire by then
--   started    ms when it was charged, or 0                   released    1: the host has its slot back
-- A record without a stream is a slot alone (see take): it paces a request that is not in the queue.
local RECORD = '>dddddBBHBc0Bc0Bc0Bc0'

local function write_record(r)
  return struct.pack(RECORD, r.token, r.score, r.reserved, r.start_by, r.started, r.deliveries, r.released,
    r.status, #r.stream, r.stream, #r.host, r.host, #r.generation, r.generation, #r.worker, r.worker)
end

local function read_record(raw)
  local token, score, reserved, start_by, started, deliveries, released, status, stream, name, generation, worker =
    struct.unpack(RECORD, raw)
  return {
    token = token, score = score, reserved = reserved, start_by = start_by, started = started,
    deliveries = deliveries, released = released, status = status, stream = stream, host = name,
    generation = generation, worker = worker, settled = false,
  }
end

-- The records of ARGV[first], id and token followed by others up to `width` values each; false where the token is
-- stale. A lease named twice gives one record. Also returns the ids.
local function lookup(first, width)
  local ids, records, known = {}, {}, {}
  for i = first, #ARGV, width do ids[#ids + 1] = ARGV[i] end
  if #ids == 0 then return records, ids end
  for i, raw in ipairs(call('HMGET', T .. ':infl', unpack(ids))) do
    local r = known[ids[i]] or raw and read_record(raw)
    known[ids[i]] = r
    records[i] = r and r.token == tonumber(ARGV[first + (i - 1) * width + 1]) and r
  end
  return records, ids
end

-- The request of ARGV[1], its id, under the token ARGV[2]; nothing when that is stale or names a slot alone.
local function held()
  local raw = call('HGET', T .. ':infl', ARGV[1])
  local r = raw and read_record(raw)
  if r and r.stream ~= '' and r.token == tonumber(ARGV[2]) then return ARGV[1], r end
end

-- Gives the host its slot back, once. wire: ms when the request went out, nil when it never did.
-- Only the latest reservation may be lowered: a later one belongs to another request.
local function release(r, wire)
  if r.released == 1 then return end
  r.released = 1
  local h = host(r.host)
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

-- Deliveries without the one that ends in an orderly way.
local function uncharged(r)
  return r.started > 0 and r.deliveries - 1 or r.deliveries
end

local function forget_leases(ids)
  if #ids == 0 then return end
  call('HDEL', T .. ':infl', unpack(ids))
  call('HDEL', T .. ':body', unpack(ids))
  call('ZREM', T .. ':lease', unpack(ids))
end

local function requeue(id, r, deliveries, envelope)
  local member = member_of(id, deliveries, r.status, envelope)
  enqueue(lane(r.stream, deliveries), r.host, r.score, member, priority_of(member))
  local t = tally(r.stream, r.generation)
  t.leased, t.queued = t.leased - 1, t.queued + 1
end

local function save_all()
  flush_queue()
  save_hosts()
  save_tallies()
  save_state()
end
