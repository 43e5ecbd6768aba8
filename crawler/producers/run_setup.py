"""What precedes the first request of a run, whatever pushes it: learn what the fleet knows, and tell it what the run
may fetch and spend."""

from __future__ import annotations

from crawler.frontier.frontier import Frontier
from crawler.frontier.state.tiers import Tiers
from crawler.routing.budgeting import terms_of_run
from crawler.routing.encoder import Encoder


async def learn_tiers(frontier: Frontier, encoder: Encoder) -> None:
    """Load what the fleet knows of tiers, so that requests go to the right queues at once."""
    routing, tiers = encoder.tier_routing, Tiers(frontier.shards, keep_ms=0)
    routing.hosts = await tiers.changes()
    routing.served = await tiers.served(encoder.spider.name)


async def share_scope(frontier: Frontier, encoder: Encoder, generation: str, scope: str) -> None:
    """Store the run's scope, which workers read before its first page; a continued run keeps its scope."""
    if scope:
        await frontier.scopes.put(encoder.spider.name, generation, scope)
    given = await frontier.scopes.get(encoder.spider.name, generation)
    encoder.scopes.learn(generation, given)
    if (budget := encoder.scopes.budget_of(given)) is not None:
        terms = [terms_of_run(encoder.spider.name, generation, budget)]
        await frontier.budgets.state(terms)
        await frontier.shares.begin(terms)
