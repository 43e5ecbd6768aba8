-- Fencing: what a leader writes that was replaced meanwhile is refused, however long it was frozen in between.
local function leads(token)
  return tonumber(token) == tonumber(call('HGET', T .. ':leader', 'token'))
end
