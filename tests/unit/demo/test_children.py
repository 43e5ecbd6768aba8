"""Children end with the demo: politely at first, by force in the end."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from demo.children import Child, Family, stop


def wait_for(child: Child, text: str) -> None:
    deadline = time.monotonic() + 60
    while text not in child.tail():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_child_that_ends_tells_its_status_and_last_words(scripts: Path) -> None:
    with Family(scripts / "logs") as family:
        child = family.start("short", "short")

        assert child.wait(60) == 3
        assert child.tail(2) == "28\n29"
        assert child.log == scripts / "logs" / "short.log"


def test_leaving_the_family_ends_everybody(scripts: Path) -> None:
    with Family(scripts / "logs") as family:
        child = family.start("polite", "polite")
        wait_for(child, "here")
        assert child.status is None

    assert child.status == -signal.SIGTERM


def test_an_error_inside_ends_everybody_too(scripts: Path) -> None:
    children: list[Child] = []

    def interrupted() -> None:
        with Family(scripts / "logs") as family:
            children.append(family.start("polite", "polite"))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert children[0].status is not None


def test_who_does_not_listen_is_killed_and_named(scripts: Path) -> None:
    with Family(scripts / "logs") as family:
        deaf, polite = family.start("deaf", "deaf"), family.start("polite", "polite")
        wait_for(deaf, "deaf")

        assert stop([deaf, polite], seconds=2) == [deaf]
        assert deaf.status == -signal.SIGKILL
