"""A disk that is full, and then not."""

from __future__ import annotations

import asyncio
import logging

import pytest

from crawler.storage import disk_room
from crawler.storage.disk_room import DiskRoom


async def test_what_is_waited_for_is_said_once_however_often_it_takes_and_refuses(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(disk_room, "STEADY_SECONDS", 0.0)
    room = DiskRoom(lambda: None, "the spool")
    with caplog.at_level(logging.WARNING):
        room.taken()
        for _ in range(3):
            room.refused("the disk is full")
            room.taken()
        assert room.reason
        [line] = caplog.messages
        assert line == "The disk takes what goes to the spool again; once it has for 0 s, leasing may resume"
        while room.reason:  # noqa: ASYNC110 - a timer of the loop clears it
            await asyncio.sleep(0)
        room.refused("the disk is full")
        room.taken()
    assert len(caplog.messages) == 2
    room.forget()
