"""Fixtures that clean up what the tests of the bundled servers start and kill."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawler.embedded import record
from crawler.embedded.service import VALKEY
from crawler.errors import ServiceError
from tests.integration.embedded.users import User


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    """A data directory whose servers are stopped after the test."""
    yield tmp_path
    for name in ("redis", "mongodb"):
        said = record.read(tmp_path / name)
        if said:
            said.supervisor.send(signal.SIGKILL)


@pytest.fixture
def use(data_dir: Path) -> Iterator[Callable[..., User]]:
    """Start users of `data_dir`; they are killed when the test ends."""
    try:
        VALKEY.find_program()
    except ServiceError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    users: list[User] = []

    def start(**options: object) -> User:
        users.append(User(data_dir, **options))
        return users[-1]

    yield start
    for user in users:
        user.process.kill()
        user.close()
