"""Which addresses may be dialled, in every spelling."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import ConfigError
from crawler.policy.address_guard import AddressPolicy, literal

POLICY = AddressPolicy()

REFUSED = {
    "loopback": ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1"],
    "private": [
        "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "fc00::1", "fd12:3456::1", "::ffff:10.0.0.1",
        "64:ff9b::10.0.0.1",
    ],
    "cloud metadata": [
        "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254",
        "fd20:ce::254", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe",
    ],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.1.1"],
    "site-local": ["fec0::1"],
    "carrier-grade NAT": ["100.64.0.1", "100.127.255.254", "::ffff:100.64.0.1"],
    "unspecified": ["0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"],
    "benchmarking": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "6to4 relay": ["192.88.99.1"],
    "multicast": ["224.0.0.1", "239.255.255.250", "ff02::1", "::ffff:224.0.0.1"],
    "broadcast": ["255.255.255.255"],
    "reserved": ["192.0.0.1", "240.0.0.1", "2001:10::1", "100::1", "4000::1", "5f00::1", "::1:0:0:0"],
    "IPv4-compatible": ["::7f00:1", "::8.8.8.8"],
    "IPv4-translated": ["::ffff:0:127.0.0.1"],
    "local NAT64": ["64:ff9b:1::7f00:1"],
    "6to4": ["2002:7f00:1::", "2002:a9fe:a9fe::1"],
    "Teredo": ["2001:0:4136:e378:8000:63bf:80ff:fffe"],
    "ISATAP": ["2a00::5efe:7f00:1", "2a00::200:5efe:a9fe:a9fe"],
}  # fmt: skip
PUBLIC = [
    "8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1", "198.17.255.255",
    "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
]  # fmt: skip
SPELLINGS = {
    "127.0.0.1": [
        "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0X7F000001", "017700000001",
        "0x7f.0.0.1", "0177.0.0.1", "0x7f.1", "127.0x0.0.01", "00000177.0.0.1", "１２７.0.0.1", "127。0。0。1",
        "127．0．0．1", "①②⑦.0.0.1", "0x7F.0x0.0x0.0x1",
    ],
    "169.254.169.254": ["2852039166", "0xa9fea9fe", "0xA9.0xFE.0xA9.0xFE", "0251.0376.0251.0376", "169.254.43518"],
    "0.0.0.0": ["0", "0x", "0.0", "00.0x0"],
    "::1": ["::1", "[::1]", "0:0:0:0:0:0:0:1", "[0000::0001]"],
    "fe80::1": ["fe80::1%eth0", "[fe80::1%25eth0]"],
}  # fmt: skip


@pytest.mark.parametrize(("ip", "reason"), [(ip, reason) for reason, ips in REFUSED.items() for ip in ips])
def test_what_is_not_the_public_internet_is_refused_by_name(ip: str, reason: str) -> None:
    assert POLICY.refusal(ip_address(ip)) == reason


@pytest.mark.parametrize("ip", PUBLIC)
def test_the_public_internet_is_open(ip: str) -> None:
    assert POLICY.refusal(ip_address(ip)) is None


@pytest.mark.parametrize(("text", "ip"), [(text, ip) for ip, texts in SPELLINGS.items() for text in texts])
def test_every_spelling_of_an_address_is_that_address(text: str, ip: str) -> None:
    assert literal(text) == ip_address(ip)


@pytest.mark.parametrize(
    "host", ["example.com", "localhost", "a1.example", "0x7f.example", "1.example", "", "xn--bcher-kva.example"]
)
def test_a_name_is_no_address(host: str) -> None:
    assert literal(host) is None


@pytest.mark.parametrize(
    "host",
    [
        "256.0.0.1",
        "127.0.0.0.1",
        "1.2.3.256",
        "08.0.0.1",
        "4294967296",
        "example.1",
        "1..2",
        "0x7f.0xg.1.1",
        "[::g]",
        "-1.2",
    ],
)
def test_what_ends_in_a_number_and_is_no_address_is_refused(host: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        literal(host)


@pytest.mark.parametrize("value", ["127.0.0.0/8, ::1/128", ["127.0.0.0/8", "::1/128"], ("127.0.0.0/8", "::1")])
def test_allowed_networks_win_in_every_form_of_an_address(value: object) -> None:
    policy = AddressPolicy.from_settings({"GUARD_ALLOWED_NETWORKS": value})

    assert [policy.refusal(ip_address(ip)) for ip in ("127.9.9.9", "::ffff:127.0.0.1", "::1")] == [None, None, None]
    assert policy.refusal(ip_address("10.0.0.1")) == "private"


@pytest.mark.parametrize("value", ["", None, [], " , "])
def test_nothing_is_allowed_by_default(value: object) -> None:
    assert AddressPolicy.from_settings({"GUARD_ALLOWED_NETWORKS": value}) == POLICY


@pytest.mark.parametrize("value", ["localhost", "127.0.0.1/8", "10.0.0.0/33", 5, ["::1", "x"]])
def test_what_is_no_network_is_refused_by_name(value: object) -> None:
    with pytest.raises(ConfigError, match=r"GUARD_ALLOWED_NETWORKS.*10\.1\.0\.0/16"):
        AddressPolicy.from_settings({"GUARD_ALLOWED_NETWORKS": value})


@given(st.ip_addresses(v=4))
def test_an_address_in_another_is_judged_as_itself(ip: IPv4Address) -> None:
    mapped = IPv6Address(0xFFFF << 32 | int(ip))
    assert POLICY.refusal(mapped) == POLICY.refusal(ip)


@given(st.ip_addresses())
def test_nothing_that_python_calls_local_passes(ip: IPv4Address | IPv6Address) -> None:
    if POLICY.refusal(ip) is None and not (isinstance(ip, IPv6Address) and int(ip) >> 32 in {0xFFFF, 0x64FF9B << 64}):
        assert ip.is_global
        assert not ip.is_multicast


@given(st.ip_addresses(v=4), st.sampled_from([hex, oct, str]))
def test_a_number_in_any_base_is_its_address(ip: IPv4Address, base: type) -> None:
    assert literal(base(int(ip)).replace("0o", "0")) == ip


@given(st.text(max_size=30))
def test_a_host_is_a_name_an_address_or_refused(host: str) -> None:
    try:
        found = literal(host)
    except ValueError:
        return
    assert found is None or POLICY.refusal(found) in {None, *REFUSED}
