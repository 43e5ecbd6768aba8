-- The format of a queued request:
--   entry    = score (8) member, in the queue of its host
--   member   = id (6 bytes, keeps equal scores in order) deliveries (1) last status (2) envelope
--   envelope = priority (2) fingerprint (8) digest and generation (each length-prefixed) body
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

-- The envelope in another generation.
local function in_generation(envelope, generation)
  local _, at = struct.unpack('>Bc0', envelope, 11)
  local _, behind = struct.unpack('>Bc0', envelope, at)
  return string.sub(envelope, 1, at - 1) .. struct.pack('>Bc0', #generation, generation) .. string.sub(envelope, behind)
end
