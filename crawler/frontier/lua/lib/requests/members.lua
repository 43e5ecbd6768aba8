-- The format of a queued request:
--   entry    = score (8) member, in the queue of its host
--   member   = id (6 bytes, keeps equal scores in order) deliveries (1) last status (2) envelope
--   envelope = priority (2) fingerprint (8) digest and generation (each length-prefixed) body
-- A delayed one has its stream and host (each length-prefixed) in place of the score.
local ENTRY_FORMAT, ENTRY_BYTES = '>dI6BHhxxxxxxxxBc0Bc0', 29 -- without the fingerprint and the body; the least length
local MEMBER_FORMAT, MEMBER_BYTES = '>I6BH', 21 -- without the envelope; the least length
local DELAYED_FORMAT = '>Bc0Bc0' -- without the member
local MEMBER_AT, ENVELOPE_AT, ENVELOPE_IN_MEMBER = 9, 18, 10 -- in an entry, in an entry, in a member
local function member_of(id, deliveries, status, envelope)
  return struct.pack(MEMBER_FORMAT, id, deliveries, status) .. envelope
end

local function priority_of(member)
  return (struct.unpack('>h', member, ENVELOPE_IN_MEMBER))
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
