"""From a lease to the end of its request: leased ahead, held, followed, judged."""
