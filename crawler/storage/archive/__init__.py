"""Raw pages: written to WARC files, found through an index, parsed again without a request."""
