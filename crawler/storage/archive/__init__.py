"""Raw pages: WARC files written as they come, found again through an index, parsed again without a request."""
