-- What is in flight. T:infl HASH id -> record, T:body HASH id -> envelope, T:lease ZSET id -> ms when it expires.
--   TOKEN      of this lease                                  RESERVED    what it put into the host's next
--   SCORE      its place in the queue, should it go back      START_BY    it must be on the wire by then
--   STARTED    ms when it was charged, or 0                   RELEASED    1: the host has its slot back
-- A record without a stream is a slot alone (see take): it paces a request that is not in the queue.
local TOKEN, SCORE, RESERVED, START_BY, STARTED, DELIVERIES, RELEASED, STATUS = 1, 2, 3, 4, 5, 6, 7, 8
local HOST, STREAM, GENERATION, WORKER, NAMES = 9, 10, 11, 12, 13 -- NAMES: the four as they are stored
local RECORD_HEAD = '>dddddBBH'
local RECORD_FORMAT = '>dddddBBHBc0Bc0Bc0Bc0'
local NAMES_AT = 45 -- behind the head

local function read_record(raw)
  local r = {struct.unpack(RECORD_FORMAT, raw)}
  r[NAMES] = string.sub(raw, NAMES_AT)
  return r
end

local function write_record(r)
  return struct.pack(RECORD_HEAD, unpack(r, TOKEN, STATUS)) .. r[NAMES]
end

-- The records of ids under the tokens; false where the token is stale. A lease named twice gives one record.
local function lookup(ids, tokens)
  local records, known = {}, {}
  if #ids == 0 then return records end
  for i, raw in ipairs(call('HMGET', T .. ':infl', unpack(ids))) do
    local r = known[ids[i]] or raw and read_record(raw)
    known[ids[i]] = r
    records[i] = r and r[TOKEN] == tonumber(tokens[i]) and r
  end
  return records
end

-- ARGV[first...]: ids, then as many tokens.
local function lookup_handles(first)
  local count = (#ARGV - first + 1) / 2
  local ids = {unpack(ARGV, first, first + count - 1)}
  return lookup(ids, {unpack(ARGV, first + count)}), ids
end

-- The request of ARGV[1], its id, under the token ARGV[2]; nothing when that is stale or names a slot alone.
local function held()
  local raw = call('HGET', T .. ':infl', ARGV[1])
  local r = raw and read_record(raw)
  if r and r[STREAM] ~= '' and r[TOKEN] == tonumber(ARGV[2]) then return ARGV[1], r end
end
