"""Real `scrapy` processes without the seconds of loading: each is a fork of one that has loaded everything.

`python -m tests.zygote FD` serves those that connect to a listening socket, until the last of them has left. A request
brings the module to run if it is not Scrapy's command, the arguments, the environment and the directory as JSON, and as
file descriptors standard input, output and error, and a socket that is told the process id and, at its end, the exit
status.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from scrapy import cmdline
from scrapy.utils.misc import walk_modules_iter

from crawler.supervision import children
from tests import warm

PROJECT_DIR = Path(__file__).resolve().parent.parent
REQUEST_BYTES = 1 << 20
BACKLOG = 64
CLOSE_SECONDS = 60.0
LOADED = (
    "crawler",
    "scrapy.commands",
    "scrapy.core.engine",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.downloadermiddlewares",
    "scrapy.exporters",
    "scrapy.extensions",
    "scrapy.loader",
    "scrapy.pqueues",
    "scrapy.spidermiddlewares",
    "scrapy.squeues",
    "scrapy_poet.injection",
    "twisted.conch.telnet",
    "uvloop",
)
_ended: list[int] = []  # the exit status of a forked process, once it has one


class Zygote:
    """The loaded process; forks on demand. All that give the same *name* share one, which ends when the last of them
    has closed it."""

    def __init__(self, name: str = "") -> None:
        self.name = name or uuid.uuid4().hex
        self._address = f"\0zygote-{self.name}"  # of no file: there is nothing to clean up
        self._process: subprocess.Popen[bytes] | None = None
        self._join()

    def wait(self) -> None:
        """Until it has loaded everything. One that was just about to end is started anew."""
        while not self._is_loaded():
            assert self._process is None, "what scrapy processes are forked from has ended: see its standard error"
            self._control.close()
            self._join()

    def _join(self) -> None:
        self._control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            try:
                listener.bind(self._address)
            except OSError:  # somebody has started it
                with suppress(ConnectionError):  # it does not listen yet, or no more
                    self._control.connect(self._address)
                return
            listener.listen(BACKLOG)
            self._control.connect(self._address)  # before it is there: it ends without us
            command = [sys.executable, "-W", "ignore:The scrapy.", "-m", "tests.zygote", str(listener.fileno())]
            self._process = subprocess.Popen(command, cwd=PROJECT_DIR, pass_fds=[listener.fileno()])

    def _is_loaded(self) -> bool:
        with suppress(OSError):
            return bool(self._control.recv(16))
        return False

    def fork(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        text: str = "",
        terminal: int | None = None,
        log: Path | None = None,
        module: str = "",
    ) -> Forked:
        """Start `scrapy`, or `python -m` *module*, with *arguments*, and *text* on its standard input, or at a
        *terminal*. With a *log*, where all that it says goes, it is the first of a session and dies with the zygote,
        as children.spawn has it."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # who reads late reads one by one
        files: list[Any] = [tempfile.TemporaryFile("w+") for _ in range(1 if log else 3)]  # noqa: SIM115 - Forked.close()
        if log:
            files += [log.open("w+")] * 2
        files[0].write(text)
        files[0].seek(0)
        given: dict[str, Any] = {"module": module, "arguments": list(arguments), "env": dict(env), "cwd": str(cwd)}
        given["apart"] = log is not None
        request = json.dumps(given).encode()
        with theirs, files[0]:
            stdin, stdout, stderr = (file.fileno() for file in files)
            if terminal is not None:
                stdin = stdout = terminal
            socket.send_fds(self._control, [request], [stdin, stdout, stderr, theirs.fileno()])
        return Forked(arguments, ours, files[1], files[2])

    def close(self) -> None:
        """Return when it has ended, or is left to others."""
        self._control.close()
        if self._process is not None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_SECONDS)


