"""What a response or an exception means for its request: its class, whether it is retried, and how it ends."""
