"""Images that stand alone in their block: which ones are of the main text, and where they stand in its Markdown."""

from __future__ import annotations

import pytest

from crawler.extraction import extract_page
from crawler.extraction.content import pictures
from crawler.extraction.content.walk import MAX_IMAGES
from crawler.items import PageItem
from tests.effort import cpu_seconds

URL = "https://site.example/docs/page"
AT = "https://site.example"
LONG = "It is a paragraph with enough words in it to be taken for the text of a page, whatever else there is. "
RELATED = "<h3><a href=/r>Something else to read about</a></h3>"


def page(inside: str, before: str = "", behind: str = "") -> str:
    article = f"<article><h1>Heading</h1><p>First. {LONG}</p>{inside}<p>Second. {LONG}</p><p>{LONG}</p></article>"
    return f"<body>{before}<main>{article}</main>{behind}</body>"


def images(inside: str, before: str = "", behind: str = "") -> list[str]:
    item = extract_page(page(inside, before, behind), URL, images=True)
    return [each.removeprefix(AT) for each in item.images or []]


def markdown(inside: str) -> str:
    return extract_page(page(inside), URL, images=True).markdown or ""


@pytest.mark.parametrize(
    "inside",
    [
        "<figure><img src=/i.png></figure>",
        "<p><img src=/i.png></p>",
        "<div><div><img src=/i.png></div></div>",
        "<img src=/i.png>",
        "<picture><img src=/i.png></picture>",
        "<p><a href=/big.png><img src=/i.png></a></p>",
        "<a href=/big.png><figure><img src=/i.png></figure></a>",
        "<figure><div class=wrap><picture><source srcset=/j.webp><img src=/i.png></picture></div></figure>",
        "<figure class=wp-caption><img src=/i.png><figcaption>A mill</figcaption></figure>",
        "<div class=wp-caption><a href=/b><img src=/i.png></a><p class=wp-caption-text>A mill</p></div>",
        "<div class=elementor-widget-image><span class=wrap><img src=/i.png></span></div>",
        "<div class=post-thumbnail><img src=/i.png width=1200 height=600></div>",
        "<h2><img src=/i.png></h2>",
        "<p>&nbsp;<br><img src=/i.png><br>\u2013</p>",
        f"<p>{LONG}<br><img src=/i.png><br>{LONG}</p>",
        "<figure><img src=/i.png><div>Photo by somebody who was there</div></figure>",
        "<div hidden></div><figure><figcaption>Above</figcaption><img src=/i.png></figure>",
        "<div><button class=zoom><img src=/i.png></button></div>",
        "<aside class=pull></aside><ul><li><img src=/i.png></li></ul>",
        "<table><tr><td><img src=/i.png></td></tr></table>",
        "<center><img src=/i.png></center>",
    ],
)
def test_an_image_alone_in_its_block_is_of_the_text_around_it(inside: str) -> None:
    assert images(inside) == ["/i.png"]
    above, _, below = markdown(inside).partition(f"![]({AT}/i.png)")
    assert "First." in above
    assert "Second." in below


@pytest.mark.parametrize(
    "attributes",
    [
        "data-src=/i.png src='data:image/gif;base64,R0'",
        "data-lazy=/i.png src=/wait.gif",
        "data-cfsrc=/i.png style='display:none;visibility:hidden'",
        "data-src='data:image/gif;base64,R0' src=/i.png",
        "src=/wait.gif data-srcset='/i.png 300w, /j.png 600w'",
        "srcset='data:image/gif;base64,R0 1w' data-lazy-srcset='/i.png 300w'",
        "src='/i\n.png'",
        "src=' DATA:image/gif;base64,R0' srcset='/i.png 2x'",
    ],
)
def test_images_that_scripts_load_later(attributes: str) -> None:
    assert images(f"<figure><img {attributes}></figure>") == ["/i.png"]
    assert images(f"<p>{LONG}<img {attributes}>{LONG}</p>") == ["/i.png"]


@pytest.mark.parametrize(
    "inside",
    [
        "<picture><source srcset='/i.png 1x'><source srcset='/j.png'><img src='data:image/gif;base64,R0'></picture>",
        "<picture><source data-srcset='/i.png 1x'><img class=lazy></picture>",
        "<div><img src='data:image/gif;base64,R0'><noscript><img src=/i.png></noscript></div>",
        "<p><img src=/small.png><noscript><img src=/i.png></noscript></p>",
        "<p><img data-src=/i.png><noscript><img src=/i.png></noscript></p>",
        "<figure><noscript><img src=/i.png></noscript><img class=lazy src='data:image/gif;base64,R0'></figure>",
        "<figure><img src=/i.png></figure><figure><img src=/i.png></figure>",
    ],
)
def test_what_a_script_would_put_there_is_there_once(inside: str) -> None:
    assert images(inside) == ["/i.png"]
    assert markdown(inside).count("![]") == 1


