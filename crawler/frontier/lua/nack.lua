#!lua flags=allow-oom
-- nack: try a request again later, under the same id, its deliveries kept and this one's charge taken back when the
-- worker survived it (a retry is no crash).
-- KEYS[1] the shard's tag. ARGV[1] id, ARGV[2] token, ARGV[3] delay ms, ARGV[4] new body or '', ARGV[5] '1' if new body.
-- Result: 1, or 0 when the token is stale. O(log delayed).
-- include: clock state generations hosts queue leases
local id = tonumber(ARGV[1])
local r = lookup({{id, tonumber(ARGV[2])}})[1]
if not r then return 0 end
local delay = tonumber(ARGV[3])
local envelope = call('HGET', T .. ':body', id)
if ARGV[5] == '1' then
  local _, at = struct.unpack('>Bc0', envelope, 11)
  _, at = struct.unpack('>Bc0', envelope, at)
  envelope = string.sub(envelope, 1, at - 1) .. ARGV[4]
end
release_unreported(r)
local deliveries = r.started > 0 and r.deliveries - 1 or r.deliveries
if delay > 0 then
  delay_until(now + delay, r.stream, r.host, member_of(id, deliveries, r.status, envelope))
  count(r.stream, r.generation, 'leased', -1)
  count(r.stream, r.generation, 'delayed', 1)
else
  r.score = score_of((struct.unpack('>h', envelope)))
  requeue(id, r, deliveries, envelope)
end
count(r.stream, r.generation, 'nacked', 1)
forget_leases({id})
save_all()
return 1
