#!lua flags=allow-oom
-- gone: a request is done, because its site refuses the page for good; it is kept to be listed and retried.
-- KEYS[1] the shard's tag. ARGV[1] id, ARGV[2] token, ARGV[3] reason, ARGV[4] detail (msgpack, opaque here).
-- Result: 1, or 0 when the token is stale. O(log gone).
-- include: clock damage state tally hosts records lose release seen dead
local id, r = held()
if not r then return 0 end
release_unreported(r)
local envelope, set, t = call('HGET', T .. ':body', id), seen_set(r[STREAM], r[GENERATION]), tally(r[STREAM], r[GENERATION])
if envelope then
  leave(set, envelope, now)
  t.leased, t.done = t.leased - 1, t.done + 1
  keep_letter('gone', id, r, envelope, ARGV[3], ARGV[4])
else
  lose(id, r)
end
forget_leases({id})
save_seen()
save_hosts()
save_tallies()
save_state()
return 1
