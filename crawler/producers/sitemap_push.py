"""Pushes sitemaps as requests; a worker reads what they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from crawler import urls
from crawler.errors import CodecError, MessageError, ShoalError
from crawler.frontier.frontier import Frontier
from crawler.frontier.messages import Message, PushOutcome
from crawler.frontier.runs.pushed_run import PushedRun, WantedRun
from crawler.policy.rules.patterns import BadPatternError, Pattern
from crawler.producers.lines import Chunk, Refusal, chunks_apart
from crawler.producers.rejects import Rejects
from crawler.producers.run_setup import learn_tiers, share_scope
from crawler.producers.sender import FULL, takes_no_more
from crawler.routing.encoder import Encoder
from crawler.routing.sitemap_requests import SitemapTerms, sitemap_message
from crawler.utils.plural import several

ROBOTS: Final = "robots"  # instead of a sitemap: those named by a site's robots.txt


@dataclass(frozen=True, slots=True)
class WantedSitemaps:
    """*sitemaps*: URLs; *sites*: sources of URLs whose robots.txt names sitemaps."""

    sitemaps: Sequence[str]
    sites: Sequence[str] = ()
    terms: SitemapTerms = field(default_factory=SitemapTerms)
    priority: int = 0
    scope: str = ""  # of the run, as JSON

    def identity(self) -> str:
        """Equal for the same push."""
        told = [*self.sitemaps, *self.sites, self.terms.stored(), self.priority, self.scope]
        return sha256(repr(told).encode(errors="surrogateescape")).hexdigest()[:32]


def wanted_sitemaps(
    given: Sequence[str], sites: Sequence[str], include: Sequence[str], exclude: Sequence[str], *, changed_only: bool
) -> WantedSitemaps:
    """What a command's options ask for; raises ShoalError naming the invalid one."""
    if ROBOTS in given and not sites:
        raise ShoalError("--sitemap robots: name the sites, as in `--sitemap robots https://shop.example/`")
    if sites and ROBOTS not in given:
        raise ShoalError(f"{sites[0]!r} cannot be pushed beside a sitemap: give it to a push of its own")
    terms = SitemapTerms(_patterns("--include", include), _patterns("--exclude", exclude), changed_only)
    return WantedSitemaps([one for one in given if one != ROBOTS], sites, terms)


def _patterns(option: str, texts: Sequence[str]) -> tuple[Pattern, ...]:
    try:
        return tuple(Pattern(text) for text in texts)
    except BadPatternError as error:
        raise ShoalError(
            f"{option} is not a pattern ({error}): expected a regular expression such as /product/"
        ) from None


class SitemapPusher:
    """One push of what is *wanted*; `summary` gives the outcome."""

    def __init__(self, encoder: Encoder, wanted: WantedSitemaps, rejects: Rejects) -> None:
        self._encoder = encoder
        self._wanted = wanted
        self._rejects = rejects
        self._run: PushedRun | None = None
        self.outcomes: Counter[PushOutcome] = Counter()

    @property
    def begun(self) -> bool:
        """Whether anything was sent."""
        return bool(self.outcomes)

    async def push(self, frontier: Frontier, run: WantedRun) -> None:
        """Push the sitemaps; raises FrontierError, and RunError if *run* is unavailable."""
        if not (roots := await self.roots()):
            return
        self._run = PushedRun(frontier.runs, self._encoder.spider.name, run)
        async with self._run:
            self._run.left_to = "the last of its sitemaps is read"
            await self.push_roots(frontier, roots, self._run.generation)
            for outcome in FULL:
                if count := self.outcomes[outcome]:
                    self._run.incomplete = True
                    words = f"{several(count, 'sitemap')}: {takes_no_more(outcome)}"
                    self._rejects.add(Refusal("", 0, words), count)

    async def push_roots(self, frontier: Frontier, roots: Mapping[str, SitemapTerms], generation: str) -> None:
        """Push *roots* into an open run, which the last of its sitemaps seals. May be repeated."""
        await learn_tiers(frontier, self._encoder)
        await share_scope(frontier, self._encoder, generation, self._wanted.scope)
        messages = [self._message(root, terms, generation) for root, terms in roots.items()]
        await frontier.sitemaps.add(self._encoder.spider.name, generation, [(root, "") for root in roots])
        self.outcomes.update(await frontier.push(messages))

    def summary(self) -> str:
        """One readable line."""
        name = self._encoder.spider.name
        words = [f"{several(self.outcomes[PushOutcome.ACCEPTED], 'sitemap')} pushed to {name}"]
        if known := self.outcomes[PushOutcome.DUPLICATE]:
            words.append(f"{known} known already in this run")
        if dead := self.outcomes[PushOutcome.DUPLICATE_DEAD]:
            words.append(f"{dead} are dead letters (`scrapy dead retry {name}`)")
        if self._rejects.count:
            words.append(f"{self._rejects.count} refused")
        told = self._run.told() if self._run else ""
        return ", ".join(words) + (f" ({told})" if told else "")

    async def roots(self) -> dict[str, SitemapTerms]:
        """Each sitemap that can be fetched, once. What names the sites is read in a thread."""
        terms = self._wanted.terms
        robots = SitemapTerms(terms.include, terms.exclude, terms.changed_only, is_robots=True)
        found = {url: terms for url in self._wanted.sitemaps if self._is_good("--sitemap", 0, url)}
        async with aclosing(chunks_apart(self._wanted.sites, "")) as read:
            async for chunk in read:
                for refusal in chunk.refused:
                    self._rejects.add(refusal)
                found |= dict.fromkeys(self._robots_of(chunk), robots)
        return found

    def _robots_of(self, chunk: Chunk) -> Iterator[str]:
        """The robots.txt of each site that is named in *chunk*."""
        for number, line in zip(chunk.numbers, chunk.lines, strict=True):
            site = line.strip() if "://" in line or not line.strip() else f"https://{line.strip()}"
            if site and self._is_good(chunk.source, number, site):
                parts = urlsplit(site)
                yield f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/robots.txt"

    def _is_good(self, source: str, number: int, url: str) -> bool:
        """Whether a request for *url* can be made; else it is refused."""
        try:
            urls.check(url)
            self._message(url, self._wanted.terms, "0")
        except (MessageError, CodecError, ValueError) as error:
            self._rejects.add(Refusal(source, number, str(error) if number else f"{source}: {error}", url))
            return False
        return True

    def _message(self, url: str, terms: SitemapTerms, generation: str) -> Message:
        return sitemap_message(self._encoder, url, terms, generation, self._wanted.priority)
