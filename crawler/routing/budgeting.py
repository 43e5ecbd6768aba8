"""The budgets of a spider, of its domains and of its runs, as the frontier counts them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scrapy.settings import BaseSettings

from crawler import config
from crawler.errors import ConfigError
from crawler.frontier.state.budgets import Terms
from crawler.policy.budgets import Budget, read_budget
from crawler.policy.rules.domains import Rules
from crawler.policy.toml_values import BadValueError

SPARE_MS: Final = 3_600_000  # for a robots.txt to be read again


def spider_budget(settings: BaseSettings) -> Budget | None:
    """BUDGET; None where it is empty. Raises ConfigError."""
    raw = config.mapping(settings, "BUDGET") if settings.get("BUDGET") else {}
    return checked(raw, "BUDGET") if raw else None


def checked(raw: object, where: str) -> Budget:
    """Raises ConfigError that names *where*, key and value."""
    try:
        return read_budget(raw)
    except BadValueError as error:
        key = "".join(f"[{part!r}]" for part in error.path)
        raise ConfigError(f"{where}{key}", error.value, error.expected) from None


def budgets_of(spider: str, own: Budget | None, domains: Rules) -> Iterator[tuple[str, Budget]]:
    """By the names that the frontier has for them: the spider's, each other host's, and those of domains."""
    if own is not None:
        yield f"s:{spider}", own
    if domains.default.budget is not None:
        yield "*", domains.default.budget
    for name, site in domains.by_host.items():
        if site.budget is not None and site.budget is not domains.around(name).budget:
            yield f"d:{site.politeness_group or name}", site.budget


def terms_of(name: str, budget: Budget, now_ms: int) -> Terms:
    """Of the day around *now_ms*, in the budget's time zone."""
    return _terms(name, budget, budget.day(now_ms), budget.windows(now_ms))


def terms_of_run(spider: str, generation: str, budget: Budget) -> Terms:
    """Of a run, which has one budget from its beginning to its end."""
    return _terms(f"r:{spider}:{generation}", budget, lasting=True)


def visiting_hours(host: str, hours: Budget, now_ms: int, fresh_ms: int) -> Terms | None:
    """The hours that a robots.txt names, which stand until it has been read again; None for any time."""
    windows = hours.windows(now_ms)
    return Terms(f"v:{host}", windows=windows, holds_ms=fresh_ms + SPARE_MS) if windows else None


def _terms(
    name: str,
    budget: Budget,
    day: tuple[int, int] = (0, 0),
    windows: tuple[tuple[int, int], ...] = (),
    *,
    lasting: bool = False,
) -> Terms:
    return Terms(
        name,
        day,
        requests=budget.requests,
        size=budget.mb * 1_000_000,
        browser_ms=budget.browser_seconds * 1000,
        cost=budget.cost,
        windows=windows,
        lasting=lasting,
    )
