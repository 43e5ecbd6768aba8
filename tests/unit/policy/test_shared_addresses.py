"""Which addresses stand for one machine."""

from __future__ import annotations

import pytest

from crawler.policy.shared_addresses import SharedAddresses
from tests.shipped import shipped

OURS = SharedAddresses.from_settings(shipped(POLITENESS_CDN_NETWORKS="198.51.100.0/24, 2001:db8::/32"))


@pytest.mark.parametrize(
    ("found", "names"),
    [
        ([], ()),
        (["23.227.38.65"], ("23.227.38.65",)),  # a shop platform's
        (["203.0.113.9", "192.0.2.10", "203.0.113.9"], ("192.0.2.10", "203.0.113.9")),
        (["2a0a::1", "203.0.113.9"], ("203.0.113.9", "2a0a::1")),
        (["::ffff:203.0.113.9"], ("203.0.113.9",)),
        (["fe80::1%eth0"], ("fe80::1",)),
        (["104.16.1.1"], ()),
        (["203.0.113.9", "151.101.1.1"], ()),
        (["2606:4700::1"], ()),
        (["13.33.0.1"], ()),
        (["198.51.100.7"], ()),
        (["2001:db8::7"], ()),
    ],
)
def test_hosts_of_a_cdn_stand_alone(found: list[str], names: tuple[str, ...]) -> None:
    assert OURS.of(found) == names
