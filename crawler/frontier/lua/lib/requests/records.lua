-- Leased requests. T:infl HASH id -> record, T:body HASH id -> envelope, T:lease ZSET id -> ms when it expires.
--   TOKEN      of this lease                                  RESERVED    the host's NEXT that it set
--   SCORE      its place in the queue, if it goes back        START_BY    it must be sent by then
--   STARTED    ms when it was charged, or 0                   RELEASED    1: the host has its slot back
--   HOST, STREAM, GENERATION, then (at REST) the worker
-- In Lua it is an array (the cheapest table) after the raw value, read as r[TOKEN].
-- Its format is in lib/damage, which reads records where this part is missing.
-- A record without a stream is a slot alone (see reserve_slot): it paces a request that is not in the queue.
local TOKEN, SCORE, RESERVED, START_BY, STARTED, DELIVERIES, RELEASED, STATUS = 2, 3, 4, 5, 6, 7, 8, 9
local HOST, STREAM, GENERATION, REST = 10, 11, 12, 13
local NAMES_FORMAT = 'Bc0Bc0Bc0Bc0'
local NAMES_AT = 45 -- after the head
local STALE, DONE = 0, 1 -- result of a call on a lease; STALE: it has another holder now, nothing changes

-- A token is a whole number: what else has one's length is none, even where it can be unpacked.
local function if_whole(raw, ok, token, ...)
  return ok and token % 1 == 0 and {raw, token, ...}
end

-- False for an invalid record.
local function read_record(raw)
  return if_whole(raw, pcall(struct.unpack, RECORD_FORMAT, raw))
end

local function write_record(r)
  return struct.pack(HEAD_FORMAT, unpack(r, TOKEN, STATUS)) .. string.sub(r[1], NAMES_AT)
end

local function names_of(name, stream, generation, worker)
  return struct.pack(NAMES_FORMAT, #name, name, #stream, stream, #generation, generation, #worker, worker)
end

local function worker_of(r)
  return (struct.unpack('Bc0', r[1], r[REST]))
end

-- The records of ids with these tokens; false if a token is stale. A lease named twice has one record.
local function lookup(ids, tokens)
  local records, known = {}, {}
  if #ids == 0 then return records end
  records = call('HMGET', T .. ':infl', unpack(ids))
  for i, raw in ipairs(records) do
    if raw then
      local id = ids[i]
      local r = known[id]
      if r == nil then
        r = read_record(raw)
        if not r then set_aside(T .. ':infl ' .. id, raw) end
        known[id] = r
      end
      records[i] = r and r[TOKEN] == tokens[i] and r
    end
  end
  return records
end

-- The records and ids of rows that start with id and token (d, d): ARGV[first...].
local function lookup_rows(first)
  local ids, tokens = {}, {}
  for i = first, #ARGV do
    ids[i - first + 1], tokens[i - first + 1] = struct.unpack('<dd', ARGV[i])
  end
  return lookup(ids, tokens), ids
end

-- The envelope of a leased request; false where it is missing, or cut short and set aside.
local function whole(id, envelope)
  if not envelope or pcall(struct.unpack, 'Bc0Bc0', envelope, 11) then return envelope end
  set_aside(T .. ':body ' .. id, envelope)
  return false
end

local changed_records, ended = {}, {}

-- Deletes a record at the end of the script; a later row that names it finds it stale.
local function end_lease(id, r)
  r[TOKEN], changed_records[id] = false, nil
  ended[#ended + 1] = id
end

local function forget_leases(ids)
  if #ids == 0 then return end
  call('HDEL', T .. ':infl', unpack(ids))
  call('HDEL', T .. ':body', unpack(ids))
  call('ZREM', T .. ':lease', unpack(ids))
end

local function save_records()
  local rows, count = {}, 0
  for id, r in pairs(changed_records) do
    rows[count + 1], rows[count + 2] = id, write_record(r)
    count = count + 2
  end
  if count > 0 then call('HSET', T .. ':infl', unpack(rows)) end
  forget_leases(ended)
end

-- The request with id ARGV[1] and token ARGV[2]; nothing if that is stale or only a slot.
local function held()
  local raw = call('HGET', T .. ':infl', ARGV[1])
  local r = raw and read_record(raw)
  if r and r[STREAM] ~= '' and r[TOKEN] == tonumber(ARGV[2]) then return ARGV[1], r end
end
