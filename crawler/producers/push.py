"""Pushes any number of lines: read in a thread, checked, packed and sent in batches, in constant memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import PushOutcome
from crawler.frontier.runs.pushed_run import PushedRun, WantedRun
from crawler.producers import sources
from crawler.producers.lines import Chunk, Refusal, chunks_apart
from crawler.producers.progress import PushProgress
from crawler.producers.rejects import Refused, Rejects
from crawler.producers.rows import Rows
from crawler.producers.run_setup import learn_tiers, share_scope
from crawler.producers.sender import FULL, Sender, takes_no_more
from crawler.routing.encoder import Encoder
from crawler.utils.plural import several

MAX_HOSTS: Final = 100_000  # counted by a dry run


@dataclass(frozen=True, slots=True)
class PushPlan:
    """What to push: *sources* for `chunks_apart`, with *column* if they are CSV; *scope*: the run's, as JSON."""

    sources: Sequence[str]
    column: str = ""
    priority: int = 0
    scope: str = ""

    def identity(self) -> str:
        """Equal for the same push of the same files; "" if unknown, as for standard input."""
        if sources.STDIN in self.sources:
            return ""
        told = [*((source, *sources.state_of(source)) for source in self.sources), self.column, self.priority]
        told += [self.scope] if self.scope else []
        return sha256(repr(told).encode(errors="surrogateescape")).hexdigest()[:32]


class Pusher:
    """One push of what is *wanted*; `summary` gives the outcome, also after an error."""

    def __init__(self, encoder: Encoder, wanted: PushPlan, rejects: Rejects, progress: PushProgress) -> None:
        self._encoder = encoder
        self._looking = encoder.without_traces()  # for what is not queued, or not yet
        self._wanted = wanted
        self._rejects = rejects
        self._progress = progress
        self._sender: Sender | None = None
        self._run: PushedRun | None = None
        self._place = ""  # of the last line that was taken, while there may be more

    @property
    def begun(self) -> bool:
        """Whether its run is open, so that there is something to say."""
        return self._sender is not None

    async def push(self, frontier: Frontier, run: WantedRun) -> None:
        """Push every good line; raises FrontierError, and RunError if *run* is unavailable.

        Nothing is opened for sources without a good line: a name is misspelt, and nobody wants a run of it.
        """
        await learn_tiers(frontier, self._encoder)
        async with aclosing(self._chunks()) as chunks:
            if run.run_id:  # it is there already, with a scope of its own
                await self._push_all(frontier, run, chunks)
            elif (first := await self._first_good(chunks)) is not None:
                await self._push_all(frontier, run, _all(first, chunks))

    async def _first_good(self, chunks: AsyncIterator[Chunk]) -> Chunk | None:
        """The first chunk with a good line, after all lines before it were refused."""
        self._encoder.scopes.learn("0", self._wanted.scope)
        async for chunk in chunks:
            refused = Refused()
            if any(self._rows(self._looking, "0", refused).of(chunk)):
                return chunk  # read once more with the run's generation, which refuses the same
            for refusal in refused.kept:
                self._rejects.add(refusal)
            self._progress.advance(len(chunk.lines), chunk.read)
        return None

    async def _push_all(self, frontier: Frontier, run: WantedRun, chunks: AsyncIterator[Chunk]) -> None:
        self._run = PushedRun(frontier.runs, self._encoder.spider.name, run)
        async with self._run:
            await share_scope(frontier, self._encoder, self._run.generation, self._wanted.scope)
            rows = self._rows(self._encoder, self._run.generation)
            async with Sender(frontier) as self._sender:
                await self._push(rows, self._sender, chunks)
            self._run.incomplete |= self._sender.full
            self._count_refused(self._sender)

    async def _push(self, rows: Rows, sender: Sender, chunks: AsyncIterator[Chunk]) -> None:
        async for chunk in chunks:
            if sender.stopped and chunk.lines:
                self._stopped(chunk, sender)
                return
            if chunk.lines:
                self._place = chunk.place(-1)
            for batch in rows.of(chunk):
                await sender.send(batch)
            if not chunk.lines:
                await sender.flush()  # no input at the moment: send what is there
            if chunk.is_cut and self._run is not None:
                self._run.incomplete = True
            self._progress.advance(len(chunk.lines), chunk.read)
        self._place = ""

    async def check(self) -> str:
        """A dry run: what would be pushed, as one readable line."""
        self._encoder.scopes.learn("0", self._wanted.scope)
        count, hosts, rows = 0, set[str](), self._rows(self._looking, "0")
        async for chunk in self._chunks():
            for batch in rows.of(chunk):
                count += len(batch)
                if len(hosts) < MAX_HOSTS:
                    hosts.update(host for host, _ in batch)
            self._progress.advance(len(chunk.lines), chunk.read)
        of = ("more than " if len(hosts) >= MAX_HOSTS else "") + several(len(hosts), "host")
        words = f"dry run: {count} would be pushed to {self._encoder.spider.name}, of {of}"
        return f"{words}, {self._rejects.count} refused" if self._rejects.count else words

    def summary(self) -> str:
        """One readable line."""
        name, outcomes = self._encoder.spider.name, self._sender.outcomes if self._sender else {}
        words = [f"{outcomes.get(PushOutcome.ACCEPTED, 0)} pushed to {name}"]
        if not self.begun and not self._rejects.count:
            return f"{words[0]}: nothing was there to be pushed"
        if known := outcomes.get(PushOutcome.DUPLICATE):
            words.append(f"{known} known already (--recrawl crawls them again)")
        if dead := outcomes.get(PushOutcome.DUPLICATE_DEAD):
            words.append(f"{dead} are dead letters (`scrapy dead retry {name}`)")
        if self._rejects.count:
            words.append(f"{self._rejects.count} refused")
        if self._place:
            words.append(f"what follows {self._place} is left, and maybe some lines before it")
        told = self._run.told() if self._run else ""
        return ", ".join(words) + (f" ({told})" if told else "")

    def _rows(self, encoder: Encoder, generation: str, rejects: Rejects | Refused | None = None) -> Rows:
        return Rows(encoder, generation, self._wanted.priority, rejects or self._rejects)

    def _chunks(self) -> AsyncGenerator[Chunk]:
        return chunks_apart(self._wanted.sources, self._wanted.column)

    def _stopped(self, chunk: Chunk, sender: Sender) -> None:
        words = f"stopped at {chunk.place(0)}"
        if sender.full:
            words += ": push the same again when there is room; what is known is not pushed twice"
        self._rejects.add(Refusal("", 0, words), 0)

    def _count_refused(self, sender: Sender) -> None:
        for outcome in FULL:
            if count := sender.outcomes[outcome]:
                words = f"{several(count, 'message')}: {takes_no_more(outcome)}"
                self._rejects.add(Refusal("", 0, words), count)
        if count := sender.outcomes[PushOutcome.CANCELLED]:
            self._rejects.add(Refusal("", 0, f"{several(count, 'message')} of a run that was cancelled"), count)


async def _all(first: Chunk, rest: AsyncIterator[Chunk]) -> AsyncIterator[Chunk]:
    yield first
    async for chunk in rest:
        yield chunk
