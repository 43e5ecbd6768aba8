"""Scrapy's own tests that cannot pass on a fleet, and why: docs/compatibility.md has the same reasons in prose."""

from __future__ import annotations

from typing import Final

FILES: Final = (
    "tests/test_crawl.py",
    "tests/test_closespider.py",
    "tests/test_request_attribute_binding.py",
    "tests/test_request_cb_kwargs.py",
    "tests/test_request_left.py",
    "tests/test_signals.py",
    "tests/test_pipelines.py",
    "tests/test_pipeline_crawl.py",
    "tests/test_spidermiddleware_httperror.py",
    "tests/test_spidermiddleware_output_chain.py",
    "tests/test_spider_start.py",
    "tests/test_core_scraper.py",
    "tests/test_logformatter.py",
)
SHORT: Final = ("tests/test_crawl.py::TestCrawlSpider", "tests/test_spidermiddleware_output_chain.py")

DATA: Final = "data: URLs are not queued"
SCHEME: Final = "only http and https are queued"
META: Final = "a Request in meta cannot be stored"
LIMIT: Final = "a request of more than 256 KiB is not queued"
LINE: Final = "one more line of the log, about the dead letter"
OWN: Final = "another ITEM_PROCESSOR is refused by name"
RETRIES: Final = "a spider that lacks its crawler is given it, and its request is retried"
PRIVATE: Final = "reaches into a part of Scrapy that is replaced"

EXPECTED: Final[dict[str, str]] = {
    "TestCrawl::test_referer_header": META,
    "TestCrawl::test_unknown_url_scheme": SCHEME,
    "TestCrawlSpider::test_bytes_received_stop_download_callback": LIMIT,
    "TestCrawlSpider::test_bytes_received_stop_download_errback": LIMIT,
    "TestCallbackKeywordArguments::test_callback_kwargs": LINE,
    "test_request_left.py::test_timeout": RETRIES,
    "test_request_left.py::test_disconnect": RETRIES,
    "test_request_left.py::test_noconnect": RETRIES,
    "TestCustomPipelineManager::test_integration_recommended": OWN,
    "TestCustomPipelineManager::test_integration_no_async_subclass": OWN,
    "TestCustomPipelineManager::test_integration_no_async_not_subclass": OWN,
    "test_spider_start.py::test_start_urls": DATA,
    "test_core_scraper.py::test_scraper_exception": PRIVATE,
    "test_core_scraper.py::test_enqueue_scrape_wrong_type": PRIVATE,
    "test_core_scraper.py::test_errback_error_on_ignored_request": DATA,
    "test_core_scraper.py::test_none_in_callback_output": DATA,
}
