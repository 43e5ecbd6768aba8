"""`scrapy recrawl --lastmod`: what sitemap files say of changes."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.commands.recrawl import told_changed
from crawler.errors import ConfigError

SITEMAP = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>https://a.example/1</loc><lastmod>2026-03-01</lastmod></url>
<url><loc>https://a.example/2</loc><lastmod>2026-03-01T10:00:00+02:00</lastmod></url>
<url><loc>https://a.example/3</loc><lastmod>yesterday</lastmod></url>
<url><loc>https://a.example/4</loc></url></urlset>"""


@pytest.mark.parametrize("packed", [False, True])
def test_the_dates_of_a_sitemap(tmp_path: Path, packed: bool) -> None:
    file = tmp_path / "sitemap.xml"
    file.write_bytes(gzip.compress(SITEMAP) if packed else SITEMAP)
    assert list(told_changed([str(file)])) == [
        ("https://a.example/1", datetime(2026, 3, 1, tzinfo=UTC)),
        ("https://a.example/2", datetime(2026, 3, 1, 8, tzinfo=UTC)),
    ]


@pytest.mark.parametrize("raw", [None, gzip.compress(SITEMAP, mtime=0)[:40]])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, raw: bytes | None) -> None:
    file = tmp_path / "sitemap.xml"
    if raw is not None:
        file.write_bytes(raw)
    with pytest.raises(ConfigError, match="--lastmod"):
        list(told_changed([str(file)]))
