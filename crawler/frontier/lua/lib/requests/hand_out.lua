-- Leases of this call: each gets a token and a record (see lib/records), all are written at once.
local leased, rows, names_behind = 0, {}, {}
local records, bodies, expiries = {}, {}, {}

-- The part of a record after the host, built once for all requests of a stream and generation.
local function after_host(base, generation, worker)
  local key = base .. ':' .. generation
  local names = names_behind[key] or string.sub(names_of('', base, generation, worker), 2)
  names_behind[key] = names
  return names
end

local function hand_out(base, name, entry, reserved, worker)
  local score, id, deliveries, status, _, _, generation = struct.unpack(ENTRY_FORMAT, entry)
  local envelope, at = string.sub(entry, ENVELOPE_AT), 2 * leased
  leased = leased + 1
  state.token = math.max(state.token + 1, now * 1024) -- never one issued before the server lost its last second
  local record = struct.pack(HEAD_FORMAT, state.token, score, reserved, now + START_MS, 0, deliveries, 0, status)
    .. string.char(#name) .. name .. after_host(base, generation, worker)
  records[at + 1], records[at + 2] = id, record
  bodies[at + 1], bodies[at + 2] = id, envelope
  expiries[at + 1], expiries[at + 2] = now + LEASE_MS, id
  rows[#rows + 1], rows[#rows + 2], rows[#rows + 3] = id, record, envelope
  local t = tally(base, generation)
  t.queued, t.leased = t.queued - 1, t.leased + 1
end

local function write_leases()
  if leased == 0 then return end
  call('HSET', T .. ':infl', unpack(records))
  call('HSET', T .. ':body', unpack(bodies))
  call('ZADD', T .. ':lease', unpack(expiries))
  wake_at(now + LEASE_MS)
end
