"""Scrapy's own commands, spiders that opt out and stock scrapy-redis work as everywhere else, beside the fleet."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import CompletedProcess
from textwrap import dedent
from typing import Any

import pytest
import redis
from pymongo.asynchronous.database import AsyncDatabase

from crawler.policy.rules.domains import parse_rules
from tests.crawling import Fleet, ended
from tests.servers import ScrapyRunner
from tests.sites import Page, Site

SPIDERS = ("-s", "SPIDER_MODULES=tests.integration.crawl.plain_spiders", "-s", "METRICS_PORT=-1")
QUICK = ("-s", "DOWNLOAD_DELAY=0", "-s", "ROBOTSTXT_OBEY=False")
ALONE = ("-s", "FRONTIER_ENABLED=False", *QUICK)
MINE = ("-s", "SPIDER_MODULES=mine", "-s", "NEWSPIDER_MODULE=mine")
PRODUCT = """<title>Knife</title><script type="application/ld+json">{"@context": "https://schema.org",
"@type": "Product", "name": "Knife", "offers": {"price": "12.50", "priceCurrency": "EUR"}}</script>"""

Scrapy = Callable[..., CompletedProcess[str]]


@pytest.fixture
def site() -> Iterator[Site]:
    with Site({"/": Page(), "/child": Page(), "/p/1": Page(PRODUCT)}) as site:
        yield site


@pytest.fixture
def scrapy(scrapy_run: ScrapyRunner, site: Site, project_env: dict[str, str]) -> Iterator[Scrapy]:
    """Runs a command; sees to it that the bundled servers, which are there on demand, were not wanted."""

    def run(*args: str, **options: Any) -> CompletedProcess[str]:
        result = scrapy_run.run(*args, env={"TEST_SITE": site.url()} | options.pop("env", {}), **options)
        assert "Traceback" not in result.stderr
        return result

    assert "REDIS_URL" not in scrapy_run.env
    yield run
    assert not Path(project_env["EMBEDDED_DATA_DIR"]).exists()


def items(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text())
    return found


def test_list(scrapy: Scrapy) -> None:
    assert scrapy("list").stdout.split() == ["pages", "products"]


def test_fetch_and_shell(scrapy: Scrapy, site: Site) -> None:
    assert "<title>Knife</title>" in scrapy("fetch", "--nolog", site.url("/p/1")).stdout
    shell = scrapy("shell", "--nolog", "-c", "response.css('title::text').get(), spider.name", site.url("/p/1"))
    assert shell.stdout.strip() == "('Knife', 'default')"
    ours = scrapy("shell", "--nolog", "--spider", "products", "-c", "spider.name", site.url("/p/1"))
    assert ours.stdout.strip() == "products"


def test_view(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    shown, browser = tmp_path / "shown.html", tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\ncp ${{1#file://}} {shown}")
    browser.chmod(0o755)
    assert scrapy("view", site.url("/p/1"), env={"BROWSER": f"{browser} %s"}).returncode == 0
    assert "<title>Knife</title>" in shown.read_text()


def test_parse_shows_what_the_fleets_spider_would_yield(scrapy: Scrapy, site: Site) -> None:
    parsed = scrapy("parse", "--nolog", "--spider", "products", "--nocolour", site.url("/p/1"))
    assert "'title': 'Knife'" in parsed.stdout
    assert "Decimal('12.50')" in parsed.stdout


def test_check_runs_contracts(scrapy: Scrapy) -> None:
    checked = scrapy("check", "starting", *SPIDERS)
    assert checked.returncode == 0
    assert "Ran 2 contracts" in checked.stderr
    assert scrapy("check", "--list").returncode == 0


def test_bench(scrapy: Scrapy) -> None:
    benched = scrapy("bench", "-s", "CLOSESPIDER_TIMEOUT=1", "-s", "LOG_LEVEL=INFO", *QUICK)
    assert benched.returncode == 0
    assert "'downloader/response_status_count/200'" in benched.stderr


def test_plain_spider_with_start_urls_arguments_and_settings(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    arguments = ("-a", "label=mine", "-s", "USER_AGENT=test/1", "-O", str(path))
    assert scrapy("crawl", "plain", *SPIDERS, *ALONE, *arguments).returncode == 0
    assert items(path) == [
        {"url": site.url(), "label": "mine", "agent": "test/1"},
        {"url": site.url("/child"), "label": "mine", "agent": "test/1"},
    ]
    assert [request.headers["User-Agent"] for request in site.received] == ["test/1"] * 2


def test_plain_spider_with_async_start(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    assert scrapy("crawl", "starting", *SPIDERS, *ALONE, "-O", str(path)).returncode == 0
    assert items(path) == [{"url": "an item without a page"}, {"url": site.url()}]


def test_spider_of_the_fleet_crawls_alone_when_told_to(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    path = tmp_path / "items.json"
    module = tmp_path / "mine"
    project(module)
    assert scrapy("genspider", "-t", "product", "shop", site.url("/p/1"), *MINE, cwd=tmp_path).returncode == 0
    assert scrapy("crawl", "shop", *MINE, *ALONE, "-O", str(path), cwd=tmp_path).returncode == 0
    assert [item["title"] for item in items(path)] == ["Knife"]


def project(module: Path) -> None:
    """A directory that `scrapy` takes for this project, with an empty package for spiders."""
    module.mkdir()
    (module / "__init__.py").touch()
    (module.parent / "scrapy.cfg").write_text("[settings]\ntest = settings.test\n")


def test_genspider_has_our_template_beside_scrapys(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    project(tmp_path / "mine")
    listed = scrapy("genspider", "--list", *MINE, cwd=tmp_path).stdout.split()
    assert listed == ["Available", "templates:", "basic", "crawl", "csvfeed", "xmlfeed", "product"]
    assert "class $classname(ProductsSpider):" in scrapy("genspider", "-d", "product", cwd=tmp_path).stdout
    for template, name in {"basic": "one", "product": "two"}.items():
        made = scrapy("genspider", "-t", template, name, "shop.example", *MINE, cwd=tmp_path)
        assert f"Created spider '{name}' using template '{template}'" in made.stdout
    assert scrapy("list", *MINE, cwd=tmp_path).stdout.split() == ["one", "two"]
    parsed = scrapy("parse", "--nolog", "--spider", "two", "--nocolour", site.url("/p/1"), *MINE, cwd=tmp_path)
    assert "'title': 'Knife'" in parsed.stdout
    assert '["shop.example"]' in (tmp_path / "mine" / "two.py").read_text()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["bad name", "shop.example"], "name = 'bad name' is invalid: expected letters"),
        (["one", "not a domain"], "domain = 'not a domain' is invalid: expected a domain"),
        (["-t", "none", "one", "shop.example"], "there is no template 'none': `scrapy genspider --list` shows them"),
        (["shoal", "shop.example"], "name = 'shoal' is invalid: expected one that differs from the project's"),
    ],
)
def test_genspider_makes_nothing_that_is_no_spider(scrapy: Scrapy, tmp_path: Path, args: list[str], words: str) -> None:
    project(tmp_path / "mine")
    made = scrapy("genspider", *args, *MINE, cwd=tmp_path)
    assert (made.returncode, words in made.stderr, made.stdout) == (2, True, "")
    assert [path.name for path in (tmp_path / "mine").glob("*.py")] == ["__init__.py"]


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("Shop.Example:8443", "https://Shop.Example:8443"),
        ("http://shop.example:8080/p/1", "http://shop.example:8080/p/1"),
    ],
)
def test_genspider_names_the_host_alone_where_rules_want_it(
    scrapy: Scrapy, tmp_path: Path, given: str, url: str
) -> None:
    project(tmp_path / "mine")
    for template in ("product", "crawl"):
        assert scrapy("genspider", "-t", template, template, given, *MINE, cwd=tmp_path).returncode == 0
    product, crawl = ((tmp_path / f"mine/{name}.py").read_text() for name in ("product", "crawl"))
    _, _, rules = product.partition("without code:\n")
    parse_rules(dedent(rules.partition('"""')[0]))  # ConfigError if it has more than a host
    assert 'allowed_domains = ["shop.example"]' in crawl
    assert all(f'start_urls = ["{url}"]' in text for text in (product, crawl))


