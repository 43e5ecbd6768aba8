"""What a person reads of a start URL that no request can be made of."""

from __future__ import annotations

from crawler.errors import MessageError
from crawler.frontier.state.seeds import Seed
from crawler.worker.upkeep.seed_reader import MOST_SHOWN, _words


def test_an_error_of_a_spiders_own_names_the_entry() -> None:
    """scrapy-redis' spiders answer a number as form data with an error about bytes, which told nobody what it was."""
    entry = b'{"url": "http://me:secret@a.example/", "q": 1}' + b"x" * MOST_SHOWN
    told = _words(TypeError("to_bytes must receive a str"), Seed(b"", entry))
    assert told.startswith('TypeError: to_bytes must receive a str: no request can be made of \'{"url": ')
    assert '"q": 1' in told
    assert "secret" not in told
    assert len(told) < MOST_SHOWN + 100


def test_an_error_of_ours_says_it_already() -> None:
    assert _words(MessageError("not a URL: 'x'"), Seed(b"", b"x")) == "not a URL: 'x'"
