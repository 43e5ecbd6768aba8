-- How a host leaves the sets of a stream, and the line of its address.

-- Takes a host without work on a stream, or an address without anybody in its line, off that stream.
local function take_off(stream, name)
  remove_stream(host(name), stream)
  call('ZREM', T .. ':due:' .. stream, name)
  call('ZREM', T .. ':wait:' .. stream, name)
  call('SREM', T .. ':park:' .. stream, name)
end

-- Takes a host out of the line of its address; whether it was in it.
local function leave_line(stream, name, address)
  local line = line_of(stream, address)
  if call('ZREM', line, name) == 0 then return false end
  if call('EXISTS', line) == 0 then take_off(stream, address) end
  return true
end

-- Removes a host without work on a stream from its sets.
local function unfile(name, stream)
  local address = address_of(name)
  if address then leave_line(stream, name, address) end
  take_off(stream, name)
end
