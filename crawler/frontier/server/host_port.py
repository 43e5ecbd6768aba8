"""Hosts and ports in URLs that name several."""

from __future__ import annotations


def host_and_port(text: str, port: int) -> tuple[str, int]:
    """Host and port of *text* (`host`, `host:7000`, `[::1]:7000`), *port* if it has none. Raises ValueError."""
    host, colon, given = text.rpartition(":") if not text.endswith("]") else (text, "", "")
    if not colon:
        host, given = text, str(port)
    if not host.strip("[]") or not given.isdecimal() or not 0 < int(given) < 65_536:
        raise ValueError("each host is a name or an address, and perhaps a port from 1 to 65535")
    return host.strip("[]"), int(given)
