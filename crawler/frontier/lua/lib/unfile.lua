-- Removes a host without work on a stream from its sets.
local function unfile(name, stream)
  local address = address_of(name)
  if address then leave_line(stream, name, address) end
  remove_stream(host(name), stream)
  call('ZREM', T .. ':due:' .. stream, name)
  call('ZREM', T .. ':wait:' .. stream, name)
  call('SREM', T .. ':park:' .. stream, name)
end
