"""From an item to its document: made storable, batched, written as one update that only newer states pass."""
