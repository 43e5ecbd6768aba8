#!lua flags=allow-oom
-- ack: these requests are done, their effects are durable.
-- KEYS[1] the shard's tag. ARGV[1] msgpack array of {id, token}.
-- Result: 1 per request, 0 where the token is stale: nothing changes then. O(log in flight) each.
-- include: clock state generations hosts queue leases
local handles = cmsgpack.unpack(ARGV[1])
local result, gone = {}, {}
for i, r in ipairs(lookup(handles)) do
  result[i] = r and not r.gone and 1 or 0
  if result[i] == 1 then
    r.gone = true
    release_unreported(r)
    gone[#gone + 1] = handles[i][1]
    count(r.stream, r.generation, 'leased', -1)
    count(r.stream, r.generation, 'done', 1)
  end
end
forget_leases(gone)
save_all()
return result
