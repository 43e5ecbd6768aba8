-- In `window` mode a request that was dropped is live no longer.
in_window.leave = function(stream, generation, envelope)
  leave(seen_set(stream, generation), envelope)
end
