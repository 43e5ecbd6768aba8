-- Removes a host without work on a stream from its sets.
local function unfile(name, stream)
  local address = address_of(name)
  if address then leave_line(stream, name, address) end
  take_off(stream, name)
end
