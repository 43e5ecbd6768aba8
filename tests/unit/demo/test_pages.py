"""A folder of saved pages becomes hosts; for any other folder the error says what is missing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from demo.pages import PagesError, PageSite, load

PAGE = "<title>Kettle</title>é".encode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "b.html.gz").write_bytes(gzip.compress(PAGE))
    (tmp_path / "html" / "a.html.gz").write_bytes(gzip.compress("<p>é".encode("latin-1")))
    truth = {
        "b.html.gz": {"url": "https://shop.example/p/1?b=2&a=1#top", "price": ["1.50"]},
        "a.html.gz": {"url": "https://other.example"},
    }
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    return tmp_path


def test_each_page_has_a_host_and_keeps_its_path_and_query(folder: Path) -> None:
    other, kettle = load(folder)

    assert other.url(8000) == "http://127.0.1.1:8000/"
    assert kettle.url(8000) == "http://127.0.1.2:8000/p/1?b=2&a=1"
    assert kettle.page.accepted == {"price": ["1.50"]}


def test_serves_the_page_and_nothing_else(folder: Path) -> None:
    site = PageSite(load(folder)[1])

    assert site.reply("/p/1", {"a": "1", "b": "2"}).body == PAGE
    assert site.reply("/p/1", {"a": "1", "b": "2", "utm_source": "x"}).status == 200
    assert site.reply("/p/1", {"a": "1"}).status == 404
    assert site.reply("/", {}).status == 404
    assert site.fault("/p/1") is None


def test_states_an_encoding_only_where_it_is_known(folder: Path) -> None:
    latin, kettle = (PageSite(page) for page in load(folder))

    assert kettle.reply("/p/1", {"a": "1", "b": "2"}).content_type == "text/html; charset=utf-8"
    assert latin.reply("/", {}).content_type == "text/html"


@pytest.mark.parametrize("text", ["[]", "{", '{"a.html.gz": {}}', '{"a.html.gz": []}'])
def test_a_broken_truth_is_named(folder: Path, text: str) -> None:
    (folder / "truth.json").write_text(text)
    with pytest.raises(PagesError, match=r"truth\.json must map"):
        load(folder)


@pytest.mark.parametrize("missing", ["truth.json", "html/a.html.gz"])
def test_a_missing_file_is_named(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(
        PagesError, match=rf"{missing}: No such file.* expected html/\*\.html\.gz and truth\.json in the folder"
    ):
        load(folder)
