"""The generation that requests without a page of their own join: start URLs, and those of `start()`."""

from __future__ import annotations

from crawler.frontier.runs.generations import Generations


class CurrentGeneration:
    """That of the crawl which *spider* has joined, and of those that follow it."""

    def __init__(self, generations: Generations, spider: str) -> None:
        self._generations = generations
        self._spider = spider
        self._is_known = True
        self.id = "0"

    def joined(self, generation: str) -> None:
        """This worker has joined *generation*."""
        self.id = generation

    def forget(self) -> None:
        """Redis may have lost it: it is asked for before the next start URL."""
        self._is_known = False

    async def ensure(self) -> None:
        """Ask for it if it was forgotten."""
        if not self._is_known:
            await self.ask()

    async def ask(self) -> None:
        """Ask for it: a push or a schedule may have opened another one."""
        self._is_known = True
        self.id = await self._generations.current(self._spider)
