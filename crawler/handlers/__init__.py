"""Download handlers: fetchers, each whole, and the address guard wherever they dial."""
