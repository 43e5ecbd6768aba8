-- How a host leaves the line of its address, and how that line ends.

-- Takes an address without anybody in its line off a stream.
local function end_line(stream, address)
  remove_stream(host(address), stream)
  call('ZREM', T .. ':due:' .. stream, address)
  call('ZREM', T .. ':wait:' .. stream, address)
  call('SREM', T .. ':park:' .. stream, address)
end

-- Takes a host out of the line of its address; whether it was in it.
local function leave_line(stream, name, address)
  local line = line_of(stream, address)
  if call('ZREM', line, name) == 0 then return false end
  if call('EXISTS', line) == 0 then end_line(stream, address) end
  return true
end
