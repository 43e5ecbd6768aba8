"""Permission to send one request now, and what its answer tells the frontier about the host."""
