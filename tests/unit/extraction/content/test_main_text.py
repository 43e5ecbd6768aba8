"""Which passages are the main text, by made-up pages of each kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from crawler.extraction import Document, extract_page
from crawler.extraction.content import features
from crawler.extraction.content.features import FEATURES, features_of, sums
from crawler.extraction.content.main_text import Weights, main_passages
from crawler.extraction.content.marks import BITS
from crawler.extraction.content.page import kind_and_passages
from crawler.extraction.content.page_kind import PRICE, Kind
from crawler.extraction.content.passages import Box, Passage
from crawler.extraction.content.walk import MAX_ELEMENTS, passages
from crawler.extraction.words.counting import WORD, words_in

URL = "https://site.example/a/b"
PRICES = [
    *[(text, True) for text in ("from $5", "£ 5", "5€", "1.299,00 €", "12 USD", "99 kr", "١٢ EUR", "a$ 1")],
    *[(text, False) for text in ("$ and 5", "5 krone", "€uro", "12 4 USA", "$  5", "no. 7")],
]
SENTENCE = "This is a sentence of the text, long enough to be read by people, and it ends with a dot. "
MENU = "<nav><ul>" + "".join(f"<li><a href=/m{n}>Menu {n}</a></li>" for n in range(9)) + "</ul></nav>"
FOOT = "<footer><p>Copyright Example Ltd. <a href=/imprint>Imprint</a></p></footer>"


def page(body: str, head: str = "") -> str:
    return f"<html lang=en><head><title>On x | Site</title>{head}</head><body>{MENU}{body}{FOOT}</body></html>"


def text_of(body: str, head: str = "") -> str:
    return extract_page(page(body, head), URL).text or ""


def test_menus_and_footers_are_no_text() -> None:
    text = text_of(f"<main><article><h1>On x</h1>{f'<p>{SENTENCE}</p>' * 6}</article></main>")
    assert text.count("This is a sentence") == 6
    assert "Menu" not in text
    assert "Copyright" not in text


def test_posts_in_noscript_are_read_when_the_page_is_built_by_scripts() -> None:
    posts = "".join(f'<div itemprop="text" class="post"><p>Post {n}. {SENTENCE * 2}</p></div>' for n in range(5))
    text = text_of(f"<div id=app>Loading</div><noscript>{posts}</noscript>")
    assert all(f"Post {n}." in text for n in range(5))
    assert "Post" not in text_of(f"<main><p>{SENTENCE * 9}</p></main><noscript><p>Post {SENTENCE}</p></noscript>")


def test_cells_of_a_row_stand_on_one_line() -> None:
    rows = "".join(f"<tr><td>Name {n}</td><td>{SENTENCE}</td></tr>" for n in range(8))
    assert f"Name 3 | {SENTENCE.strip()}" in text_of(f"<main><h1>On x</h1><table>{rows}</table></main>").splitlines()


def test_a_shell_has_no_text() -> None:
    chrome = "<nav><ul>" + "<li><a href=/c>Some category here</a></li>" * 60 + "</ul></nav>"
    assert extract_page(f"<body>{chrome}<div>Loading</div></body>", URL).text is None


def test_the_text_that_json_ld_states_is_taken_where_none_is_shown() -> None:
    head = '<script type="application/ld+json">{"@type": "NewsArticle", "articleBody": "Stated text."}</script>'
    assert extract_page(f"<head>{head}</head><body></body>", URL).text == "Stated text."


@pytest.mark.parametrize(
    "form", ['{"@graph": [{"@type": "WebPage"}, %s]}', "[[%s]]", '{"@type": "WebPage", "mainEntity": %s}']
)
def test_the_text_that_json_ld_states_is_found_in_it_and_plain(form: str) -> None:
    node = r'{"@type": "Article", "author": "Ann \ud83d", "articleBody": "Fish &amp; <b>chips</b>\n\nare \ud83d"}'
    item = extract_page(f'<script type="application/ld+json">{form % node}</script><body></body>', URL)
    assert (item.text, item.author) == ("Fish & chips\nare \ufffd", "Ann \ufffd")


def test_a_blank_text_in_json_ld_is_none() -> None:
    blank = '{"@type": "Article", "articleBody": " <p> "}'
    head = f'<script type="application/ld+json">[{blank}, {{"@type": "Article", "articleBody": "Text"}}]</script>'
    assert extract_page(f"{head}<body></body>", URL).text == "Text"
    assert extract_page(head.replace("Text", ""), URL).text is None


@pytest.mark.parametrize(
    ("head", "body", "kind"),
    [
        ('<script type="application/ld+json">{"@type": "Product"}</script>', "", "product"),
        ('<script type="application/ld+json">{"@type": ["BlogPosting"]}</script>', "", "article"),
        ('<script type="application/ld+json">{"@type": "QAPage"}</script>', "", "forum"),
        ('<meta property="og:type" content="article">', "", "article"),
        ('<meta property="og:type" content="product">', "", "product"),
        ("", "<p>EUR 5</p>" + "<p>Lamp $5.00</p>" * 5, "shop"),
        ("", "<p>Lamp $5.00</p>" * 4, "other"),
    ],
)
def test_kinds(head: str, body: str, kind: str) -> None:
    assert kind_and_passages(Document(page(body, head), URL))[0] == kind


def test_threads_are_known_by_their_url_and_software() -> None:
    html = page('<div class="p-body" data-xf-init="x"><p>A post</p></div>')
    assert kind_and_passages(Document(html, "https://site.example/threads/on-x.12/"))[0] == "forum"
    assert kind_and_passages(Document(html, "https://site.example/on-x"))[0] == "other"


def test_a_page_without_end_is_read_in_part() -> None:
    found = passages(Document("<div><span>x </span></div>" * (2 * MAX_ELEMENTS), URL))
    assert 0 < len(found) <= MAX_ELEMENTS


def test_hidden_words_and_links_are_counted() -> None:
    (one, two) = passages(Document("<p>One two <a href=/>three four</a></p><p hidden>five</p>", URL))
    assert (one.words, one.linked, one.box.tag) == (4, 2, "p")
    assert (two.words, two.linked) == (1, 0)


class Stated(Weights):
    """The chance of a passage is the number that it ends with."""

    def __init__(self) -> None:
        super().__init__({})

    def chances(self, found: Sequence[Passage], kind: Kind) -> list[float]:
        return [float(each.text.split()[-1]) for each in found]


def chosen(chances: Sequence[float], kind: Kind = "other", words: int = 30) -> list[float]:
    body = "".join(f"<p>{'word ' * words}{chance}</p>" for chance in chances)
    return [float(each.text.split()[-1]) for each in main_passages(passages(Document(body, URL)), kind, Stated())]


def test_passages_are_taken_as_long_as_they_raise_the_f1_to_be_expected() -> None:
    assert chosen([0.9, 0.9, 0.9, 0.4, 0.1]) == [0.9, 0.9, 0.9]
    assert chosen([0.9, 0.5, 0.5, 0.4, 0.1]) == [0.9, 0.5, 0.5, 0.4]


def test_a_page_that_is_hard_to_tell_gives_what_is_likeliest() -> None:
    assert chosen([0.08, 0.3, 0.3, 0.06, 0.06]) == [0.3, 0.3]
    assert chosen([0.04] * 5) == []
    assert chosen([0.04, 0.03], words=3) == [0.04, 0.03]


def test_posts_are_taken_once_and_tiles_as_often_as_they_stand() -> None:
    assert chosen([0.9, 0.9, 0.8], "forum") == [0.9, 0.8]
    assert chosen([0.9, 0.9, 0.8], "shop") == [0.9, 0.9, 0.8]


def test_the_core_is_the_innermost_box_with_most_of_the_prose() -> None:
    text = f"<div><p>{SENTENCE}</p></div><div><p>{SENTENCE}</p></div><p>Short</p>"
    found = passages(Document(f"<div><section>{text}</section></div><div><i>Beside</i></div><ul><li>Far</ul>", URL))
    rows = [{FEATURES[at]: value for at, value in row.items()} for row in features_of(found, "other")]
    assert [(row.get("in-core", 0), 8 * row.get("core-far", 0)) for row in rows] == [
        (1, 2),
        (1, 2),
        (1, 1),
        (0, 1),
        (0, 2),
    ]


def test_inline_elements_mark_the_blocks_in_them_alone() -> None:
    inner = "<div>One</div><i class=cookie>a<p>Two</p>b</i><div>Three</div>"
    found = passages(Document(f"<span class=footer-links>{inner}</span><div>Four</div>", URL))
    marks = [(each.text, bool(each.around & BITS["foot"]), bool(each.around & BITS["cookie"])) for each in found]
    assert marks == [
        ("One", True, False),
        ("a", True, True),
        ("Two", True, True),
        ("b", True, False),
        ("Three", True, False),
        ("Four", False, False),
    ]


@pytest.mark.parametrize(("text", "is_one"), PRICES)
def test_a_price_is_an_amount_with_a_sign(text: str, is_one: bool) -> None:
    assert (PRICE.search(text) is not None) == is_one


def test_a_deep_page_has_each_box_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = 0

    def counted(box: Box | None) -> Iterator[Box]:
        nonlocal steps
        while box is not None:
            steps += 1
            yield box
            box = box.parent

    monkeypatch.setattr(features, "_outwards", counted)
    found = passages(Document(f"<div>{SENTENCE}" * 1_000, URL))
    assert len(sums(found, "other", dict.fromkeys(FEATURES, 1.0))) == len(found) == 1_000
    assert steps < 4 * len(found)


PRODUCT = '<meta property="og:type" content="product">'


def test_what_customers_say_is_no_text_of_a_product() -> None:
    reviews = "".join(f'<div class="review"><p>Review {n}. {SENTENCE}</p></div>' for n in range(3))
    body = f'<main><h1>On x</h1><div class="description">{f"<p>{SENTENCE}</p>" * 6}</div>{reviews}</main>'
    assert "Review 1" not in text_of(body, PRODUCT)
    assert SENTENCE.strip() in text_of(body, PRODUCT)
    whole = f'<main class="reviews"><h1>On x</h1>{f"<p>{SENTENCE}</p>" * 6}</main>'
    assert SENTENCE.strip() in text_of(whole, PRODUCT)


def test_the_description_of_a_product_that_is_not_shown() -> None:
    head = '<script type="application/ld+json">{"@type": "Product", "name": "x", "description": "Cuts <b>well</b>."}'
    assert extract_page(f"<head>{head}</script></head><body></body>", URL).text == "Cuts well ."


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "One two",
        "it’s 3.5 – café_x",
        "\u043e\u0434\u0438\u043d, \u0434\u0432\u0430",
        "\u4e00\u4e8c \u4e09",
        "a\xb2 b\xaa",
        "\x81 x \udc80",
    ],
)
def test_words_are_counted_as_an_expression_finds_them(text: str) -> None:
    assert words_in(text) == len(WORD.findall(text))


def test_an_inline_element_without_content_leaves_nothing() -> None:
    (one,) = passages(Document("<p><a href=/x></a>Text <b></b>of it</p>", URL))
    assert one.pieces == ["Text ", "of it"]


def test_a_link_around_all_of_a_text_counts_its_words_once() -> None:
    (one,) = passages(Document("<p> <a href=/x> One <b>t</b>wo </a> </p>", URL))
    assert (one.words, one.linked) == (2, 3)  # a word in two elements is two
    (two,) = passages(Document("<p> <a href=/x> One two </a> </p>", URL))
    assert (two.words, two.linked) == (2, 2)


FORUM_PAGE = f"""<main><article><h1>On x</h1><p>{SENTENCE}</p><p class=card>{SENTENCE}</p>
<ul><li>one<li>One 2</ul></article></main>
<p>We use cookies with your consent, cookies</p><p>{SENTENCE}</p><div><a href=/>Beside</a></div>"""


@pytest.mark.parametrize("kind", ["forum", "other"])
def test_the_sum_of_a_passage_is_that_of_its_signs_times_their_weights(kind: Kind) -> None:
    weights = {feature: 0.5 + at / 7 for at, feature in enumerate(FEATURES)}
    found = passages(Document(page(FORUM_PAGE), URL))
    expected = [sum(row[at] * weights[FEATURES[at]] for at in row) for row in features_of(found, kind)]
    assert sums(found, kind, weights) == pytest.approx(expected)
    assert len({round(each, 6) for each in expected}) == len(found) == 18


def test_the_signs_of_a_passage() -> None:
    found = passages(Document(FORUM_PAGE, URL))
    by_text = {
        each.text: {FEATURES[at]: value for at, value in row.items()}
        for each, row in zip(found, features_of(found, "forum"), strict=True)
    }
    first, cookies = by_text["On x"], by_text["We use cookies with your consent, cookies"]
    assert first["start"] == first["after-heading"] == first["in main"] == first["bias"] == 1
    assert "outside-main" not in first
    assert cookies["cookies"] == pytest.approx(3 / 8**0.5)
    assert cookies["outside-main"] == cookies["outside-article"] == 1
    assert by_text["one"]["lower"] == by_text["one"]["post-item"] == by_text["One 2"]["digits"] == 1
    assert "digits" not in by_text["one"]
    last = by_text[SENTENCE.strip()]
    assert last["repeated-text"] == last["ends-as-sentence"] == last["ten-words"] == last["post-prose"] == 1
    assert by_text["Beside"]["end"] == 1


ENGLISH = (
    "Tokyo",
    "It is a long text of many letters. Tokyo is the capital of Japan, and its largest city.",
    "Menu",
    "More",
)
UNSPACED = {
    "Japanese": (
        "東京",
        "とても長い文章なので、たくさんの文字があります。東京は日本の首都で、人口も多い。",
        "目次",
        "関連",
    ),
    "Chinese": (
        "东京",
        "因为这是一段很长的文字，所以有很多字。东京是日本的首都，也是人口非常多的城市。",
        "菜单",
        "更多",
    ),
    "Thai": ("โตเกียว", "โตเกียวเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศญี่ปุ่น เป็นศูนย์กลางการปกครอง การศึกษา", "เมนู", "อื่น"),
}


def lines_of(title: str, text: str, menu: str, more: str) -> int:
    menus = "".join(f"<li><a href=/{at}>{menu} {at}</a>" for at in range(20))
    aside = "".join(f"<li><a href=/{at}>{more} {at}</a>" for at in range(20))
    body = f"<div class=content><h1>{title}</h1>{f'<p>{text} {text}' * 8}</div>"
    html = f"<div class=nav><ul>{menus}</ul></div>{body}<div class=sidebar><ul>{aside}</ul></div>"
    return len(text_of(html, f"<title>{title}</title>").splitlines())


@pytest.mark.parametrize("language", [*UNSPACED])
def test_scripts_without_spaces_are_read_as_others_are(language: str) -> None:
    assert abs(lines_of(*UNSPACED[language]) - lines_of(*ENGLISH)) <= 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("人口がとても多い", 4),
        ("東京 2024", 2),
        ("ｶﾀｶﾅ", 2),
        ("กรุงเทพ", 2),
        ("한국어 문장", 2),
        ("два слова", 2),
        ("・。！", 0),
    ],
)
def test_letters_of_scripts_without_spaces_make_words(text: str, words: int) -> None:
    assert words_in(text) == words


def test_what_belongs_to_buying_is_text_where_nothing_is_sold() -> None:
    parts = (
        f"<p>{SENTENCE * 3}</p><label>{SENTENCE}labelled</label><div class=reviews><p>{SENTENCE * 3}reviewed</p></div>"
    )
    body = f"<main><h1>On x</h1><p>{SENTENCE * 3}</p>{parts}<p class=author>Ann Smith</p></main>"
    sold = extract_page(page(body, '<meta property="og:type" content="product">'), URL)
    told = extract_page(page(body, '<meta property="og:type" content="article">'), URL)
    assert [word in (sold.text or "") for word in ("labelled", "reviewed")] == [False, False]
    assert [word in (told.text or "") for word in ("labelled", "reviewed")] == [True, True]
    assert (sold.author, told.author) == (None, "Ann Smith")
