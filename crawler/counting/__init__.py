"""What a worker counts, until it is sent or scraped: stats by run, figures of the fleet, times of each step."""
