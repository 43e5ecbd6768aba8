"""Stored documents read back: for exports, histories and figures of quality."""
