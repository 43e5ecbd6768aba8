-- The envelope with another priority and body.
local function changed(envelope, priority, body)
  local _, at = struct.unpack('>Bc0', envelope, 11)
  _, at = struct.unpack('>Bc0', envelope, at)
  return struct.pack('>h', priority) .. string.sub(envelope, 3, at - 1) .. body
end

-- The whole envelope of a leased request, rewritten if the script was given a body; false where it is missing.
local function rewritten(id, priority, body)
  local envelope = whole(id, call('HGET', T .. ':body', id))
  return envelope and body and changed(envelope, priority, body) or envelope
end
