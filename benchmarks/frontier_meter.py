"""What the server's main thread spends, as the server itself tells it."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any, Final, NamedTuple

import redis.asyncio

POLL_SECONDS: Final = 0.1
REWRITE_SECONDS: Final = 120.0


class Spent(NamedTuple):
    """Of one call, in ms: CPU time of the main thread around it, and its time on the server's clock."""

    cpu: float
    clock: float

    @property
    def own(self) -> float:
        """What the call itself took of the CPU, at most: each of the two holds more, and never less."""
        return min(self)


class Metered(redis.asyncio.Redis):
    """Notes what each script took that it ran."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.spent: defaultdict[str, list[Spent]] = defaultdict(list)

    async def evalsha(self, sha: str, numkeys: int, *keys_and_args: Any) -> Any:
        """As redis-py's."""
        before = await self._look()
        answer = await super().evalsha(sha, numkeys, *keys_and_args)
        after = await self._look()
        self.spent[sha].append(Spent(after.cpu - before.cpu, after.clock - before.clock))
        return answer

    async def eval(self, script: str, numkeys: int, *keys_and_args: Any) -> Any:
        """As redis-py's; compiling is left out of the account."""
        return await self.evalsha(await self.script_load(script), numkeys, *keys_and_args)

    async def _look(self) -> Spent:
        info = await self.info("cpu", "commandstats")
        cpu = info["used_cpu_user_main_thread"] + info["used_cpu_sys_main_thread"]
        return Spent(1000 * float(cpu), info.get("cmdstat_evalsha", {"usec": 0})["usec"] / 1000)


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
