"""Which servers have answered a client: another one than before may have lost what was confirmed last."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

SECTIONS: Final = ("server", "replication")  # of INFO
_FIELD: Final = re.compile(r"^(run_id|master_replid2?):(\w+)", re.MULTILINE)


class _Server(NamedTuple):
    run_id: str  # another one after each start
    history: str  # of its data: another one after a start, or after it took over


class KnownServers:
    """What INFO said of the server, or of each node of a Cluster; tells whether another one answers.

    A server that was started again has another `run_id`; a replica that took over names the history of the data that
    it goes on with. Where INFO tells neither, nothing is noticed: other checks report that.
    """

    def __init__(self) -> None:
        self._servers: dict[str, _Server] = {}  # by their addresses
        self._histories: set[str] = set()
        self._primaries: set[str] = set()  # that have answered

    def met(self, address: str, info: Mapping[str, Any]) -> bool:
        """Note the server at *address*, "" for whichever one a URL leads to."""
        run_id, history, earlier = (str(info.get(name, "")) for name in ("run_id", "master_replid", "master_replid2"))
        if not run_id:
            return False
        before = self._servers.get(address)
        took_over = earlier in self._histories and history not in self._histories
        if took_over:
            self._primaries -= {name for name, one in self._servers.items() if one.history == earlier}
        self._servers[address] = _Server(run_id, history)
        self._histories.add(history)
        return took_over or (before is not None and before.run_id != run_id)

    def are(self, infos: Mapping[str, Mapping[str, Any]], primaries: Collection[str]) -> bool:
        """Note those that have answered. One of them that is no more among the *primaries* there are, and that none of
        these took over from, may have moved."""
        others = [self.met(address, info) for address, info in infos.items()]
        gone = self._primaries.difference(primaries)
        self._primaries = (self._primaries - gone).union(infos)
        return any(others) or bool(gone)


def read_info(text: bytes | str) -> dict[str, str]:
    """What `met` needs of an answer to INFO."""
    return dict(_FIELD.findall(text.decode() if isinstance(text, bytes) else text))
