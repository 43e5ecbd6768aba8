"""Counts requests, failures, bytes and cost of each pool. Stats only; the metrics read them."""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.stats import get_header_size, get_status_size
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from scrapy.utils.request import request_httprepr

from crawler import stats as names
from crawler.policy.proxies.pools import ProxyPool


class ProxyUsage:
    """Bytes are those of HTTP messages, bodies compressed as received; providers also bill TLS and TCP
    (a few per cent on pages, more on tiny responses). Cost is in the currency of the pool's prices."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats

    def sent(self, pool: ProxyPool, request: Request) -> float:
        """One request was sent, whatever its outcome; returns what that cost."""
        self._stats.inc_value(names.PROXY_REQUESTS.format(pool.name))
        return self._add(names.PROXY_SENT, pool, 1, len(request_httprepr(request)))

    def received(self, pool: ProxyPool, response: Response) -> float:
        """A response came in, from host or proxy; returns what that cost."""
        head = get_header_size(response.headers) + get_status_size(response.status) + 4
        return self._add(names.PROXY_RECEIVED, pool, 0, len(response.body) + head)

    def failed(self, pool: ProxyPool) -> None:
        """A proxy failed, or the host behind it in a way that looks the same."""
        self._stats.inc_value(names.PROXY_FAILURES.format(pool.name))

    def _add(self, stat: str, pool: ProxyPool, requests: int, size: int) -> float:
        self._stats.inc_value(stat.format(pool.name), size)
        if cost := pool.cost(requests, size):
            so_far = names.PROXY_COST.format(pool.name)
            self._stats.set_value(so_far, self._stats.get_value(so_far, 0) + cost)
        return cost
