"""Requests found on pages, on their way into the frontier: which are not stored yet, and which page they belong to."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import Final

from crawler.frontier.messages import Handle, Message, PushOutcome
from crawler.frontier.server import keys
from crawler.frontier.server.shards import BATCH
from crawler.worker.outbox.lost_links import LostLinks

AGAIN_SECONDS: Final = 1.0  # after a refusal, before a shard is tried again
OVERHEAD: Final = 1_000  # bytes of a message besides its body

Push = Callable[[Sequence[Message]], Awaitable[list[PushOutcome]]]


@dataclass(frozen=True, slots=True)
class Child:
    """A request and the lease of the page it was found on."""

    message: Message
    parent: Handle
    page: bytes = b""  # the stored form of that page's request


class Children:
    """Requests not sent yet, and by shard those that were refused for lack of room, or whose shard is *away*.

    A full shard is retried once a second with its first batch, and with the rest when that fits; other shards go on.
    *stored* is called with the outcome of each request that the frontier has, *complete* for each page whose requests
    it all has.
    """

    def __init__(
        self,
        shard_of: Callable[[Message], int],
        stored: Callable[[Message, PushOutcome], None],
        complete: Callable[[Handle], None],
        links: LostLinks,
        away: AbstractSet[int] = frozenset(),
    ) -> None:
        self._shard_of = shard_of
        self._stored = stored
        self._complete = complete
        self._lost_links = links
        self._away = away
        self._new: deque[Child] = deque()
        self._kept: dict[int, deque[Child]] = {}  # by shard that is full or away
        self._again: dict[int, float] = {}  # when these are retried
        self._left: Counter[Handle] = Counter()  # how many of each page are not stored yet
        self._held: Counter[Handle] = Counter()  # and how many of these are kept
        self.kept_bytes = 0

    def __len__(self) -> int:
        return len(self._new) + sum(map(len, self._kept.values()))

    @property
    def refused(self) -> bool:
        """Whether some were refused for lack of room."""
        return bool(self._kept.keys() - self._away)

    def slows(self, there: Iterable[int]) -> bool:
        """Whether to lease less of all shards: pages of some with room wait for others, or none that is *there* has
        room."""
        full = self._kept.keys()
        return self.refused and (full >= {*there} or any(keys.shard_of_id(page[0]) not in full for page in self._held))

    @property
    def largest(self) -> tuple[bytes, int] | None:
        """The page whose refused requests need the most room, and how many bytes that is."""
        needed: Counter[tuple[Handle, bytes]] = Counter()
        for kept in self._kept.values():
            for child in kept:
                needed[child.parent, child.page] += _size(child)
        return next(((page, size) for (_, page), size in needed.most_common(1)), None)

    def add(self, message: Message, parent: Handle, page: bytes = b"") -> None:
        """Add *message*, found on the page of *parent*, whose own request is *page*."""
        self._new.append(Child(message, parent, page))
        self._left[parent] += 1

    def pending(self, parent: Handle) -> bool:
        """Whether some requests of *parent* are not stored yet."""
        return parent in self._left

    def drop(self, parents: Sequence[Handle]) -> None:
        """Forget the requests of *parents*, which will be fetched again. Not to be called while `send` runs."""
        gone = {parent for parent in parents if self._left.pop(parent, 0)}
        for parent in gone:
            self._held.pop(parent, None)
        if not gone:
            return
        self._new = deque(child for child in self._new if child.parent not in gone)
        for shard, kept in list(self._kept.items()):
            self._kept[shard] = deque(child for child in kept if child.parent not in gone)
            self._forget_if_empty(shard)
        self.kept_bytes = sum(_size(child) for kept in self._kept.values() for child in kept)

    def try_now(self) -> None:
        """Retry full shards at the next `send`."""
        self._again = dict.fromkeys(self._again, float("-inf"))

    def due(self) -> bool:
        """Whether `send` has anything to do."""
        return bool(self._new) or any(at <= monotonic() for at in self._again.values())

    async def send(self, push: Push) -> None:
        """Send everything there is room for. Errors of *push* pass through, and nothing is lost."""
        for shard, at in list(self._again.items()):
            if at <= monotonic() and shard not in self._away:
                await self._send_kept(shard, push)
        left = len(self._new)
        while left:
            batch = list(islice(self._new, min(left, BATCH)))
            await self._send_new(batch, push)
            left -= len(batch)

    async def _send_kept(self, shard: int, push: Push) -> None:
        kept = self._kept[shard]
        while kept:
            batch = list(islice(kept, BATCH))
            refused = await self._push(batch, push)
            for child in batch:
                kept.popleft()
                self.kept_bytes -= _size(child)
            self._held -= Counter(child.parent for child in batch)  # drops those of which none is left
            if refused:
                self._keep(shard, refused, in_front=True)
                return
        self._forget_if_empty(shard)

    async def _send_new(self, batch: list[Child], push: Push) -> None:
        """Send new requests; those for shards that are full or away join what waits for these already."""
        full = self._kept.keys() | self._away
        asked = [child for child in batch if self._shard_of(child.message) not in full] if full else batch
        held_back = [child for child in batch if self._shard_of(child.message) in full] if full else []
        refused = await self._push(asked, push) if asked else []
        for _ in batch:
            self._new.popleft()
        for child in (*refused, *held_back):
            self._keep(self._shard_of(child.message), [child])

    async def _push(self, batch: Sequence[Child], push: Push) -> list[Child]:
        """Send *batch* and report those that the frontier has; returns the others."""
        losses = self._lost_links.losses
        outcomes = await push([child.message for child in batch])
        refused = []
        for child, outcome in zip(batch, outcomes, strict=True):
            if outcome.is_full:
                refused.append(child)
                continue
            self._stored(child.message, outcome)
            self._lost_links.stored(child.parent, losses)
            self._left[child.parent] -= 1
            if not self._left[child.parent]:
                del self._left[child.parent]
                self._complete(child.parent)
        return refused

    def _keep(self, shard: int, refused: Sequence[Child], *, in_front: bool = False) -> None:
        kept = self._kept.setdefault(shard, deque())
        if in_front:
            kept.extendleft(reversed(refused))
        else:
            kept.extend(refused)
        self.kept_bytes += sum(map(_size, refused))
        self._held.update(child.parent for child in refused)
        if in_front or shard not in self._again:
            self._again[shard] = monotonic() + AGAIN_SECONDS

    def _forget_if_empty(self, shard: int) -> None:
        if not self._kept[shard]:
            del self._kept[shard]
            self._again.pop(shard, None)


def _size(child: Child) -> int:
    return OVERHEAD + len(child.message.body)