def test_genspider_says_what_to_do_with_a_spider_that_exists(scrapy: Scrapy, tmp_path: Path) -> None:
    project(tmp_path / "mine")
    assert scrapy("genspider", "one", "shop.example", *MINE, cwd=tmp_path).returncode == 0
    again = scrapy("genspider", "-t", "product", "one", "shop.example", *MINE, cwd=tmp_path)
    words = "Spider 'one' already exists in module: mine.one: choose another name, or add --force to overwrite it"
    assert (again.returncode, again.stdout, again.stderr) == (2, "", f"scrapy genspider: {words}\n")
    assert "class OneSpider(scrapy.Spider)" in (tmp_path / "mine/one.py").read_text()


def test_genspider_names_what_it_cannot_write(scrapy: Scrapy, tmp_path: Path) -> None:
    project(tmp_path / "mine")
    (tmp_path / "mine/one.py").mkdir()
    made = scrapy("genspider", "--force", "one", "shop.example", *MINE, cwd=tmp_path)
    assert (made.returncode, made.stderr) == (
        2,
        f"scrapy genspider: {tmp_path}/mine/one.py cannot be written: Is a directory\n",
    )


def test_stock_scrapy_redis_by_settings_alone(fleet: Fleet, site: Site, tmp_path: Path) -> None:
    path, prefix = tmp_path / "items.json", uuid.uuid4().hex
    stock = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_QUEUE_CLASS": "scrapy_redis.queue.PriorityQueue",
        "SCHEDULER_QUEUE_KEY": prefix + ":%(spider)s:requests",
        "SCHEDULER_DUPEFILTER_KEY": prefix + ":%(spider)s:dupefilter",
    }
    given = [part for name, value in stock.items() for part in ("-s", f"{name}={value}")]
    env = {"TEST_SITE": site.url()}
    result = fleet.runner.run("crawl", "plain", *SPIDERS, *ALONE, *given, "-O", str(path), env=env)
    assert result.returncode == 0
    assert [item["url"] for item in items(path)] == [site.url(), site.url("/child")]
    assert "'scheduler/enqueued/redis': 2" in result.stderr
    with redis.Redis.from_url(fleet.redis_url) as client:
        assert client.scard(f"{prefix}:plain:dupefilter") == 1  # start requests are not filtered
        assert client.exists(f"{prefix}:plain:requests") == 0


async def test_a_feed_beside_the_store(
    fleet: Fleet, site: Site, mongo_database: AsyncDatabase[dict[str, Any]], tmp_path: Path
) -> None:
    await fleet.push(site.url("/p/1"))
    path = tmp_path / "items.jsonl"
    status, _ = await ended(fleet.start(FEEDS={str(path): {"format": "jsonlines"}}))
    assert status == 0
    assert json.loads(path.read_text())["title"] == "Knife"
    assert await mongo_database["pages"].count_documents({"title": "Knife"}) == 1
