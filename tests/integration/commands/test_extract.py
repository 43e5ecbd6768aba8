"""`scrapy extract`, as a person runs it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.servers import ScrapyRunner
from tests.unit.extraction.shop import URL, json_ld, page


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A product page, saved."""
    path = tmp_path / "page.html"
    path.write_text(page(json_ld(sku=None)), encoding="utf-8")
    return path


def shown(scrapy: ScrapyRunner, *args: object, env: dict[str, str] | None = None) -> dict[str, Any]:
    result = scrapy.run("extract", *map(str, args), env=env)
    assert (result.returncode, result.stderr) == (0, "")
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def refused(scrapy: ScrapyRunner, *args: object, env: dict[str, str] | None = None) -> str:
    result = scrapy.run("extract", *map(str, args), env=env)
    assert result.returncode == 2
    return result.stdout + result.stderr


def test_fields_and_their_sources(scrapy_run: ScrapyRunner, saved: Path) -> None:
    report = shown(scrapy_run, "products", saved, "--url", URL)
    assert report["stored_as"] == URL
    assert report["fields"]["price"] == {"value": "49.90", "found_in": "json-ld"}
    assert report["fields"]["gtin"] == {"value": "4006381333931", "found_in": "html"}
    assert report["not_found"] == ["review_count"]
    assert "required_but_missing" not in report


def test_gzip_and_the_url_that_the_page_names_itself(scrapy_run: ScrapyRunner, tmp_path: Path) -> None:
    html = page(json_ld()).replace('href="/artikel', 'href="https://shop.example.de/artikel').encode()
    path = tmp_path / "page.html.gz"
    path.write_bytes(gzip.compress(html))
    assert shown(scrapy_run, "products", path)["url"] == URL


