"""What is wrong with an item, how complete it is, and whether it can be told from others."""
