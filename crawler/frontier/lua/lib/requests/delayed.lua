-- Puts delayed entries back into the queues of their hosts: T:delayed, and T:delayed:room for pages whose requests
-- found no room in Redis: queued at their time, or all at once when there is room (recall). Those of cancelled runs are
-- dropped.
local function queue_entries(key, entries)
  for _, entry in ipairs(entries) do
    local ok, stream, name, at = pcall(struct.unpack, DELAYED_FORMAT, entry)
    local member = ok and string.sub(entry, at)
    if ok and #member >= MEMBER_BYTES and pcall(generation_of, member) then
      local id, deliveries, status = struct.unpack(MEMBER_FORMAT, member)
      local generation, priority = generation_of(member), priority_of(member)
      local t, queue = tally(stream, generation), stream_for(stream, deliveries)
      t.delayed = t.delayed - 1
      if is_cancelled(stream, generation) then
        drop_request(id, stream, generation, string.sub(member, ENVELOPE_IN_MEMBER), 'cancelled')
      else
        turn_to(queue, name)
        enqueue(queue, name, status > 0 and retry_score(queue, name, priority) or score_of(priority), member, priority)
        t.queued = t.queued + 1
      end
    else
      set_aside(key .. ' ' .. string.sub(entry, 1, 40), entry)
    end
  end
  if #entries > 0 then call('ZREM', key, unpack(entries)) end
end
