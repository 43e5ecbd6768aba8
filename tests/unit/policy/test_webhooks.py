"""How webhooks are signed, and when they are tried again."""

from __future__ import annotations

import hashlib
import hmac
import json

from hypothesis import given
from hypothesis import strategies as st

from crawler.policy import webhooks


def test_a_receiver_can_check_the_signature_with_its_standard_library() -> None:
    content = webhooks.body("finished", "1-0", {"id": "20261122-1"})
    headers = webhooks.headers("s3cret", 1_700_000_000, "1-0", content)
    expected = hmac.new(b"s3cret", b"1700000000." + content, hashlib.sha256).hexdigest()
    assert headers["X-Shoal-Signature"] == f"sha256={expected}"
    assert json.loads(content) == {"event": "run.finished", "delivery": "1-0", "run": {"id": "20261122-1"}}
    assert webhooks.signature("s3cret", 1_700_000_001, content) != expected
    assert "X-Shoal-Signature" not in webhooks.headers("", 1, "1-0", content)


@given(st.integers(0, 10_000))
def test_waits_grow_and_are_bounded(tries: int) -> None:
    assert webhooks.FIRST_WAIT_MS <= webhooks.wait_ms(tries) <= webhooks.wait_ms(tries + 1) <= webhooks.LONGEST_WAIT_MS


def test_a_run_fails_by_its_share_once_enough_has_ended() -> None:
    assert webhooks.is_failing(10, 10, 0.5)
    assert not webhooks.is_failing(11, 10, 0.5)
    assert not webhooks.is_failing(0, 19, 0.1)
    assert not webhooks.is_failing(0, 1_000, 0)
