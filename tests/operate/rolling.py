"""Workers under load are replaced one by one by those of the next release, as a rolling update of pods does it."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import ExitStack
from typing import Any, Final

import yaml

from tests.crawling import Fleet, ended
from tests.integration.extensions.visiting import ADDRESS, logged, until
from tests.operate.load import UNDER_LOAD, Load, Told, finished, judged
from tests.zygote import PROJECT_DIR, Forked

WORKERS: Final = 4
GAP_SECONDS: Final = 10.0  # the longest time without any request
NEXT: Final = "tests.integration.crawl.next_release"


def grace_seconds() -> float:
    """What a pod is given in k8s/ from SIGTERM to its end."""
    documents = yaml.safe_load_all((PROJECT_DIR / "k8s/base/workers.yaml").read_text())
    pods = next(one["spec"]["template"]["spec"] for one in documents if one["kind"] == "StatefulSet")
    return float(pods["terminationGracePeriodSeconds"])


async def replaced(fleet: Fleet, olds: list[Forked], settings: dict[str, Any]) -> tuple[list[Forked], list[float]]:
    """One after the other: SIGTERM, its end, a new one, the next when that is ready. New workers, seconds to end."""
    news, seconds = [], []
    for old in olds:
        began = time.monotonic()
        old.send_signal(signal.SIGTERM)
        status, log = await ended(old, grace_seconds())
        assert status == 0, log[-4000:]
        seconds.append(time.monotonic() - began)
        news.append(fleet.start(**settings, SPIDER_MODULES=NEXT))
        await ready(news[-1])
    return news, seconds


async def ready(worker: Forked) -> None:
    """Return when its probe says so."""
    address = (await asyncio.to_thread(logged, worker, ADDRESS))[1]
    await asyncio.to_thread(until, f"{address}/readyz", 200)


async def roll(fleet: Fleet, uri: str, workers: int = WORKERS) -> Told:
    """The whole crawl."""
    with ExitStack() as stack:
        load = Load(stack)
        await fleet.push(*load.roots)
        olds = [fleet.start(**UNDER_LOAD) for _ in range(workers)]
        await load.until(len(load.urls) // 10)
        began = time.monotonic()
        news, seconds = await replaced(fleet, olds, UNDER_LOAD)
        rolled = time.monotonic()
        asked = load.asked
        _, wrong = await finished(news)
        told = await asyncio.to_thread(judged, fleet, load, uri, strict=True)
        still = load.standstill(began, rolled)
    told.row |= {
        "workers replaced": str(workers),
        "seconds it took": f"{rolled - began:.0f}",
        "pages meanwhile": f"{asked:,}",
        "longest time without a request": f"{still:.1f} s of {GAP_SECONDS:g}",
        "longest time to end": f"{max(seconds):.1f} s of {grace_seconds():g}",
    }
    told.wrong += wrong + ([f"no request came in for {still:.1f} s"] if still > GAP_SECONDS else [])
    told.wrong += [] if asked < len(load.urls) else ["the crawl was over before all were replaced"]
    return told
