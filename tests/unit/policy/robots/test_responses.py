"""What a robots.txt and the answer to a request for it mean."""

from __future__ import annotations

import codecs
import gzip

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.policy.robots import responses as robots
from crawler.policy.robots.file import RobotsFile
from crawler.policy.robots.responses import RobotsRules, RobotsVerdict

RULES = "User-agent: *\nDisallow: /private\nCrawl-delay: 2\n"


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(200, "rules"), (204, "rules"), (301, "allow"), (304, "later")]
    + [(status, "allow") for status in (400, 401, 403, 404, 410, 418, 451)]
    + [(status, "later") for status in (429, 500, 502, 503, 504, 599)],
)
def test_what_an_answer_means(status: int, verdict: str) -> None:
    assert robots.verdict(status) == verdict


@pytest.mark.parametrize(
    "body",
    [
        RULES.encode(),
        codecs.BOM_UTF8 + RULES.encode(),
        codecs.BOM_UTF16_LE + RULES.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + RULES.encode("utf-16-be"),
        RULES.encode("utf-16-le"),
        RULES.encode("utf-16-be"),
        gzip.compress(RULES.encode()),  # and does not say so
    ],
)
def test_text_in_any_encoding_that_says_what_it_is(body: bytes) -> None:
    assert robots.text(body) == RULES


@pytest.mark.parametrize("body", [b"", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\0\0\0\0", b"\x1f\x8bno gzip"])
def test_what_is_no_text_forbids_nothing(body: bytes) -> None:
    file = RobotsFile(robots.text(body))
    assert file.can_fetch("https://a.example/private", "shoal")
    assert not file.sitemaps


@pytest.mark.parametrize(
    ("body", "is_allowed"),
    [
        (RULES.encode() + b"\0" * 512, False),  # padded to a block's end
        (b"# ours\n\0\n" + RULES.encode(), False),
        (b"User-agent: *\0 ours\r\nDisallow: /private\0/x\r\n", False),
        (b"User-agent: *\nDis\0allow: /private\n", True),
    ],
)
def test_a_nul_ends_what_its_line_says_and_no_other_line(body: bytes, is_allowed: bool) -> None:
    assert RobotsFile(robots.text(body)).can_fetch("https://a.example/private", "shoal") is is_allowed


def test_bytes_that_are_not_utf8_are_written_as_in_urls() -> None:
    assert robots.text(b"Disallow: /caf\xe9/x\n") == "Disallow: /caf%E9/x\n"


@pytest.mark.parametrize("begins", [b"\xef", b"\xef\xbb"])
def test_a_mark_that_lacks_its_end_is_no_part_of_the_first_line(begins: bytes) -> None:
    assert robots.text(begins + RULES.encode()) == RULES


def test_of_a_long_file_the_first_500_kib_count_in_whole_lines() -> None:
    line = b"Disallow: /0123456789/\n"
    lines = robots.text(line * 500_000)
    assert robots.text(gzip.compress(line * 500_000)) == lines
    assert robots.MAX_BYTES - len(line) < len(lines) <= robots.MAX_BYTES
    assert set(lines.splitlines(keepends=True)) == {line.decode()}
    assert len(robots.text(b"x" * 1_000_000)) == robots.MAX_BYTES


def test_the_members_of_a_packed_file_are_one_file_as_far_as_they_can_be_read() -> None:
    line = "Disallow: /0123456789/\n"
    member = gzip.compress(line.encode(), mtime=0)
    assert robots.text(member * 1_000) == line * 1_000
    assert robots.text(member * 2 + b"padding") == line * 2
    assert robots.text(member * 2 + member[:10] + b"\xff" * 90) == line * 2
    assert robots.text(gzip.compress(b"", mtime=0) * robots.MOST_MEMBERS + member) == "", "nobody packs so"


LINES = st.builds(
    "{}: {}\n".format,
    st.sampled_from(["User-agent", "Allow", "Disallow", "Crawl-delay", "Request-rate", "Visit-time", "Sitemap"]),
    st.just("*") | st.text() | st.from_regex(r"[0-9]{1,400}/[0-9]{1,400}[smhd]?", fullmatch=True),
)


@given(st.binary(max_size=2_000) | st.lists(LINES).map(lambda lines: "".join(lines).encode(errors="replace")))
@example(b"User-agent: *\nRequest-rate: 1/" + b"9" * 400)
def test_any_bytes_can_be_read(body: bytes) -> None:
    lines = robots.text(body)
    assert "\0" not in lines
    assert 0 <= robots.robots_rules(RobotsFile(lines), "shoal").delay_seconds <= robots.MAX_DELAY_SECONDS


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nRequest-rate: 1/10s", 10),
        ("User-agent: *\nRequest-rate: 2/1m", 30),
        ("User-agent: *\nCrawl-delay: 1\nRequest-rate: 1/5s", 5),
        ("User-agent: *\nCrawl-delay: 9\nRequest-rate: 1/5s", 9),
        ("User-agent: *\nRequest-rate: 30/1m 0800-1700", 2),
        ("User-agent: *\nRequest-rate: 1/10m 1300-1659\nRequest-rate: 100/24h", 864),
        ("User-agent: *\nRequest-rate: 100/24h\nRequest-rate: 1/10m 1300-1659", 864),
        ("User-agent: *\nCrawl-delay: 86400", 3_600),
        ("User-agent: *\nCrawl-delay: inf", 0),
        ("User-agent: *\nCrawl-delay: nan", 0),
        ("User-agent: *\nCrawl-delay: -3", 0),
        ("User-agent: *\nCrawl-delay: soon", 0),
        ("User-agent: *\nRequest-rate: 0/5", 0),
        ("User-agent: *\nCrawl-delay: 5\n\nUser-agent: shoal\nCrawl-delay: 1", 1),
        ("User-agent: other\nCrawl-delay: 5", 0),
    ],
)
def test_the_longest_of_crawl_delay_and_request_rates(lines: str, seconds: float) -> None:
    assert robots.robots_rules(RobotsFile(lines), "shoal").delay_seconds == seconds


