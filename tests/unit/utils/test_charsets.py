"""A page chooses among the encodings of the WHATWG Encoding Standard, and never another codec of Python."""

from __future__ import annotations

import codecs
import encodings
import pkgutil
from typing import Any

import pytest
from charset_normalizer import from_bytes
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse, TextResponse
from w3lib.encoding import resolve_encoding

from crawler.extraction import Document
from crawler.middlewares.downloader.charsets import CharsetMiddleware
from crawler.utils import charsets
from tests.effort import cpu_seconds

URL = "https://shop.example.com/p/1"
PLAIN = b"<title>Caf\xc3\xa9</title><p>plain text of a page</p>"
TEXT = PLAIN.decode()
CODECS = sorted(
    {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    | set(encodings.aliases.aliases)
    | {
        "mbcs",
        "oem",
        "unicode_escape",
        "unicode-escape",
        "raw_unicode_escape",
        "utf-7",
        "nonsense",
        "x" * 5_000,
        "\u0130",
    }
)
OTHERS = [name for name in CODECS if name.lower() not in charsets.LABELS]


def response_of(body: bytes, content_type: str | None = None) -> TextResponse:
    headers = {"Content-Type": content_type.encode("utf-8")} if content_type else {}
    response = CharsetMiddleware().process_response(None, HtmlResponse(URL, headers=headers, body=body))  # type: ignore[arg-type]
    assert isinstance(response, TextResponse)
    return response


def read(body: bytes, content_type: str | None = None) -> str:
    """The text that our extraction reads; what a spider's response has must be the same."""
    text = Document(body, URL, content_type).html
    assert response_of(body, content_type).text == text
    return text


def test_other_codecs_of_python_are_ignored() -> None:
    for name in OTHERS:
        assert read(PLAIN, f"text/html; charset={name}") == TEXT, name
        assert read(PLAIN, f'text/html; charset="{name}"') == TEXT, name


def test_nor_does_a_page_choose_them_for_itself() -> None:
    """A page that names one of the Standard's encodings by Python's name means that one, in any spelling."""
    others = [name for name in OTHERS if resolve_encoding(name) not in charsets.ENCODINGS]
    assert len(others) > 100
    for name in others:
        for begin in (
            f"<meta charset='{name}'>",
            f"<meta http-equiv=content-type content='text/html; charset={name}'>",
            f"<?xml version='1.0' encoding='{name}'?>",
        ):
            body = begin.encode() + PLAIN
            assert read(body) == body.decode(), begin


def test_every_label_of_the_standard_is_understood() -> None:
    for label, name in charsets.LABELS.items():
        assert codecs.lookup(name).name == name
        letters = "Zł" if name in {"cp1250", "iso8859-2"} else "яд" if name in {"cp1251", "koi8-r"} else "日本"
        encoded = letters.encode(name, "ignore")
        for spelled in (label, label.upper(), f'"{label}"', f" {label} "):
            assert read(encoded, f"text/html;charset={spelled}") == encoded.decode(name), spelled


def test_the_first_of_mark_header_and_page_counts() -> None:
    page = b"<meta charset=koi8-r>\xd1"
    assert read(page).endswith("я")
    assert read(page, "text/html; charset=windows-1251").endswith("С")
    assert read(page, "text/html; charset=punycode").endswith("я")
    assert read(b"\xef\xbb\xbf<meta charset=koi8-r>\xd1\x8f", "text/html; charset=windows-1251").endswith("я")
    marked = "привет".encode("utf-16")
    assert Document(marked, URL, "text/html; charset=utf-8").html == "привет"
    assert response_of(marked, "text/html; charset=utf-8").encoding == "utf-16-le"
    assert read(b"<meta charset=utf-16>\xd1\x8f").endswith("я"), "what was read as ASCII is no UTF-16"
    assert Document(b"<p>\xe9</p>", URL).html == "<p>é</p>"


@pytest.mark.parametrize("name", [*sorted(charsets.ENCODINGS), "punycode", "idna", "rot13"])
def test_a_megabyte_is_decoded_in_no_time(name: str) -> None:
    for byte in (b"\x80", b"\x8d", b"\xd8", b"-"):
        page = byte * 250_000
        spent = cpu_seconds(lambda page=page: read(page, f"text/html; charset={name}"), 0.75)  # type: ignore[misc]
        assert spent < 0.75, "a quarter of it, twice: by us and by Scrapy"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cp1252", "a long text in English, and one café"),
        ("cp1252", "Größe, déjà vu, ¿mañana?\xa0\xa0\xa0\xa0ÄÖÜß"),
        ("cp1251", "Смартфон с большим экраном и хорошей камерой, есть в наличии"),
        ("koi8-r", "Смартфон с большим экраном и хорошей камерой, есть в наличии"),
        ("cp1253", "Το προϊόν είναι διαθέσιμο στο κατάστημα και κοστίζει λίγο"),
        ("gb18030", "该产品有现货，可以在我们的网站上订购，价格优惠"),
        ("cp932", "この商品は在庫があります。お店のサイトでご注文いただけます"),
        ("cp949", "이 제품은 재고가 있으며 저희 웹사이트에서 주문할 수 있습니다"),
        ("utf-8", "この商品は在庫があります"),
    ],
    ids=["english", "western", "russian", "koi8", "greek", "chinese", "japanese", "korean", "utf-8"],
)
def test_a_page_that_names_none_is_read_in_the_encoding_of_its_script(name: str, text: str) -> None:
    page = f"<html><p>{text}</p></html>"
    assert read(page.encode(name), "text/html") == page


def test_utf_8_with_a_flaw_is_utf_8() -> None:
    assert read("この商品は在庫があります".encode()[:-1], "text/html") == "この商品は在庫がありま�"


@pytest.mark.parametrize("begin", [b"<meta ", b" <meta ", b"<p>" + b"a " * charsets.SAMPLE])
def test_a_guess_has_something_to_go_by_wherever_tags_are(begin: bytes) -> None:
    russian = (
        "\u0441\u0442\u0430\u043b\u044c\u043d\u0430\u044f \u043b\u0430\u043c\u043f\u0430 " * charsets.SAMPLE
    ).encode("cp1251")
    assert charsets.encoding(None, begin + russian) == "cp1251"
    assert charsets.encoding(None, begin + b"\xff" * charsets.SAMPLE) in charsets.ENCODINGS


def test_a_guess_takes_a_sample_of_a_large_page(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled = list[int]()

    def looked_at(body: bytes, **named: Any) -> Any:
        sampled.append(len(body))
        return from_bytes(body, **named)

    monkeypatch.setattr(charsets, "from_bytes", looked_at)
    page = "<p>Смартфон с большим экраном</p>" * 20_000
    assert charsets.encoding("text/html", page.encode("cp1251")) == "cp1251"
    assert len(sampled) == 1
    assert sampled[0] <= charsets.SAMPLE


@given(
    st.binary(max_size=80),
    st.sampled_from([b"", b"<meta charset=utf-16le>", b"\xff\xfe\0\0", b"<?xml encoding="]),
    st.text(max_size=30),
)
def test_no_bytes_and_no_header_make_it_raise(body: bytes, begin: bytes, header: str) -> None:
    content_type = "text/html; charset=" + header.encode("latin-1", "ignore").decode("latin-1")
    assert isinstance(Document(begin + body, URL, content_type).html, str)
    headers = {"Content-Type": content_type.encode("latin-1")}
    response = CharsetMiddleware().process_response(None, HtmlResponse(URL, headers=headers, body=begin + body))  # type: ignore[arg-type]
    assert isinstance(response.text, str)
