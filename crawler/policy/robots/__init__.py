"""robots.txt and its like: what a response means, what the file says, which URLs it allows."""