def test_sitemaps_are_found_wherever_they_stand_up_to_a_limit() -> None:
    named = "Sitemap: http://a.example/1.xml\nUser-agent: *\nDisallow: /\nSitemap: http://a.example/2.xml"
    assert robots.robots_rules(RobotsFile(named), "shoal") == RobotsRules(
        0.0, ("http://a.example/1.xml", "http://a.example/2.xml")
    )
    assert (
        len(robots.robots_rules(RobotsFile("Sitemap: http://a.example/s.xml\n" * 500), "shoal").sitemaps)
        == robots.MAX_SITEMAPS
    )


@pytest.mark.parametrize(
    ("failing_for", "wait"), [(0, 60), (59, 60), (120, 120), (7_200, 3_600), (30 * 86_400.0, 3_600)]
)
def test_the_longer_it_fails_the_longer_it_is_left_alone(failing_for: float, wait: float) -> None:
    assert robots.next_try_seconds(failing_for, 60) == wait


def test_the_verdicts_are_stored_by_these_names() -> None:
    assert [each.value for each in RobotsVerdict] == ["rules", "allow", "later"]


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("Request-rate: 1/5s 0900-1730", [(540, 1050)]),
        ("Request-rate: 1/5s 09:00 - 17:30", [(540, 1050)]),
        ("Request-rate: 1/5s 2200-0600", [(1320, 1800)]),
        ("Request rate: 1/5s 0000-2400", [(0, 1440)]),
        ("Request-rate: 1/5s 0900-1200\nRequest-rate: 1/9s 1300-1500", [(540, 720), (780, 900)]),
        ("Request-rate: 1/5s 0900-1200\nRequest-rate: 1/60s", []),  # one holds at any time
        ("Visit-time: 0600-0845\nRequest-rate: 1/5s 0900-1200", [(360, 525)]),
        ("Visit-time: 0600-0845", [(360, 525)]),
        ("Visit-time: 0600-0845 2000-2200", [(360, 525), (1200, 1320)]),
        ("Visit-time: whenever", []),
        ("Visit-time: 0900-0900", []),
        ("Visit-time: 2500-2600", []),
        ("Visit-time: 0961-1030", []),
        ("Request-rate: 1/5s 9am-5pm", []),
        ("Request-rate: 1000/2000", []),
        ("Request-rate: 1/5s 00900-17300", []),
        ("", []),
    ],
)
def test_the_hours_in_which_a_site_may_be_visited(said: str, hours: list[tuple[int, int]]) -> None:
    rules = robots.robots_rules(RobotsFile(f"User-agent: *\n{said}"), "shoal")
    assert list(rules.hours.hours) == hours
