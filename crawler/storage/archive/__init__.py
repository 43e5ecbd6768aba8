"""Raw pages: written to WARC files, found through an index, re-parsed without a request."""