@pytest.mark.parametrize(
    "inside",
    [
        "<p><img></p>",
        "<p><img src=''></p>",
        "<p><img src='data:image/png;base64,R0'></p>",
        "<p><img src='javascript:x'></p>",
        "<p><img src=/x.gif width=1 height=1></p>",
        "<p><img src=/x.gif width=24px height=24></p>",
        "<p><img src=/line.gif width=600 height=4></p>",
        "<p><img class=site-logo src=/x.png></p>",
        "<div class=siteLogo><img src=/x.png></div>",
        "<div class=author-box><span><img src=/x.png></span></div>",
        "<p><img class='avatar photo' src=/x.png></p>",
        "<p><img src=https://secure.gravatar.com/avatar/0a?s=96></p>",
        "<p><img src=/img/spacer.gif></p>",
        "<p><img src=/img/icon-cart.svg?v=1></p>",
        "<div class='ad ad-slot'><a href=https://ads.example/c><img src=/x.png></a></div>",
        "<div class=sponsors><div><img src=/x.png></div></div>",
        "<aside><img src=/x.png></aside>",
        "<nav><img src=/x.png></nav>",
        "<dialog><p><img src=/x.png></p></dialog>",
        "<p><img src=/x.png style='display: none'></p>",
        "<p><img src=/x.png hidden></p>",
        "<noscript><img height=1 width=1 style=display:none src=https://t.example/tr?id=1></noscript>",
        "<p><a href=/><img src=/x.png></a></p>",
    ],
)
def test_signs_ads_and_faces_are_left_out(inside: str) -> None:
    assert images(inside) == []
    assert "![" not in markdown(inside)


@pytest.mark.parametrize(
    "inside",
    ["<img src=/x.gif width=1 height=1>", "<img class=emoji src=/x.png>", "<span class=icon><img src=/x.png></span>"],
)
def test_signs_in_a_text_are_left_out(inside: str) -> None:
    assert images(f"<p>{LONG}{inside} {LONG}<img src=/i.png></p>") == ["/i.png"]


def test_what_is_left_out_takes_its_images_with_it() -> None:
    cards = f"<div class=card><a href=/r><img src=/r.png></a>{RELATED}</div>" * 3
    header = "<header><div><img src=/h.png></div><nav><a href=/a>One</a> <a href=/b>Two</a></nav></header>"
    behind = f"<aside>{cards}</aside><div class=related>{cards}</div><footer><p><img src=/f.png></p></footer>"
    assert images("<p><img src=/i.png></p>", header, behind) == ["/i.png"]


def test_each_card_that_is_the_text_keeps_its_image() -> None:
    cards = (
        f"<li class=card><a href=/{n}><img src=/{n}.png></a><h3><a href=/{n}>Card number {n}</a></h3><p>{LONG}</p></li>"
        for n in range(6)
    )
    item = extract_page(f"<main><h1>Heading</h1><ul>{''.join(cards)}</ul></main>", URL, images=True)
    assert item.images == [f"{AT}/{n}.png" for n in range(6)]


def test_captions_stand_below_their_images() -> None:
    for figure in (
        "<figure><a href=/b.png><img src=/i.png alt='Old  mill'></a><figcaption>The mill in 1900</figcaption></figure>",
        "<div class=wp-caption><img src=/i.png alt='Old mill'><p class=wp-caption-text>The mill in 1900</p></div>",
    ):
        _, image, below = markdown(figure).partition(f"![Old mill]({AT}/i.png)")
        assert image
        assert below.removeprefix(f"]({AT}/b.png)").startswith("\n\nThe mill in 1900\n\nSecond.")


def test_an_image_in_a_cell_or_an_item_stays_in_it() -> None:
    table = "<table><tr><th>Name of it</th><th>Look</th></tr><tr><td>A mill</td><td><img src=/i.png></td></tr></table>"
    assert f"| A mill | ![]({AT}/i.png) |\n" in markdown(table)
    assert f"- ![]({AT}/i.png)\n" in markdown(f"<ul><li><img src=/i.png></li><li>{LONG}</li></ul>")


def test_code_holds_no_image_of_its_own() -> None:
    assert f"\n![]({AT}/i.png)\n" in markdown("<pre><img src=/i.png></pre>")


def test_images_give_no_words_and_no_links() -> None:
    inside = "<figure><a href=/b.png><img src=/i.png alt='A mill'></a><figcaption>Of it</figcaption></figure>"
    plain, with_images = extract_page(page(inside), URL), extract_page(page(inside), URL, images=True, links=True)
    assert (plain.text, plain.images, with_images.links) == (with_images.text, None, [])
    assert "i.png" not in (plain.markdown or "")


@pytest.mark.parametrize(
    "piece",
    [
        "<p><img src=/{}.png></p>",
        "<img src=/{}.png>",
        "<i><b><img src=/{}.png>",
        "<div><img src=/{}.png>",
        "<p>x<img src=/{}.png></p>",
        "<noscript><img src=/{}.png></noscript>",
        "<table><td><img src=/{}.png>",
        "<figure><img src=/{}.png><figcaption>Of it</figcaption></figure>",
        "<div class=card><img src=/{}.png><p>Of it</p></div>",
    ],
)
def test_many_images_cost_little(piece: str) -> None:
    html = page("".join(piece.format(n) for n in range(100_000)))[:2_000_000]
    pages: list[PageItem] = []
    assert cpu_seconds(lambda: pages.append(extract_page(html, URL, images=True)), 1.5) < 1.5
    found = pages[-1]
    assert len(found.images or []) <= pictures.MAX_IMAGES
    assert (found.markdown or "").count("![") <= MAX_IMAGES
