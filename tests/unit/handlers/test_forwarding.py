"""What a browser context's credentials remember of hosts."""

from __future__ import annotations

from crawler.errors import ProxyError
from crawler.handlers.forwarding import MOST_HOSTS, ContextCredentials


def failure() -> Exception:
    try:
        raise ProxyError("proxy") from OSError("refused")
    except ProxyError as error:
        return error


def test_failures_are_told_once_and_hold_on_to_nothing() -> None:
    shown = ContextCredentials(None)
    shown.failed("a.example", 443, failure())
    told = shown.pop_failure("https://a.example/page")
    assert isinstance(told, ProxyError)
    for each in (told, told.__cause__):  # which tells who is to blame
        assert isinstance(each, OSError | ProxyError)
        assert (each.__context__, each.__traceback__) == (None, None)
    assert shown.pop_failure("https://a.example/page") is None


def test_a_page_with_very_many_hosts_takes_no_room() -> None:
    shown = ContextCredentials(None)
    for number in range(2 * MOST_HOSTS):
        shown.failed(f"{number}.example", 80, failure())
        shown.wrote(f"{number}.example", 80)
        assert shown.is_new(f"{number}.example")
        assert not shown.is_new(f"{number}.example")
    assert len(shown._failed) == len(shown._written) == len(shown._refused) == MOST_HOSTS
    assert shown.pop_failure("http://0.example/") is None
    assert shown.pop_failure(f"http://{2 * MOST_HOSTS - 1}.example/") is not None
