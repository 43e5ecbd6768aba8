"""All access to Redis: the leased, host-fair, polite queue of the fleet."""
