-- In `window` mode a dropped request is no longer live.
in_window.leave = function(stream, generation, envelope)
  leave(seen_set(stream, generation), envelope)
end
