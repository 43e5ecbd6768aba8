"""What the pages and the template of a spider hold can be pasted: Python, rules of domains, proxies, API providers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from textwrap import dedent
from typing import Any, Final

import pytest
import yaml

from crawler.items import ProductItem
from crawler.policy.api_providers import read_providers
from crawler.policy.proxies.tables import parse_pools_text
from crawler.policy.rules.domains import parse_rules
from tests.unit.test_docs import PAGES
from tests.zygote import PROJECT_DIR

BLOCK: Final = re.compile(r"(?:^    .*\n|^\n+(?=    ))+", re.MULTILINE)
PYTHON: Final = re.compile(r"(?:#|from |import |class |def |@|expected = |[A-Z_]+ = )")


def snippets(page: Path, beginning: str) -> Iterator[str]:
    """Blocks of code that begin as the regular expression says."""
    text = page.read_text("utf-8")
    return (one for found in BLOCK.findall(text) if re.match(beginning, one := dedent(found).lstrip("\n")))


def pasted(page: str, name: str) -> Any:
    """What *name* stands for where the block of *page* that makes it has been pasted."""
    block = next(one for one in snippets(PROJECT_DIR / page, PYTHON.pattern) if re.search(rf"\b{name}\b", one))
    names: dict[str, Any] = {"__name__": "pasted"}
    exec(compile(block, page, "exec", dont_inherit=True), names)
    return names[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_python_is_python(page: Path) -> None:
    compiled = [compile(block, page.name, "exec").co_filename for block in snippets(page, PYTHON.pattern)]
    assert set(compiled) <= {page.name}


def test_many_are_looked_at() -> None:
    assert sum(len(list(snippets(page, PYTHON.pattern))) for page in PAGES) > 10


@pytest.mark.parametrize(("page", "name"), [("docs/spiders.md", "MyShop"), ("docs/spiders.md", "JobItem")])
def test_a_class_is_made_as_it_stands(page: str, name: str) -> None:
    assert pasted(page, name).__name__ == name


def test_the_pipeline_converts_what_the_page_says_it_does() -> None:
    item = ProductItem(url="https://shop.example/", price=Decimal("10.00"), currency="USD")
    made = pasted("docs/extending.md", "InEuros")().process_item(item)
    assert (made.price, made.currency) == (Decimal("9.20"), "EUR")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_rules_of_domains_are_read(page: Path) -> None:
    for block in snippets(page, r'\["'):
        assert parse_rules(block)


def test_the_rules_that_a_new_spider_names_find_what_they_say() -> None:
    text = (PROJECT_DIR / "crawler" / "templates" / "spiders" / "product.tmpl").read_text("utf-8")
    rules = text.partition("without code:\n")[2].partition('"""')[0].replace("$domain", "shop.example")
    site = parse_rules(dedent(rules)).for_url("https://shop.example/")
    (product,) = site.product
    assert product.pattern is not None
    assert product.pattern.search("https://shop.example/p/12")


def test_parts_of_an_overlay_are_what_kustomize_takes() -> None:
    blocks = list(snippets(PROJECT_DIR / "docs" / "kubernetes.md", r"[a-z]\w*:\n"))
    assert [list(yaml.safe_load(block)) for block in blocks] == [["components"], ["configMapGenerator"], ["patches"]]


def test_a_project_of_ones_own_reads_in_a_pod_what_the_manifests_set(tmp_path: Path) -> None:
    mine = tmp_path / "myproject"
    mine.mkdir()
    (mine / "settings.py").write_text("BOT_NAME = 'mine'\n")
    (mine / "production.py").write_text(next(snippets(PROJECT_DIR / "docs" / "kubernetes.md", "# myproject/prod")))
    names = ("BOT_NAME", "MONGODB_DATABASE", "METRICS_PORT", "LOG_JSON", "COOKIES_ENABLED")
    shown = f"from myproject import production; print(*(getattr(production, name) for name in {names}))"
    environment = os.environ | {"PYTHONPATH": str(PROJECT_DIR), "MONGODB_DATABASE": "theirs"}
    told = subprocess.check_output([sys.executable, "-c", shown], cwd=tmp_path, env=environment, text=True)
    assert told.split() == ["mine", "theirs", "9410", "True", "True"]


def test_pools_and_providers_are_read() -> None:
    pools = next(snippets(PROJECT_DIR / "docs" / "proxies.md", r"\[homes\]"))
    assert set(parse_pools_text(pools, "a page")) == {"homes", "fixed"}
    providers = pasted("docs/browser.md", "API_PROVIDERS")
    assert set(read_providers({"API_PROVIDERS": providers})) == {"acme", "jobs", "bulk"}
