"""How often a request is retried, and after what delay, by failure class. Pure: randomness is an argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol, Self

from crawler import config
from crawler.errors import ConfigError
from crawler.policy.endings.backoff import full_jitter
from crawler.policy.endings.failures import FailureClass, classify

RETRIED: Final = tuple(kind for kind in FailureClass if kind is not FailureClass.PERMANENT)
_KEYS: Final = MappingProxyType(  # of a class's row: the setting that it replaces, its kind and range
    {
        "times": ("RETRY_TIMES", config.integer, (0, 1_000)),
        "base_seconds": ("RETRY_BASE_SECONDS", config.number, config.bounds("RETRY_BASE_SECONDS")),
        "cap_seconds": ("RETRY_CAP_SECONDS", config.number, config.bounds("RETRY_CAP_SECONDS")),
    }
)


class Settings(Protocol):
    """The part of Scrapy's settings that is needed here."""

    def get(self, name: str) -> Any: ...
    def getlist(self, name: str) -> list[Any]: ...
    def getdict(self, name: str) -> dict[Any, Any]: ...
    def getpriority(self, name: str) -> int | None: ...


@dataclass(frozen=True, slots=True)
class RetryBudget:
    """The retries of one class; *times* None: Scrapy's RETRY_TIMES."""

    times: int | None
    base_seconds: float
    cap_seconds: float

    def wait_seconds(self, attempt: int, uniform: Callable[[float, float], float]) -> float:
        """The wait after failed try number *attempt*: uniform in [0, min(cap, base * 2^(attempt - 1))]."""
        return full_jitter(attempt, self.base_seconds, self.cap_seconds, uniform)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """RETRY_CLASSES and the other RETRY_* settings.

    RETRY_TIMES, RETRY_BASE_SECONDS or RETRY_CAP_SECONDS overrides a class's own value if it is set at a higher priority
    (by the spider or on the command line) and RETRY_CLASSES is not.
    """

    statuses: frozenset[int]  # RETRY_HTTP_CODES
    default: RetryBudget
    budgets: Mapping[FailureClass, RetryBudget]

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Raises ConfigError for a value out of range or an unknown class."""
        rows = config.mapping(settings, "RETRY_CLASSES")
        if unknown := set(rows) - set(RETRIED):
            raise ConfigError("RETRY_CLASSES", min(map(str, unknown)), "one of the classes " + ", ".join(RETRIED))
        default = RetryBudget(None, _shared(settings, "base_seconds"), _shared(settings, "cap_seconds"))
        _shared(settings, "times")
        return cls(
            statuses=_statuses(settings),
            default=default,
            budgets=MappingProxyType({kind: _budget(settings, kind, rows.get(kind, {}), default) for kind in RETRIED}),
        )

    def failure(self, status: int, *, blocked: bool = False) -> FailureClass | None:
        """The class of a response; None for a good one. Statuses in RETRY_HTTP_CODES are worth a retry."""
        kind = FailureClass.BLOCKED if blocked else classify(status)
        return FailureClass.TRANSIENT if kind not in RETRIED and status in self.statuses else kind

    def budget(self, kind: FailureClass | None) -> RetryBudget:
        """The budget of a class; the default for an exception in RETRY_EXCEPTIONS that has no class."""
        return self.budgets.get(kind, self.default) if kind is not None else self.default


def _shared(settings: Settings, key: str) -> Any:
    name, read, bounds = _KEYS[key]
    return read({name: settings.get(name)}, name, *bounds)


def _budget(settings: Settings, kind: FailureClass, row: Any, default: RetryBudget) -> RetryBudget:
    where = f"RETRY_CLASSES[{str(kind)!r}]"
    if not isinstance(row, Mapping) or not set(row) <= set(_KEYS):
        raise ConfigError(where, row, "a dict with some of the keys " + ", ".join(_KEYS))
    found = {key: _own(settings, where, key, row) for key in _KEYS}
    return RetryBudget(**{key: getattr(default, key) if value is None else value for key, value in found.items()})


def _own(settings: Settings, where: str, key: str, row: Mapping[str, Any]) -> Any:
    """The class's value; None if it has none or a setting of higher priority overrides it."""
    shared, read, bounds = _KEYS[key]
    if key not in row:
        return None
    value = read({f"{where}[{key!r}]": row[key]}, f"{where}[{key!r}]", *bounds)
    return None if (settings.getpriority(shared) or 0) > (settings.getpriority("RETRY_CLASSES") or 0) else value


def _statuses(settings: Settings) -> frozenset[int]:
    codes = config.texts(settings, "RETRY_HTTP_CODES")
    try:
        return frozenset(int(code) for code in codes)
    except (TypeError, ValueError):
        raise ConfigError(
            "RETRY_HTTP_CODES", codes, "status codes such as 503, a list or separated by commas"
        ) from None
