"""Media pipelines, as Scrapy's documentation writes them, get a request for each URL of an item, whatever it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.pipelines import ItemPipelineManager
from scrapy.pipelines.files import FilesPipeline
from scrapy.utils.test import get_crawler

from crawler import stats as names
from crawler.engine import media_urls

GOOD = "http://shop.example/a.pdf"
BROKEN = ["http://[bad", "/a.png", "", "http://x:99999/", "http://\ud800/", None, 5]


class DocumentedPipeline(FilesPipeline):
    """As in Scrapy's documentation."""

    def get_media_requests(self, item: Any, info: Any) -> Iterator[Request]:  # type: ignore[override]
        for url in item["file_urls"]:
            yield Request(url)


class OnePipeline(FilesPipeline):
    """One file per item."""

    def get_media_requests(self, item: Any, info: Any) -> Request:  # type: ignore[override]
        return Request(item["file_urls"][0])


def mended(kind: type[FilesPipeline], directory: Path) -> FilesPipeline:
    crawler = get_crawler(Spider, {"FILES_STORE": str(directory)})
    crawler.spider = crawler._create_spider("media")
    pipeline = kind.from_crawler(crawler)
    pipeline.open_spider()
    media_urls.install(ItemPipelineManager(pipeline, crawler=crawler))
    return pipeline


@pytest.mark.parametrize("kind", [FilesPipeline, DocumentedPipeline])
async def test_what_is_no_url_fails_in_its_place(
    kind: type[FilesPipeline], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = mended(kind, tmp_path)
    asked = pipeline.get_media_requests({"file_urls": [*BROKEN, GOOD]}, pipeline.spiderinfo)
    assert [one.url for one in asked][-1] == GOOD
    assert len(asked) == len(BROKEN) + 1
    item = await pipeline.process_item({"file_urls": BROKEN})
    assert item == {"file_urls": BROKEN, "files": []}
    assert pipeline.crawler.stats is not None
    assert pipeline.crawler.stats.get_value(names.MEDIA_BROKEN) == 2 * len(BROKEN)
    assert "http://[bad is no URL: the item is stored without this file" in caplog.text
    assert "Traceback" not in caplog.text


async def test_one_request_is_as_good_as_many_and_a_password_is_not_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pipeline = mended(OnePipeline, tmp_path)
    await pipeline.process_item({"file_urls": ["http://user:hunter2@[bad"]})
    assert "is no URL" in caplog.text
    assert "hunter2" not in caplog.text


def test_other_requests_are_as_strict_as_ever(tmp_path: Path) -> None:
    pipeline = mended(FilesPipeline, tmp_path)
    with pytest.raises(TypeError, match="must be a list"):
        pipeline.get_media_requests({"file_urls": GOOD}, pipeline.spiderinfo)
    with pytest.raises(ValueError, match="IPv6"):
        Request("http://[bad")
