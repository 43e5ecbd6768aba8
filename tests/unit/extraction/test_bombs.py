"""Any page of up to 1 MB costs at most a second of CPU and 300 MB, and about half of that when it is half as long.

`make bombs` tries the whole corpus at both sizes. Here: a tenth of it at full size, at half of it those that took
longer than nobody asks about.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from html import escape
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extraction import Document, extract_page, extract_product, links
from crawler.extraction.source import tame
from crawler.extraction.source.nesting import MAX_DEPTH
from crawler.extraction.source.tame import MAX_ATTRIBUTES, MAX_NAMES, tamed
from crawler.policy.blocks import detection, shells
from tests.effort import cpu_seconds
from tests.unit.extraction.bombs import BOMBS, COPIED, HIDDEN, Bomb

URL: Final = "https://shop.example.com/lamps/lamp-12345"
SIZE: Final = 1_000_000  # characters
SECONDS: Final = {"products": 1.0, "blocks": 1.0, "pages": 1.0}  # of CPU, on the machine of tests/effort.py
ENOUGH: Final = 0.5  # half of what each reader may take: up to there nobody asks for more
MEGABYTES: Final = 300


ALL: Final = os.environ.get("BOMBS") == "all"  # `make bombs`
TRIED: Final = {name: build for at, (name, build) in enumerate(BOMBS.items()) if ALL or at < 8 or at % 20 == 0}


def blocked(html: str, url: str) -> Any:
    """What is asked of every answer before a spider sees it."""
    body = html.encode("utf-8", "surrogatepass")
    return detection.detect(403, {}, body, url), shells.is_shell(body)


def shopped(html: str, url: str) -> Any:
    """What the spider `products` asks of a page."""
    document = Document(html, url)
    return extract_product(document, url), links(document, url)


def read_whole(html: str, url: str) -> Any:
    """What the spider `pages` asks of a page, at most."""
    return extract_page(html, url, links=True, images=True)


READERS: Final[dict[str, Callable[[str, str], Any]]] = {"products": shopped, "blocks": blocked, "pages": read_whole}
OF_LINKS: Final = "links of /"  # what `pages` does not look at


def measure(reader: str) -> None:
    """Print for each bomb, as JSON: its name, CPU seconds at full and half size, MB at full size, the exception if
    any."""
    read = READERS[reader]
    read("<title>A lamp</title><h1>A lamp</h1><p>Posted 2020-01-02. Some text.<a href=/p/1>x</a>", URL)
    for name, build in TRIED.items():
        if reader == "pages" and name.startswith(OF_LINKS):
            continue
        print(json.dumps([name, *costs(read, build, both=ALL)]), flush=True)


def costs(read: Callable[[str, str], Any], build: Bomb, *, both: bool) -> tuple[float, float, int, str]:
    """(CPU seconds at full size, at half of it, MB, exception). Without *both*, no half where the whole is fast enough
    to have grown from anything."""
    half, _, error = cost(read, build(SIZE // 2)) if both else (0.0, 0, "")
    whole, memory, other = cost(read, build(SIZE)) if half < 5 else (99.0, 0, "")
    if not both and whole > ENOUGH:
        half, _, error = cost(read, build(SIZE // 2))
    return whole, half, memory, error or other


def cost(read: Callable[[str, str], Any], html: str) -> tuple[float, int, str]:
    """(CPU seconds, MB, exception)."""
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    before, errors = _peak(), [""]

    def once() -> None:
        try:
            read(html, URL)
        except Exception as raised:  # noqa: BLE001 - the parent names it
            errors.append(repr(raised)[:200])

    seconds = cpu_seconds(once, ENOUGH)
    return seconds, (_peak() - before) // 1024, errors[-1]


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
@pytest.mark.timeout(600)
@pytest.mark.parametrize("reader", READERS)
def test_bombs_do_not_go_off(reader: str) -> None:
    """All of them in one process with memory for only a few pages."""
    limits = "import resource as r; r.setrlimit(r.RLIMIT_AS, (3 << 30, 3 << 30)); r.setrlimit(r.RLIMIT_CPU, (200, 200))"
    program = f"{limits}; from tests.unit.extraction import test_bombs; test_bombs.measure({reader!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    expected = [name for name in TRIED if reader != "pages" or not name.startswith(OF_LINKS)]
    assert [name for name, *_ in measured] == expected, done.stderr[-2_000:]
    wrong = [
        each
        for each in measured
        for _, whole, half, memory, error in [each]
        if error
        or max(whole, half) > SECONDS[reader]
        or memory > MEGABYTES
        or whole > max(SECONDS[reader] / 2, 3.5 * half)
    ]
    assert not wrong, "name, seconds, seconds of the half, MB, error"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads the peak of memory from /proc")
@pytest.mark.parametrize("name", COPIED)
@pytest.mark.parametrize("size", [200_000, 400_000])
def test_a_page_of_any_size_takes_little_memory(name: str, size: int) -> None:
    _, memory, error = cost(lambda html, url: Document(html, url).tree, COPIED[name](size))
    assert (memory <= MEGABYTES, error) == (True, ""), memory


PIECES = st.sampled_from(
    """<b• <i•id= <font•color= <b> </b> <a•href=/p/1> </a> <p> </p> <div> </div> <table> <td> </table> <form> </form>
    <span> </span> <option> <select> <svg> <body• <html• > " ' = / • x <li> <h1> <template> </template> <button>
    <script> </script> <!-- --> </nav> <path> <!--</div>-->""".replace("\n", " ").split(" ")
).map(lambda piece: piece.replace("•", " "))


@given(st.lists(PIECES, min_size=1, max_size=6), st.lists(PIECES, min_size=1, max_size=4), st.lists(PIECES, max_size=4))
def test_no_repetition_of_pieces_goes_off(first: list[str], second: list[str], third: list[str]) -> None:
    """Some of this, then much of that, with numbers in between: what most bombs are made of."""
    numbered = "".join(f"{''.join(first)}{n} " for n in range(600))
    html = f"{numbered}{''.join(second) * 1_500}{''.join(third) * 500}"
    assert cpu_seconds(lambda: shopped(html, URL), 1.0) < 1.0


@pytest.mark.parametrize(
    "html",
    [
        "<p>" * 30_000,
        "<b>bold</b> and <i class=x>italic</i> " * 20_000,
        "<div><span>x</div>" * 12_000,
        "<table><tr><td><b>x</b></td></tr></table>" * 5_000,
        "<p><a href='/p/1'>x</a><font color=red>y</font></p>" * 10_000,
        "<script>" + "x = 1; " * 10_000 + "</script><a b=1 c='2' d=\"3\" e f/>",
        "<ul>" + "<li><a href=#>x</a>" * 30_000,
        ("<pre><code>" + "<span class=k>x</span> = <span>y</span>\n" * 90 + "</code></pre>") * 200,
        ("<table><col><tr><td><code>" + "<span class=k><b>x</b></span>" * 90 + "</code></table>") * 200,
        "<p><b>a <abbr><span>b</span></abbr><br>c<br>d<br>e<br>f<br>g<br></b>" * 4_000,
        "<i class=far><svg role='img'><use href='/icons.svg?v=1#user'></use></svg></i><p>x</p>" * 3_000,
        "<p><b style='a:b'><span lang=EN>x<o:p></o:p></span></b></p><b><a href='/p?a=b&c=d'>x</a></b>" * 3_000,
        f"<p {' '.join(f'a{n}' for n in range(400))}>" * 30,
    ],
)
def test_an_ordinary_page_is_left_as_it_is(html: str) -> None:
    page = html.encode()
    assert tamed(page) is page


@pytest.mark.parametrize("name", HIDDEN)
def test_names_that_hide_are_few_wherever_samples_are_taken(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = HIDDEN[name](SIZE // 2).encode()
    for first in (0, 9_000, 31_000):
        _sample(monkeypatch, partial(min, first))
        assert len(_names_of(tamed(page))) <= 1.2 * MAX_NAMES, first


def test_what_nests_is_found_among_what_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    _sample(monkeypatch, Random(1).randrange)
    page = (b"<section>" * 50 + b"<li>x<br>" * 300) * 300
    assert MAX_DEPTH / 2 < tamed(page).count(b"<section>") <= 2 * MAX_DEPTH


@pytest.mark.parametrize("name", [name for name in BOMBS if name.startswith("attributes behind <svg>")])
def test_attributes_in_svg_hide_behind_nothing(name: str) -> None:
    tags = LexborHTMLParser(tamed(BOMBS[name](SIZE // 4).encode())).css("*")
    assert max(len(tag.attributes) for tag in tags) <= MAX_ATTRIBUTES


def test_data_in_an_attribute_is_not_taken_for_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """To read all tags takes longer than parsing, and many shops write their variants so."""
    _sample(monkeypatch, lambda _: tame.EVERY // 2)
    monkeypatch.delattr("crawler.extraction.source.tokens.without_foreign")  # who reads all tags begins with it
    sizes = [{"id": n, "size": f"{n} cm", "url": f"https://shop.example.com/{n}"} for n in range(500)]
    variants = escape(json.dumps(sizes, separators=(",", ":")).replace("/", r"\/"))
    assert variants[tame.EVERY // 2 :].count("/") > tame.RUN
    page = f'<form data-variants="{variants}">{"<p class=x>A text.</p>" * 9_000}</form>'.encode()
    assert tamed(page) == page


@pytest.mark.parametrize("size", [120_000, 240_000, 480_000, SIZE])
def test_many_attributes_are_found_in_pages_of_all_sizes(size: int) -> None:
    tags = LexborHTMLParser(tamed(BOMBS["attributes"](size).encode())).css("*")
    assert max(len(tag.attributes) for tag in tags) <= MAX_ATTRIBUTES


@pytest.mark.parametrize(("size", "times"), [(SIZE // 4, 4), (SIZE // 2, 2), (SIZE, 1)])
def test_what_is_left_of_attributes_does_no_harm(size: int, times: int) -> None:
    """In each tag as many as no sample can tell, which may begin with its "<" and name."""
    tag = f"<a {' '.join(f'{n:x}' for n in range(times * tame.RUN - 2))}>"
    page = (tag * (size // len(tag))).encode()
    assert tamed(page) == page
    assert cpu_seconds(lambda: LexborHTMLParser(page), ENOUGH) < 1.5 * ENOUGH  # .37 to .47 s on a slow machine


@pytest.mark.parametrize("piece", ["<div\v></div>", "<title\v></b a=b c=d e=f>some text"])
def test_a_vertical_tab_hides_nothing(piece: str) -> None:
    """To a regular expression it is a space, to a parser a part of the name."""
    html = piece * (SIZE // 4 // len(piece))
    seconds, memory, error = cost(lambda html, url: Document(html, url).tree, html)
    assert (seconds < ENOUGH, memory <= MEGABYTES, error) == (True, True, "")


@pytest.mark.parametrize("piece", [b"x", b"<a" + b"x" * 3_000])
def test_each_sample_of_a_page_without_spaces_is_short(piece: bytes) -> None:
    page = piece * (4_000_000 // len(piece))
    assert cpu_seconds(lambda: tamed(page), 0.7) < 0.7


def _sample(monkeypatch: pytest.MonkeyPatch, place: Callable[[int], int]) -> None:
    for room in ("tame", "nesting"):
        monkeypatch.setattr(f"crawler.extraction.source.{room}.randrange", place)


def _names_of(page: bytes) -> set[str]:
    return {name for tag in LexborHTMLParser(page).css("*") for name in tag.attributes}


def test_what_is_cut_off_is_only_the_abuse() -> None:
    lamp = "<h1>A lamp</h1><b class=price>EUR 48.00</b><button>Add to cart</button><p>SKU: AB-1234</p>"
    for name in ("44 KB of b", "attributes of body", "options", "attributes"):
        item = extract_product(lamp + BOMBS[name](100_000), URL)
        assert item is not None, name
        assert (item.title, str(item.price)) == ("A lamp", "48.00"), name
    page = tamed(b"<a " + b"".join(b"a%d " % n for n in range(19_000)) + b">x</a>")
    assert (page[:7], page[-12:]) == (b"<a a0 a", b" a499 >x</a>")


@pytest.mark.parametrize("field", ["name", "sku", "brand", "description", "image", "category", "mpn"])
def test_no_field_is_as_long_as_the_page(field: str) -> None:
    data = {
        "@type": "Product",
        "name": "A lamp",
        "offers": {"price": 5, "priceCurrency": "EUR"},
        field: "x/y" * 200_000,
    }
    item = extract_product(f'<h1>A lamp</h1><script type="application/ld+json">{json.dumps(data)}</script>', URL)
    assert item is not None
    assert all(len(value) <= 10_000 for value in asdict(item).values() if isinstance(value, str))
