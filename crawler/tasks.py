"""Ends background tasks."""

from __future__ import annotations

import asyncio
from typing import Any, Final

AGAIN_SECONDS: Final = 0.5


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancel *tasks* until each has ended; how they ended is left to be asked of them.

    Python 3.11's `asyncio.wait_for`, under the clients of the servers, swallows a cancellation that comes as it ends: a
    task that works in a loop would go on for ever, and who waits for it too.
    """
    pending = {task for task in tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=AGAIN_SECONDS)
