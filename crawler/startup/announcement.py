"""What a crawl logs at its start: where requests come from, where items go, and which settings mean something else in a
fleet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.conf import build_component_list

from crawler import components, config

QUEUES: Final = ("FRONTIER_KEY", "REDIS_URL", "REDIS_HOST", "REDIS_PORT", "REDIS_DB", "REDIS_PARAMS")
PLACES: Final = (*QUEUES, "MONGODB_URI", "MONGODB_DATABASE")
PACE: Final = ("DOWNLOAD_DELAY", "CONCURRENT_REQUESTS_PER_DOMAIN", "ROBOTSTXT_OBEY")  # Scrapy: 0, 8 and False
_ALONE: Final = "counts in this worker only; what is queued when it closes is left to the others, or the next start"
_STEADY: Final = "has no effect: the delay of a host is kept as it is"
_TLS: Final = "has no effect: DOWNLOAD_TLS_MIN_VERSION, DOWNLOAD_TLS_MAX_VERSION and DOWNLOADER_CLIENT_TLS_CIPHERS have"
_QUEUES: Final = "has no effect: the frontier is the queue"
NOTES: Final = {
    "CONCURRENT_REQUESTS_PER_IP": (
        "has no effect: CONCURRENT_REQUESTS_PER_DOMAIN holds for each host, and with POLITENESS_GROUP = 'ip' for all "
        "hosts at one address"
    ),
    "DOWNLOAD_DELAY_JITTER": _STEADY,
    "RANDOMIZE_DOWNLOAD_DELAY": _STEADY,
    "DOWNLOADER_CLIENTCONTEXTFACTORY": _TLS,
    "DOWNLOADER_CLIENT_TLS_METHOD": _TLS,
    "JOBDIR": "keeps `spider.state` only: the frontier keeps the crawl, and a start resumes it",
    "CLOSESPIDER_TIMEOUT": _ALONE,
    "CLOSESPIDER_TIMEOUT_NO_ITEM": _ALONE,
    "CLOSESPIDER_ITEMCOUNT": _ALONE,
    "CLOSESPIDER_PAGECOUNT": _ALONE,
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": _ALONE,
    "CLOSESPIDER_ERRORCOUNT": _ALONE,
    "DEPTH_LIMIT": "holds for the whole fleet: the depth travels with each request",
    "DEPTH_PRIORITY": "shifts priorities for the whole fleet; hosts take turns, so the order is not strict",
    "SCHEDULER_DISK_QUEUE": _QUEUES,
    "SCHEDULER_MEMORY_QUEUE": _QUEUES,
    "SCHEDULER_PRIORITY_QUEUE": _QUEUES,
    "SCHEDULER_START_DISK_QUEUE": _QUEUES,
    "SCHEDULER_START_MEMORY_QUEUE": _QUEUES,
}


def announcement(settings: BaseSettings, spider: str, command: str = "") -> Iterator[str]:
    """Two log lines, one for a place of the spider's own, one for a pace that is ours, and one for each setting that
    means something else in a fleet. *command* is what runs, "" for a script."""
    feeds = [config.shown_uri(str(uri)) for uri in config.mapping(settings, "FEEDS")]
    beside = f", and to {', '.join(feeds)}" if feeds else ""
    if not config.boolean(settings, "FRONTIER_ENABLED"):
        why = _why_alone(settings, command)
        yield f"Requests of {spider} come from {_scheduler(settings)} ({why})"
        yield f"Items of {spider} go through the project's own item pipelines{beside}; Shoal stores nothing"
        return
    from crawler.frontier.server.connection import place  # takes time that `shell` and others need not spend

    server = place(settings) or "the bundled Redis of this machine"
    yield f"Requests of {spider} come from the frontier {settings['FRONTIER_KEY']!r} on {server}, shared by its workers"
    yield _items(settings, spider, beside)
    if own := own_places(settings):
        words = "of its own: commands that name no spider, such as `scrapy export` and `serve`, look there only with -s"
        yield f"{spider} has {' and '.join(own)} {words}"
    pace = [name for name in PACE if settings.getpriority(name) == SETTINGS_PRIORITIES["addon"]]
    if pace:
        given = ", ".join(f"{name} = {settings[name]!r}" for name in pace)
        yield f"{given}: Shoal's own, since the project does not say (docs/compatibility.md)"
    for name, meaning in NOTES.items():
        if settings[name] and (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["default"]:
            yield f"{name} = {settings[name]!r} {meaning} (docs/compatibility.md)"


def own_places(settings: BaseSettings, places: Sequence[str] = PLACES) -> list[str]:
    """Those of *places* that a spider sets for itself, by its *settings*."""
    return [name for name in places if settings.getpriority(name) == SETTINGS_PRIORITIES["spider"]]


def _why_alone(settings: BaseSettings, command: str) -> str:
    if settings.get("FRONTIER_ENABLED") is not None:
        return "FRONTIER_ENABLED = False"
    if command != "crawl":
        who = f"`{command}`, which is none of Shoal's," if command else "a script"
        return f"{who} joins the fleet with FRONTIER_ENABLED = True"
    return "this is Scrapy's own `crawl`: Shoal's commands are not installed, `pip install ./shoal` does that"


def _scheduler(settings: BaseSettings) -> str:
    """Where requests come from outside the fleet: scrapy-redis' scheduler, say, may be shared by processes."""
    path = components.path_of(settings["SCHEDULER"])
    theirs = "Scrapy's own scheduler, in this process alone"
    return theirs if path == default_settings.SCHEDULER else f"{path}, outside the fleet"


def _items(settings: BaseSettings, spider: str, beside: str) -> str:
    stores = components.storing(settings)
    others = [one for one in build_component_list(settings.getwithbase("ITEM_PIPELINES")) if one not in stores]
    through = ", ".join(components.path_of(one).rpartition(".")[2] for one in others) or "no pipeline"
    if not config.boolean(settings, "SHOAL_STORE"):
        return f"Items of {spider} go through {through}{beside}; Shoal stores none of them (SHOAL_STORE = False)"
    server = config.shown_uri(config.text(settings, "MONGODB_URI")) or "the bundled MongoDB of this machine"
    return f"Items of {spider} go through {through} to database {settings['MONGODB_DATABASE']!r} on {server}{beside}"
