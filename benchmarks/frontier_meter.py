"""What the server's main thread spends, as the server itself tells it."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any, Final

import redis.asyncio

POLL_SECONDS: Final = 0.1
REWRITE_SECONDS: Final = 120.0


class Metered(redis.asyncio.Redis):
    """Notes the CPU time of the server's main thread, in ms, for each script it runs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.spent: defaultdict[str, list[float]] = defaultdict(list)

    async def evalsha(self, sha: str, numkeys: int, *keys_and_args: Any) -> Any:
        """As redis-py's."""
        before = await self._cpu_ms()
        answer = await super().evalsha(sha, numkeys, *keys_and_args)
        self.spent[sha].append(await self._cpu_ms() - before)
        return answer

    async def eval(self, script: str, numkeys: int, *keys_and_args: Any) -> Any:
        """As redis-py's; compiling is left out of the account."""
        return await self.evalsha(await self.script_load(script), numkeys, *keys_and_args)

    async def _cpu_ms(self) -> float:
        info = await self.info("cpu")
        return 1000 * float(info["used_cpu_user_main_thread"] + info["used_cpu_sys_main_thread"])


def fork_ms(client: Any) -> float:
    """How long the server stands still while it forks to rewrite its append-only file; raises TimeoutError."""
    deadline = time.monotonic() + REWRITE_SECONDS
    _wait_for_rewrite(client, deadline)  # one that goes on would be told in place of ours
    client.bgrewriteaof()
    _wait_for_rewrite(client, deadline)
    return float(client.info("stats")["latest_fork_usec"]) / 1000


def _wait_for_rewrite(client: Any, deadline: float) -> None:
    while client.info("persistence")["aof_rewrite_in_progress"]:
        if time.monotonic() > deadline:
            raise TimeoutError(f"the append-only file was not rewritten within {REWRITE_SECONDS:.0f} s")
        time.sleep(POLL_SECONDS)
