"""What this worker sends to the frontier, in the order that loses nothing."""
