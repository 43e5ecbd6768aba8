"""Block pages and pages: those made up here, and saved ones where there are any."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import Headers

from benchmarks import blocks as benchmark
from crawler.policy.blocks import Block, detect
from crawler.policy.blocks.page_text import has_more, is_listing, is_robots_txt, visible_text
from crawler.policy.blocks.shells import is_shell
from crawler.policy.blocks.vendors import KINDS, VENDORS
from tests.effort import cpu_seconds
from tests.unit.policy.blocks.block_pages import BLOCKS, NOINDEX, PAGES, PROSE, Answer, page

SAVED = Path(os.environ.get("BLOCKS") or "no-saved-pages")


def judged(answer: Answer, status: int | None = None) -> Block | None:
    headers = Headers({name: [value] for name, value in answer.headers.items()})
    return detect(status or answer.status, headers, answer.body.encode(), "https://shop.example/")


def test_a_block_page_is_known_and_so_is_who_made_it() -> None:
    found = [(answer, judged(answer)) for answer in BLOCKS]
    assert [answer.name for answer, block in found if block is None] == []
    assert [(answer.name, block) for answer, block in found if block and block.vendor != answer.vendor] == []
    assert {block.kind for _, block in found if block} <= {*KINDS}


def test_a_page_is_none() -> None:
    assert {answer.name: block for answer in PAGES if (block := judged(answer))} == {}


def test_a_page_with_content_of_its_own_is_none_whatever_it_embeds() -> None:
    longer = [Answer(one.name, "", one.body.replace("</body>", PROSE + "</body>")) for one in BLOCKS]
    assert {one.name: block for one in longer if PROSE in one.body and (block := judged(one))} == {}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_block_page_is_known_in_another_encoding(encoding: str) -> None:
    text = page("Just a moment...", "<p>Checking your browser</p>", NOINDEX)
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    assert detect(403, {}, (mark + text).encode(encoding), "") == detect(403, {}, text.encode(), "") is not None
    shell = page("Shop", '<div id="root"></div><script src="/app.js"></script>')
    assert is_shell((mark + shell).encode(encoding))


NOT_IN_UTF_8 = [
    ("windows-1251", "Доступ ограничен", "С вашего адреса поступает слишком много автоматических запросов."),
    ("gbk", "访问受限", "系统检测到您的访问过于频繁，请完成验证后继续。"),
    ("iso-8859-1", "Accès refusé", "Votre adresse IP a été bloquée : trop de requêtes automatisées."),
]


@pytest.mark.parametrize(("encoding", "title", "text"), NOT_IN_UTF_8, ids=lambda value: value[:12])
@pytest.mark.parametrize("is_in_header", [True, False])
def test_a_refusal_is_read_in_the_encoding_that_it_names(
    encoding: str, title: str, text: str, is_in_header: bool
) -> None:
    declared = "" if is_in_header else f'<meta charset="{encoding}">'
    headers = Headers({"Content-Type": f"text/html; charset={encoding}"} if is_in_header else {})
    answer = page(title, f"<h1>{title}</h1><p>{text}</p>", declared)
    assert detect(200, headers, answer.encode(encoding), "") == detect(200, {}, answer.encode(), "") is not None


@pytest.mark.parametrize("name", ["punycode", "rot13", "nonsense", "utf-16"])
def test_a_name_that_is_no_encoding_of_a_page_is_ignored(name: str) -> None:
    answer = page("Accès refusé", "<p>Trop de requêtes automatisées.</p>", f'<meta charset="{name}">').encode()
    plain = page("Accès refusé", "<p>Trop de requêtes automatisées.</p>").encode()
    assert detect(403, {}, answer, "") == detect(403, {}, plain, "") is not None


@pytest.mark.parametrize("piece", [b"<input ", b"<input type", b"</a b", b"<label", b"<p", b"<pre>", b"ip 1."])
def test_it_takes_linear_time(piece: bytes) -> None:
    """Some are read up to a size only: below it, too."""
    bombs = [b"<title>Access denied</title>" + piece * (size // len(piece)) for size in (60_000, 250_000)]
    assert cpu_seconds(lambda: [detect(403, {}, bomb, "") for bomb in bombs], 1.0) < 1.0


SPACES = b" " * 60_000


@pytest.mark.parametrize(
    "bomb",
    [
        b"<title>Access denied</title><meta http-equiv=refresh content=" + SPACES,
        b"<title>Access denied</title><a href=" + SPACES + b"#>",
        b"<title>Access denied</title><h1>x</h1><a" + b" href=/ " * 8_000 + b"<",
        b"<script" + b" src=" * 12_000 + b">x</script>",
        b"<title>Access denied</title><input type=text>" + (b"<IMG " + b"src=x" * 60) * 500,
    ],
    ids=["refresh", "link", "links home", "script", "pictures"],
)
def test_no_place_is_looked_at_from_each_of_its_characters(bomb: bytes) -> None:
    most = 0.1
    assert cpu_seconds(lambda: [detect(status, {}, bomb, "") for status in (200, 403)], most) < most


@pytest.fixture(scope="module")
def yardstick() -> float:
    """Seconds that a page of tags alone takes."""
    return cpu_seconds(lambda: [visible_text("<p" * 5_000) for _ in range(8)])


@pytest.mark.parametrize(
    "piece", [b"<p", b"<a ", b"<script></script>", b"&amp", b"your ip ", b"<script>window.state=", b";base64,'"]
)
@pytest.mark.parametrize("status", [200, 403])
def test_a_bomb_costs_little(piece: bytes, status: int, yardstick: float) -> None:
    """Tags of a page that has more than any block page are not read one by one, nor are megabytes of text: its cost is
    that of some searches in it."""
    bomb = b"<title>Access denied</title>" + piece * (1_000_000 // len(piece))
    assert cpu_seconds(lambda: detect(status, {}, bomb, ""), yardstick) < yardstick


def test_headers_may_be_a_plain_map() -> None:
    assert detect(403, {"cf-mitigated": "challenge"}, b"", "") == Block("cloudflare", "challenge")
    assert detect(200, {}, page("", '<div id="px-captcha"></div>').encode(), "") == Block("perimeterx", "captcha")


@pytest.mark.parametrize("size", [20_000, 33_000, 200_000])
def test_links_close_together_count_once(size: int) -> None:
    for sixteenth in range(16):
        links = b"</a>" * 7
        body = bytearray(b"x" * size)
        body[sixteenth * size // 16 : sixteenth * size // 16 + len(links)] = links
        assert has_more(bytes(body), b"</a", 6)
        assert not has_more(bytes(body), b"</a", 7)


def test_who_lets_nobody_past_denies() -> None:
    kinds: dict[str, set[str]] = {}
    for found in filter(None, map(judged, BLOCKS)):
        kinds.setdefault(found.vendor, set()).add(found.kind)
    assert kinds["legal"] == kinds["server"] == {"denial"}
    assert kinds["consent"] == {"challenge"}


def test_signs_have_to_agree() -> None:
    script = '<script src="/_Incapsula_Resource?SWJIYLWA=1"></script>'
    assert detect(200, {}, page("", "", script).encode(), "") is None
    assert detect(200, {}, page("", "", script + NOINDEX).encode(), "") is not None


def test_every_vendor_has_a_sign_and_the_generic_one_comes_last() -> None:
    assert VENDORS[-1].name == "captcha"
    assert all(vendor.marks or vendor.words or vendor.trace or vendor.stub for vendor in VENDORS)
    words = [word for vendor in VENDORS for word in (*vendor.words, *vendor.hints, *map(bytes.decode, vendor.told))]
    assert [word for word in words if word != word.lower()] == []  # or they would never be found


@given(st.binary(max_size=400), st.sampled_from((200, 403, 503)))
def test_anything_can_be_judged(body: bytes, status: int) -> None:
    found = detect(status, {}, body, "")
    assert found is None or found.kind in KINDS


@given(
    st.lists(
        st.sampled_from(("<p>", "</p>", "<script>", "</script>", "<", "a", " b ", "<!-- x -->", "&amp;")), max_size=30
    )
)
def test_visible_text_has_no_tags_and_no_code(parts: list[str]) -> None:
    shown = visible_text("".join(parts))
    assert "<p>" not in shown
    assert "<script" not in shown
    assert shown == " ".join(shown.split())


def test_visible_text_is_what_a_visitor_sees() -> None:
    html = page("Title", "<p>One&nbsp;two</p><style>p{}</style><script>var a = '<p>no</p>';</script>THREE<!-- no -->")
    assert visible_text(html) == "one two three"
    assert visible_text('<?xml version="1.0" encoding="utf-8"?><p>One</p><?php echo 1 ?>') == "one"


def test_saved_pages() -> None:
    """`BLOCKS=DIR pytest`: the folder that `make blocks` reads."""
    if not (SAVED / "labels.json").is_file():
        pytest.skip("no saved block pages: BLOCKS names no folder with labels.json")
    result = benchmark.judge(benchmark.labelled(SAVED))
    assert result.good
    assert result.mistaken == []


@pytest.mark.parametrize(
    ("body", "plain"),
    [
        (b"User-agent: *\nDisallow: /private\n", True),
        (b"# ours\n\r\n user-agent : a\r\nUSER-AGENT: b\r\nallow: /\r\n", True),
        (b"User-agent: *\nSitemap: http://127.0.0.1:44543/map.xml\n", True),
        (b"Sitemap: http://127.0.0.1:44543/map.xml", True),
        (b"User-agent: curl is denied. Are you a robot?", False),
        (b"Access denied\nUser-agent: *\nDisallow: /", False),
        (b"User-agent: *\nDisallow: /\n<script>robot()</script>", False),
        (b"", False),
    ],
)
def test_a_plain_robots_txt_is_known(body: bytes, plain: bool) -> None:
    assert is_robots_txt(body) is plain


@pytest.mark.parametrize("first", ["User-agent: *\n", ""])
def test_a_robots_txt_of_sitemaps_is_no_block(first: str) -> None:
    body = f"{first}Sitemap: http://127.0.0.1:44543/map.xml\n".encode()
    assert detect(200, {"Content-Type": "text/plain"}, body, "http://127.0.0.1:44543/robots.txt") is None


def test_a_robots_txt_is_none_whatever_its_paths_are_named() -> None:
    body = b"User-agent: *\n" + b"Disallow: /are-you-a-robot/access-denied/captcha\n" * 3
    assert detect(200, {"Content-Type": "text/plain"}, body, "https://a.example/robots.txt") is None


def urlset(*paths: str) -> str:
    places = "".join(f"<url><loc>https://a.example/{path}</loc></url>" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'


DECLARED = '<?xml version="1.0" encoding="UTF-8"?>\n'
NEWS = "<title>Access denied</title><item><title>Are you a robot? Verify you are human</title></item>"
LISTS = {
    "sitemap": DECLARED + urlset("captcha", "blog/access-denied"),
    "undeclared": urlset("captcha"),
    "styled": DECLARED + "<?xml-stylesheet href='a.xsl'?><!-- made <b> by -- us -->" + urlset("captcha"),
    "with a prefix": f"{DECLARED}<s:urlset xmlns:s='a'><s:url><s:loc>https://a.example/captcha</s:loc></s:url></s:urlset>",
    "index": DECLARED + "<sitemapindex><sitemap><loc>https://a.example/captcha.xml</loc></sitemap></sitemapindex>",
    "news": f"{DECLARED}<rss><channel>{NEWS}</channel></rss>",
    "old news": f'{DECLARED}<!DOCTYPE rss PUBLIC "a" "b"><rdf:RDF>{NEWS}</rdf:RDF>',
    "Atom": f"\ufeff{DECLARED}<feed>{NEWS}</feed>",
    "products": DECLARED + "<products><product><name>Captcha book</name><price>5</price></product></products>",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", LISTS)
def test_a_sitemap_or_feed_is_none_whatever_it_names(name: str, encoding: str) -> None:
    assert detect(200, {}, LISTS[name].encode(encoding), "https://a.example/list.xml") is None


@pytest.mark.parametrize(
    "before", [DECLARED, f"{DECLARED}<!-- <urlset> -->", "<urlset-like>", "<!--" * 40_000, "<?x?>" * 20_000]
)
def test_what_is_no_list_by_its_root_is_judged_and_soon(before: str) -> None:
    body = before.encode() + page("Just a moment...", "<p>Checking your browser</p>", NOINDEX).encode()
    assert not is_listing(body)
    assert cpu_seconds(lambda: is_listing(body), enough=0.01) < 0.05