class Forked:
    """What tests need of subprocess.Popen."""

    def __init__(self, arguments: Sequence[str], keeper: socket.socket, stdout: Any, stderr: Any) -> None:
        self.arguments = list(arguments)
        self.returncode: int | None = None
        self._keeper = keeper
        self._stdout = stdout
        self._stderr = stderr
        told = keeper.recv(16)
        assert told, "what scrapy processes are forked from has ended: see its standard error"
        self.pid = int(told)

    def poll(self) -> int | None:
        """The exit status, None while it runs."""
        if self.returncode is None and select.select([self._keeper], [], [], 0)[0]:
            self.returncode = int(self._keeper.recv(16))
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended; raises TimeoutExpired."""
        if self.returncode is None and not select.select([self._keeper], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.arguments, timeout or 0, self._read(self._stdout), self.log)
        status = self.poll()
        assert status is not None
        return status

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Standard output and error, once it has ended."""
        self.wait(timeout)
        return self._read(self._stdout), self.log

    @property
    def log(self) -> str:
        """Standard error so far."""
        return self._read(self._stderr)

    @property
    def output(self) -> str:
        """Standard output so far."""
        return self._read(self._stdout)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def close(self) -> None:
        """Kill it if it still runs."""
        self.kill()
        self.wait()
        for file in (self._keeper, self._stdout, self._stderr):
            file.close()

    def _read(self, file: Any) -> str:
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode()


def serve(listener: socket.socket) -> str:
    """Fork for each request; returns in each child, with the module that it is to run, and never in the zygote."""
    ended, end = _ends_of_children()
    controls: list[socket.socket] = []  # of all that share it
    askers: dict[int, socket.socket] = {}  # by process: who is told of its end
    while True:
        awaited: list[Any] = [ended, listener, *controls]
        ready, _, _ = select.select(awaited, [], [])
        if ended in ready:
            os.read(ended, REQUEST_BYTES)
            _report_exits(askers)
        if listener in ready:
            controls.append(_accepted(listener))
        for control in [one for one in controls if one in ready]:
            message, files = _received(control)
            if not message:
                controls.remove(control)
                control.close()
                continue
            asker = socket.socket(fileno=files.pop())
            child = os.fork()
            if child == 0:
                _forget((ended, end), listener, asker, *controls, *askers.values())
                return _become(json.loads(message), files)
            for file in files:
                os.close(file)
            asker.send(b"%d" % child)
            askers[child] = asker
        if not controls:
            os._exit(0)


def _accepted(listener: socket.socket) -> socket.socket:
    control, _ = listener.accept()
    with suppress(OSError):  # who asks has ended before this one was loaded
        control.send(b"loaded")
    return control


def _received(control: socket.socket) -> tuple[bytes, list[int]]:
    """A request and its files; an empty one once who asks has left."""
    try:
        message, files, _, _ = socket.recv_fds(control, REQUEST_BYTES, 4)
    except ConnectionResetError:  # before it read that this one is loaded
        return b"", []
    return message, list(files)


def _ends_of_children() -> tuple[int, int]:
    """A pipe in which there is something to read once a child has ended."""
    ended, end = os.pipe()
    os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(end)
    return ended, end


def _report_exits(askers: dict[int, socket.socket]) -> None:
    while askers and (child := (ended := os.waitpid(-1, os.WNOHANG))[0]):
        with askers.pop(child) as asker, suppress(OSError):  # who does not listen any more
            asker.send(b"%d" % os.waitstatus_to_exitcode(ended[1]))


def _forget(pipe: tuple[int, int], *sockets: socket.socket) -> None:
    """In a child: what is the zygote's own."""
    signal.set_wakeup_fd(-1)
    for one_end in pipe:
        os.close(one_end)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for one in sockets:
        one.close()


def _become(request: dict[str, Any], files: list[int]) -> str:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    if request["apart"]:
        os.setsid()
        children.die_with(os.getppid())
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    sys.argv = [request["module"] or "scrapy", *request["arguments"]]
    sys.orig_argv = ["python", *sys.argv]
    return str(request["module"])


def _leave() -> None:
    """Without taking down the interpreter, which costs a tenth of a second; threads have been waited for."""
    if _ended:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_ended[0])


def main() -> None:
    atexit.register(_leave)  # the first one is called last
    for name in LOADED:
        list(walk_modules_iter(name))
    from tests.forking import fork_reparse_workers  # loads what comes in its order above

    assert "twisted.internet.reactor" not in sys.modules
    warm.build_scripts()
    warm.find_commands()
    warm.set_levels_faster()
    warm.copy_settings_faster()
    fork_reparse_workers()
    warm.read_metadata()
    warm.read_pages()
    warm.read_sources()
    assert "settings.base" not in sys.modules  # it reads the environment
    gc.freeze()
    module = serve(socket.socket(fileno=int(sys.argv[1])))
    try:
        if module:
            runpy.run_module(module, run_name="__main__")
            _ended.append(0)
        else:
            cmdline.execute()
    except SystemExit as end:
        _ended.append(end.code if isinstance(end.code, int) else bool(end.code))
        raise


if __name__ == "__main__":
    main()
