"""What a worker does beside its pages: renew leases, read start URLs, keep runs, tiers and budgets up to date."""
