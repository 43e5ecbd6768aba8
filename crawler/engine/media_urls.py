"""A broken media URL costs its file, not its page.

Scrapy's media pipelines ask for a Request of each URL in an item, and the first that is none raises: the item would be
lost, and its page fetched again and again. Known weakness: a pipeline that catches that error itself never sees it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, Final
from urllib.parse import quote, unquote

from scrapy import Request
from scrapy.pipelines import ItemPipelineManager
from scrapy.pipelines.media import MediaPipeline, _MediaRequestFiltered
from scrapy.utils.misc import arg_to_iter

from crawler import stats as names
from crawler.urls import without_credentials

NOWHERE: Final = "about:invalid?url="
_set_url: Final = Request._set_url

logger = logging.getLogger(__name__)


def install(manager: ItemPipelineManager) -> None:
    """For the media pipelines of *manager*, those of the project too."""
    for pipeline in manager.middlewares:
        if isinstance(pipeline, MediaPipeline):
            _mend(pipeline)


def _mend(pipeline: MediaPipeline) -> None:
    wanted, before = pipeline.get_media_requests, pipeline.media_to_download

    def get_media_requests(item: Any, info: Any) -> list[Request]:
        """As Scrapy's, with a request to NOWHERE for each URL that is none: results keep their places."""
        with _any_url():
            asked: list[Request] = list(arg_to_iter(wanted(item, info)))
        for broken in [_broken(one) for one in asked if one.url.startswith(NOWHERE)]:
            pipeline.crawler.stats.inc_value(names.MEDIA_BROKEN)
            logger.warning("%s is no URL: the item is stored without this file", broken)
        return asked

    def media_to_download(request: Request, info: Any, *, item: Any = None) -> Any:
        """As Scrapy's; raises what leaves a file out, without a turn at any host."""
        if request.url.startswith(NOWHERE):
            raise _MediaRequestFiltered(f"{_broken(request)} is no URL")
        return before(request, info, item=item)

    pipeline.get_media_requests = get_media_requests  # type: ignore[method-assign]
    pipeline.media_to_download = media_to_download  # type: ignore[method-assign]


def _broken(request: Request) -> str:
    """What stood in the place of a URL."""
    return without_credentials(unquote(request.url.removeprefix(NOWHERE))) or "''"


@contextmanager
def _any_url() -> Iterator[None]:
    """In this thread; requests that others make meanwhile are as ever."""
    mine = get_ident()

    def set_any_url(request: Request, url: Any) -> None:
        try:
            _set_url(request, url)
        except (TypeError, ValueError):
            if get_ident() != mine:
                raise
            _set_url(request, NOWHERE + quote(str(url), safe="", errors="replace"))

    Request._set_url = set_any_url  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Request._set_url = _set_url  # type: ignore[method-assign]