def test_rules_of_the_domain_are_used(scrapy_run: ScrapyRunner, saved: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text(
        '["shop.example.de"]\nfields.title = "h1"\nrequired = ["sku", { css = "#missing" }]', encoding="utf-8"
    )
    report = shown(scrapy_run, "products", saved, "--url", URL, env={"DOMAINS_FILE": str(rules)})
    assert report["fields"]["title"] == {"value": "Kochmesser 20 cm", "found_in": "rule"}
    assert report["required_but_missing"] == ["#missing"]


def test_rules_that_match_nothing_are_named(scrapy_run: ScrapyRunner, tmp_path: Path) -> None:
    rules, saved = tmp_path / "rules.toml", tmp_path / "page.html"
    rules.write_text(
        '["shop.example.de"]\nfields.price = ".price-now"\nfields.title = "h1"\nproduct = "/p/\\\\d+"', encoding="utf-8"
    )
    saved.write_text("<h1>Kochmesser</h1><p class=price>49,90 EUR</p>", encoding="utf-8")
    report = shown(scrapy_run, "products", saved, "--url", URL, env={"DOMAINS_FILE": str(rules)})
    why = "no product page: the domain's rule product = '/p/\\\\d+' (DOMAINS_FILE) does not match the URL"
    assert (report["reason"], report["rules_without_match"]) == (why, ["price"])
    rules.write_text('["shop.example.de".fields]\nprice = ".price"', encoding="utf-8")
    report = shown(scrapy_run, "products", saved, "--url", URL, env={"DOMAINS_FILE": str(rules)})
    assert report["fields"]["price"]["found_in"] == "rule"
    assert "rules_without_match" not in report


def test_a_feed_and_an_answer_in_json(scrapy_run: ScrapyRunner, tmp_path: Path) -> None:
    rules, feed, answer = tmp_path / "rules.toml", tmp_path / "feed.xml", tmp_path / "answer.json"
    rules.write_text('["shop.example.de".fields]\nprice = { xml = "g:price" }', encoding="utf-8")
    item = "<item><g:id>{n}</g:id><title>Knife</title><g:price>{n} EUR</g:price></item>"
    feed.write_text(
        '<rss xmlns:g="g">' + "".join(item.format(n=n) for n in range(100, 105)) + "</rss>", encoding="utf-8"
    )
    answer.write_text(json.dumps({"product": {"id": 20451, "name": "Kochmesser", "price": 49.9}}), encoding="utf-8")
    report = shown(scrapy_run, "products", feed, "--url", URL, env={"DOMAINS_FILE": str(rules)})
    assert (report["feed_of"], len(report["first"])) == (5, 3)
    assert report["first"][0]["fields"]["price"] == {"value": "100", "found_in": "rule"}
    report = shown(scrapy_run, "products", answer, "--url", URL)
    assert report["fields"]["price"] == {"value": "49.9", "found_in": "state"}


def test_a_page_that_is_no_product(scrapy_run: ScrapyRunner, tmp_path: Path) -> None:
    path = tmp_path / "about.html"
    path.write_text("<h1>About us</h1>", encoding="utf-8")
    rules = tmp_path / "rules.toml"
    rules.write_text('["shop.example.de"]\nrequired = ["title", { css = "#stock" }]', encoding="utf-8")
    report = shown(
        scrapy_run, "products", path, "--url", "https://shop.example.de/about", env={"DOMAINS_FILE": str(rules)}
    )
    assert report["product"] is None
    assert report["reason"] == (
        "no product page: structured data describes no product, and too little of the page speaks for one: no price of "
        "its own by a heading, no buy button, no identifier with a label, no URL like a product's"
    )
    assert "required_but_missing" not in report


def test_what_a_page_known_as_a_product_lacks_is_named_without_one(scrapy_run: ScrapyRunner, tmp_path: Path) -> None:
    path, rules = tmp_path / "empty.html", tmp_path / "rules.toml"
    path.write_text("<p>Out of order</p><a href=/>Home</a>", encoding="utf-8")
    rules.write_text('["shop.example.de"]\nproduct = "/p/"\nrequired = ["title"]', encoding="utf-8")
    report = shown(
        scrapy_run, "products", path, "--url", "https://shop.example.de/p/1", env={"DOMAINS_FILE": str(rules)}
    )
    assert "it has no title" in report["reason"]
    assert report["required_but_missing"] == ["title"]


def test_a_block_page_is_called_one(scrapy_run: ScrapyRunner, tmp_path: Path) -> None:
    path = tmp_path / "blocked.html"
    path.write_text("<title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x></script>")
    report = shown(scrapy_run, "products", path, "--url", "https://shop.example.de/p/1")
    assert report["reason"] == "no product page, but taken for a block page: cloudflare (docs/blocks.md)"


def test_pages(scrapy_run: ScrapyRunner, saved: Path) -> None:
    report = shown(scrapy_run, "pages", saved, "--url", URL)
    assert report["fields"]["title"].startswith("Kochmesser")
    assert report["fields"]["language"] == "de"


def test_bad_files_are_named_and_good_ones_extracted(scrapy_run: ScrapyRunner, saved: Path, tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text('{"a": 1}')
    (tmp_path / "cut.gz").write_bytes(gzip.compress(saved.read_bytes())[:100])
    files = ["missing.html", "data.json", "cut.gz", "page.html"]
    result = scrapy_run.run("extract", "products", *(str(tmp_path / name) for name in files), "--url", URL)
    assert result.returncode == 2
    assert json.loads(result.stdout)["file"] == str(saved)
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert lines[0] == f"scrapy extract: {tmp_path}/missing.html cannot be read: No such file or directory"
    assert "data.json is not HTML" in lines[1]
    assert "cut.gz cannot be read: " in lines[2]


def test_a_bad_or_missing_url(scrapy_run: ScrapyRunner, saved: Path) -> None:
    assert "unknown scheme 'ftp': expected http or https" in refused(
        scrapy_run, "products", saved, "--url", "ftp://x/y"
    )
    assert "names no URL of its own: give it with --url" in refused(scrapy_run, "products", saved)


def test_wrong_arguments_and_a_broken_rules_file(scrapy_run: ScrapyRunner, saved: Path, tmp_path: Path) -> None:
    assert "name products or pages, and the files to read" in refused(scrapy_run, "products")
    assert "name products or pages" in refused(scrapy_run, "prices", saved)
    rules = tmp_path / "rules.toml"
    rules.write_text("[default]\nspeed = 5")
    text = refused(scrapy_run, "products", saved, env={"DOMAINS_FILE": str(rules)})
    assert f"{rules}, line 2: [default] key = 'speed' is invalid: expected one of fields, " in text


def test_a_url_in_place_of_a_file_is_told_how_to_save_the_page(scrapy_run: ScrapyRunner) -> None:
    assert refused(scrapy_run, "products", URL) == (
        f"scrapy extract: {URL} is a URL: save the page, as by `scrapy fetch --nolog URL > page.html`, name that file, "
        "and the URL with --url\n"
    )
