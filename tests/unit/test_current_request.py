"""What a task is about keeps neither the task nor its result in memory."""

from __future__ import annotations

import asyncio
import gc
from weakref import ref

from scrapy import Request
from scrapy.http import Response

from crawler import current_request


async def test_a_task_that_ended_goes_with_its_result_at_once() -> None:
    request = Request("http://shop.example/")

    async def download() -> Response:
        current_request.note(request)
        await asyncio.sleep(0)
        assert current_request.current() is request
        return Response(request.url)

    gc.disable()
    try:
        task = asyncio.create_task(download())
        page = ref(await task)
        del task
        await asyncio.sleep(0)
        assert page() is None, "a cycle keeps every page until the garbage collector runs"
    finally:
        gc.enable()
    assert current_request.current() is None
