"""Requests whose TLS handshake looks like a browser's."""
