-- What is lost to damage was counted somewhere: in a generation that has some left, or in none. What was counted in the
-- wrong one is put right by sweep, once nothing of that kind is left.
local function lose_one(stream, field)
  for _, name in ipairs(generation_names()) do
    local of, generation = string.match(name, '^(.*):(.*)$')
    if stream == '' or of == stream then
      local t = tally(of, generation)
      if (tonumber(call('HGET', T .. ':gen:' .. name, field) or nil) or 0) + t[field] > 0 then
        t[field] = t[field] - 1
        return count_as(t, 'dropped', 'damaged', 1)
      end
    end
  end
end
