"""The whole product in one command: shops on loopback, two workers, and a score."""
