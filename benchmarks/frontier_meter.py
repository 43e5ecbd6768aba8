"""What the server's main thread spends, as the server itself tells it."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence
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


class Cost(NamedTuple):
    """What the server spent: us of its main thread, us of these inside commands, how often a client woke it, and bytes
    in and out."""

    cpu: float
    commands: float
    trips: float
    traffic: float

    @classmethod
    def so_far(cls, client: Any, commands: Sequence[str]) -> Cost:
        """Since the server started; *commands*: those that clients send; what a script or EXEC runs is in its own."""
        told: Any = client.info("cpu") | client.info("commandstats") | client.info("stats")
        return cls(
            1e6 * (float(told["used_cpu_user_main_thread"]) + float(told["used_cpu_sys_main_thread"])),
            sum(told[f"cmdstat_{name}"]["usec"] for name in commands if f"cmdstat_{name}" in told),
            told["total_reads_processed"],
            told["total_net_input_bytes"] + told["total_net_output_bytes"],
        )

    def per_request(self, before: Cost, requests: int) -> Cost:
        """What was spent since *before* on each of *requests*."""
        return Cost(*((now - then) / requests for now, then in zip(self, before, strict=True)))

    @property
    def trip(self) -> float:
        """Us that one round trip costs beside its command."""
        return (self.cpu - self.commands) / self.trips


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
