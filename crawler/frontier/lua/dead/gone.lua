#!lua flags=allow-oom
-- gone: a request is done because its site refuses the page for good; it is kept to be listed and retried.
-- KEYS[1]  the shard's tag
-- ARGV[1]  id
-- ARGV[2]  token
-- ARGV[3]  reason
-- ARGV[4]  detail (msgpack, opaque here)
-- Result: DONE or STALE. O(log gone).
-- include: clock damage state tally dead_again hosts addresses records lose release seen dead
local id, r = held()
if not r then return STALE end
release_unreported(r)
local envelope = whole(id, call('HGET', T .. ':body', id))
local set, t = seen_set(r[STREAM], r[GENERATION]), tally(r[STREAM], r[GENERATION])
if envelope then
  leave(set, envelope, now)
  t.leased, t.done, t.gone = t.leased - 1, t.done + 1, t.gone + 1
  keep_letter('gone', id, r, envelope, ARGV[3], ARGV[4])
else
  lose(id, r)
end
forget_leases({id})
save()
return DONE
