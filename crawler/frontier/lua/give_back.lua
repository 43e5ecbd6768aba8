#!lua flags=allow-oom
-- give_back: return leases unused, to the place in the queue they had, uncharged.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of {id, token}.
-- Result: 1 per request, 0 where the token is stale. O(log queue) each.
-- include: clock state generations hosts queue leases
local handles = cmsgpack.unpack(ARGV[1])
local result, gone = {}, {}
for i, r in ipairs(lookup(handles)) do
  result[i] = r and not r.gone and 1 or 0
  if result[i] == 1 then
    r.gone = true
    local id = handles[i][1]
    release_unreported(r)
    gone[#gone + 1] = id
    if r.stream ~= '' then
      local deliveries = r.started > 0 and r.deliveries - 1 or r.deliveries
      requeue(id, r, deliveries, call('HGET', T .. ':body', id))
    end
  end
end
forget_leases(gone)
save_all()
return result
