-- Fencing: writes of a leader that has been replaced are refused, however long it was frozen.
local function leads(token)
  return tonumber(token) == tonumber(call('HGET', T .. ':leader', 'token'))
end
