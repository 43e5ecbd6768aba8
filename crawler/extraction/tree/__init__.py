"""A page as its readers use it: `Document`, parsed once, and what is asked of any element."""
