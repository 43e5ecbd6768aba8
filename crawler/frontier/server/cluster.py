"""A Cluster by the addresses of some of its nodes: whichever answers first tells where the others are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from redis._parsers import AsyncCommandsParser
from redis.exceptions import ClusterError

from crawler.frontier.server.host_port import host_and_port

PORT: Final = 6_379
FORM: Final = "redis://[[user]:password@]host[:port],host[:port],... with REDIS_CLUSTER=True"
_URL: Final = re.compile(r"(?P<start>\w+://(?:[^/?]*@)?)(?P<hosts>[^/?]*)(?P<end>.*)", re.DOTALL)


class CommandsOnce(AsyncCommandsParser):
    """Keeps the table of commands, which redis-py asks for with the slots, each time that a node does not answer: it
    takes ten times as long to read as these."""

    async def initialize(self, node: Any = None) -> None:
        """As redis-py's, the first time."""
        if not self.commands:
            await super().initialize(node)
        elif node:
            self.node = node


class StaysOffMovingSlots:
    """Mixed into a client of a Cluster: it follows no ASK, but raises what passes.

    While a shard is moved key by key, some of its keys are on either node, and a script that is sent after them would
    begin an empty frontier beside them. Scripts name a key that no node has: they are answered ASK until all is moved.
    """

    def get_node(self, host: str | None = None, port: int | None = None, node_name: str | None = None) -> Any:
        """redis-py asks for a node by its name to follow ASK, and else only in `scan_iter`, which nobody calls."""
        if node_name is not None:
            raise ClusterError("data is being moved between its nodes: wait")
        return super().get_node(host, port, node_name)  # type: ignore[misc]


def client(url: str | None, params: Mapping[str, Any], client_class: Any, node_class: Any) -> Any:
    """A *client_class* of the Cluster whose nodes *url* names (FORM), by redis-py's *node_class* (of redis or of
    redis.asyncio). Raises ValueError for a host or port that is none."""
    if not url:
        return client_class(**params)
    first, others = split(url)
    nodes = [node_class(host, port) for host, port in others]
    return client_class.from_url(first, startup_nodes=nodes, **params)


def names_several(url: str | None) -> bool:
    """Whether *url* names more than one host, as only a Cluster's may."""
    found = _URL.fullmatch(url or "")
    return found is not None and "," in found["hosts"]


def split(url: str) -> tuple[str, list[tuple[str, int]]]:
    """*url* with its first host only, and the others. Raises ValueError."""
    found = _URL.fullmatch(url)
    if found is None or not names_several(url):
        return url, []
    first, *others = found["hosts"].split(",")
    host_and_port(first, PORT)  # redis-py would take an empty one for this machine
    return f"{found['start']}{first}{found['end']}", [host_and_port(host, PORT) for host in others]
