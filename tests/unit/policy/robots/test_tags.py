"""What X-Robots-Tag asks of us."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.policy.robots.tags import NOFOLLOW, NOINDEX, asked


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ([], set()),
        (["nofollow"], {NOFOLLOW}),
        (["NoIndex, NOFOLLOW"], {NOFOLLOW, NOINDEX}),
        (["none"], {NOFOLLOW, NOINDEX}),
        (["noindex", "nofollow"], {NOFOLLOW, NOINDEX}),
        (["googlebot: nofollow"], set()),
        (["shoal: nofollow"], {NOFOLLOW}),
        (["googlebot: noindex, nofollow", "noindex"], {NOINDEX}),
        (["googlebot: noindex, Shoal: nofollow"], {NOFOLLOW}),
        (["noindex, googlebot: nofollow"], {NOINDEX}),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], {NOFOLLOW}),
        (["max-snippet: 5, noindex"], {NOINDEX}),
        (["nofollower, xnoindex"], set()),
    ],
)
def test_each_directive_speaks_to_whom_it_names(values: list[str], found: set[str]) -> None:
    assert asked(values, "shoal") == found


@given(st.lists(st.text(max_size=80), max_size=5), st.text(max_size=10))
def test_nothing_that_a_site_sends_breaks_it(values: list[str], agent: str) -> None:
    assert asked(values, agent) <= {NOFOLLOW, NOINDEX}
