"""pytest-xdist's workers as forks of one process that has imported the tests: once, and not once in each of them.

`python -m tests.preloaded PATHS -u -c LINE` stands for the interpreter that pytest-xdist starts for each worker, one
after the other. The first one forks the process that imports what pytest is to run, PATHS. Each hands its standard
streams to it, for a fork that runs LINE, and ends with that fork.

What a module asks at its import about its process (its pid, which worker it is) is therefore answered for another one.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from _pytest.pathlib import import_path

from crawler.supervision import children

STREAMS = 3


def main() -> str:
    """Returns in a worker, with the line that it is to run, and in nobody else."""
    *paths, _, _, line = sys.argv[1:]
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the workers
    address = f"\0preloaded-{os.getppid()}"  # of no file: there is nothing to clean up
    with _open() as server:
        if _is_first(server, address) and os.fork() == 0:
            _serve(server, paths)
            signal.signal(signal.SIGINT, interrupted)
            sys.argv = ["-c"]
            return line
    with _open() as asking:
        asking.connect(address)
        socket.send_fds(asking, [b"fork"], range(STREAMS))
        asking.recv(1)  # nothing, once the worker has ended
    sys.exit()


def _open() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def _is_first(server: socket.socket, address: str) -> bool:
    try:
        server.bind(address)
    except OSError:
        return False
    server.listen()
    return True


def _serve(server: socket.socket, paths: Sequence[str]) -> None:
    """Import, and fork for each that asks; returns in the forks. It ends with who has started it."""
    children.die_with(os.getppid())
    _use([os.open(os.devnull, os.O_RDWR) for _ in range(2)])  # its starter's are a worker's way to pytest
    pytest.main(["-p", "no:cacheprovider", *paths], [Importing()])
    _read_constants()
    gc.freeze()
    while True:
        asking, _ = server.accept()
        _, streams, _, _ = socket.recv_fds(asking, 16, STREAMS)
        if os.fork() == 0:
            asking.detach()  # it stays open for as long as the worker lives
            return _use(streams)
        for one in (asking.detach(), *streams):
            os.close(one)


def _read_constants() -> None:
    """Hypothesis reads them in the source of all that is imported, which takes seconds in a new checkout."""
    from hypothesis.internal.conjecture.providers import _get_local_constants  # pytest has to rewrite it first

    _get_local_constants()


def _use(streams: Sequence[int]) -> None:
    for number, one in enumerate(streams):
        os.dup2(one, number)
        os.close(one)


class Importing:
    """Of pytest's collection the imports alone: what is made of modules differs from worker to worker."""

    def pytest_collection(self, session: pytest.Session) -> bool:
        """In place of pytest's."""
        for path in _modules(session.config.args):
            before = set(sys.modules)
            try:
                import_path(path, mode="importlib", root=session.config.rootpath, consider_namespace_packages=False)
            except BaseException:  # noqa: BLE001 - the workers try again, and tell
                for name in set(sys.modules) - before:
                    del sys.modules[name]
        return True


def _modules(arguments: Sequence[str]) -> Iterator[Path]:
    for argument in arguments:
        path = Path(argument.partition("::")[0]).resolve()
        yield from [path] if path.is_file() else sorted([*path.rglob("conftest.py"), *path.rglob("test_*.py")])


if __name__ == "__main__":
    exec(main())
