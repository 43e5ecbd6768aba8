"""The product of a page or a feed: the sources by their rank, each field from the first good value."""
