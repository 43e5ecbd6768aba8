-- Hosts that share an IP address, where a worker crawls with POLITENESS_GROUP = 'ip'. An address has a record among the
-- hosts, ADDRESS and the IP: it is paced like a host, and a request takes a turn and a slot of both. Each host keeps
-- its own queue, so that a host that moves to another address moves nothing but a pointer.
-- T:address HASH host -> ms until which the look-up holds (d), then the name of its address' record; nothing behind the
-- time for a host that stands alone.
-- T:line:<stream>::<address> ZSET host -> as in T:due: hosts whose own turn has come.
-- Such a host is in none of the stream's three sets; the address is in one of them while anybody is in its line.
local located = call('EXISTS', T .. ':address') == 1 and {} -- as read: {the ms, the name or ''}, or false

-- The name of the record of a host's address; nil for a host that stands alone.
local function address_of(name)
  if not located then return nil end
  if located[name] == nil then
    local raw = call('HGET', T .. ':address', name)
    located[name] = raw and #raw >= 8 and {(struct.unpack('<d', raw)), string.sub(raw, 9)} or false
  end
  local at = located[name]
  return at and at[2] ~= '' and at[2] or nil
end

local function line_of(stream, address)
  return T .. ':line:' .. stream .. '::' .. address
end
