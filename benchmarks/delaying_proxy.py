"""`python -m benchmarks.delaying_proxy`: a TCP proxy that delays every byte, in both directions.

SIGUSR1 turns the delay on, SIGUSR2 off, as at the start. Uses threads and sleeps, because timers of an event loop are
rounded to milliseconds.
"""

from __future__ import annotations

import argparse
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue

Parcel = tuple[float, bytes]  # when to pass it on, and its bytes; empty: the end


class Distance:
    """How long each piece travels, in seconds."""

    def __init__(self, seconds: float) -> None:
        self._far = seconds
        self.seconds = 0.0

    def switch(self, number: int, frame: object) -> None:
        """The signals' handler."""
        self.seconds = self._far if number == signal.SIGUSR1 else 0.0


def pump(source: socket.socket, target: socket.socket, distance: Distance) -> None:
    """Pass on what *source* sends to *target*."""
    parcels: SimpleQueue[Parcel] = SimpleQueue()
    threading.Thread(target=deliver, args=(parcels, target), daemon=True).start()
    while data := _receive(source):
        parcels.put((time.monotonic() + distance.seconds, data))
    parcels.put((0.0, b""))


def deliver(parcels: SimpleQueue[Parcel], target: socket.socket) -> None:
    """Send each parcel when due."""
    while True:
        due, data = parcels.get()
        if not data:
            target.close()
            return
        if (wait := due - time.monotonic()) > 0:
            time.sleep(wait)
        try:
            target.sendall(data)
        except OSError:  # the other side is gone
            return


def _receive(source: socket.socket) -> bytes:
    try:
        return source.recv(262_144)
    except OSError:
        return b""


def serve(server: socket.socket, port: int, distance: Distance) -> None:
    """Until killed."""
    while True:
        near, _ = server.accept()
        far = socket.create_connection(("127.0.0.1", port))
        for one, other in ((near, far), (far, near)):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=pump, args=(one, other, distance), daemon=True).start()


def main() -> int:
    """Listen on a free port and write it down."""
    parser = argparse.ArgumentParser(prog="benchmarks.delaying_proxy")
    parser.add_argument("--to", type=int, required=True, help="port on 127.0.0.1")
    parser.add_argument("--seconds", type=float, required=True, help="in each direction")
    parser.add_argument("--port-file", type=Path, required=True)
    given = parser.parse_args()
    distance = Distance(given.seconds)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, distance.switch)
    with socket.create_server(("127.0.0.1", 0)) as server:
        given.port_file.write_text(str(server.getsockname()[1]))
        serve(server, given.to, distance)
    return 0


if __name__ == "__main__":
    sys.exit(main())
