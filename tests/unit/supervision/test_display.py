"""The one line of several workers."""

from __future__ import annotations

import io
import logging

import pytest

from crawler.supervision.display import WIDTH, Display, Rate
from tests.clock import Clock


def test_a_terminal_has_the_line_below_the_log() -> None:
    stream = io.BytesIO()
    display = Display(stream, "live", log_is_here=True)
    display.show("x" * 200)
    display.relay(b"a line of a worker\n")
    display.close("done")
    shown = stream.getvalue().decode().replace("\r\x1b[2K", "\n").splitlines()
    assert shown == ["", "x" * WIDTH, "a line of a worker", "x" * WIDTH, "done"]


def test_a_pipe_gets_a_line_at_intervals() -> None:
    clock, stream = Clock(), io.BytesIO()
    display = Display(stream, "plain", log_is_here=True, clock=clock)
    for second in range(25):
        clock.now = second
        if display.due():
            display.show(f"{second} s")
    assert stream.getvalue() == b"0 s\n10 s\n20 s\n"


def test_a_json_log_gets_it_as_a_record(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    stream = io.BytesIO()
    Display(stream, "log", log_is_here=True).show("5 pages")
    assert (caplog.messages, stream.getvalue()) == (["5 pages"], b"")


def test_what_is_wrong_is_said_where_the_log_is_elsewhere(caplog: pytest.LogCaptureFixture) -> None:
    stream = io.BytesIO()
    display = Display(stream, "", log_is_here=False)
    display.show("progress")
    display.note(logging.INFO, "by the way")
    display.note(logging.ERROR, "giving up")
    assert stream.getvalue() == b"giving up\n"
    assert "giving up" in caplog.messages


def test_a_reader_that_went_away_stops_nothing_and_the_log_has_the_rest(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    class Gone(io.BytesIO):
        def write(self, _: object) -> int:
            raise BrokenPipeError

    display = Display(Gone(), "plain", log_is_here=True)
    display.show("a")
    display.relay(b"b\n")
    display.close("c")
    assert not display.due()
    assert caplog.messages == ["c"]


def test_the_rate_is_of_the_last_seconds() -> None:
    rate = Rate()
    assert rate.now == 0
    for second in range(60):
        rate.note(second, 0 if second < 30 else (second - 30) * 7)
    assert rate.now == 7
