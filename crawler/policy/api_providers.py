"""Scraping APIs as settings describe them: how to call one, and what its response means. Pure.

Three shapes: `sync`, one call returns the page; `job`, a call starts a job that is polled; `batch`, one job for many
pages. docs/browser.md describes API_PROVIDERS.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self, cast
from urllib.parse import quote

from crawler import config
from crawler.errors import ConfigError
from crawler.policy.api_answers import AnswerError, PageFound, at, pairs, parsed

Shape = Literal["sync", "job", "batch"]
SHAPES: Final = ("sync", "job", "batch")
# Statuses of a call that are the provider's or the account's fault, like all from 500 on.
FAULTS: Final = frozenset({401, 402, 403, 407, 408, 425, 429})
GONE: Final = frozenset({404, 410})
RAW: Final = "raw"
MAX_COST: Final = 1e9  # per page
_TEXTS: Final = {"shape", "job", "results", "result_url", "status_header", "header_prefix", "cost_path", "cost_header"}
_NUMBERS: Final[Mapping[str, tuple[Callable[..., float], float, float]]] = {
    "cost": (config.number, 0, MAX_COST),
    "concurrency": (config.integer, 1, 10_000),
    "per_second": (config.number, 0.001, 10_000),
    "timeout_seconds": (config.number, 0.1, 3_600),
    "poll_seconds": (config.number, 0.01, 3_600),
    "job_seconds": (config.number, 1, 86_400),
    "batch_size": (config.integer, 1, 1_000),
    "batch_seconds": (config.number, 0.01, 15),
}
_PLACE: Final = re.compile(r"\{(\w+)\}")
_OTHERS: Final = {"call", "poll", "page", "done", "failed"}


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP call, with placeholders {url}, {urls}, {job} and {key}."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None

    @classmethod
    def read(cls, raw: Any) -> Self:
        """Raises ValueError or TypeError."""
        if not isinstance(raw, dict) or not str(raw.get("url", "")).startswith(("http://", "https://")):
            raise ValueError
        call = cls(**raw)
        texts = [call.method, *call.headers, *call.headers.values()] if isinstance(call.headers, dict) else [None]
        if not all(isinstance(text, (str, int)) for text in texts):
            raise ValueError
        json.dumps(call.json)
        return call

    def uses(self, name: str) -> bool:
        """Whether there is a placeholder for *name*."""
        return f"{{{name}}}" in json.dumps([self.url, dict(self.headers), self.json])

    def filled(self, values: Mapping[str, Any]) -> Call:
        """The call with *values* filled in; text is quoted where it becomes part of the URL."""
        quoted = {name: quote(value, safe="") for name, value in values.items() if isinstance(value, str)}
        headers = {name: _filled(value, values) for name, value in self.headers.items()}
        return Call(_filled(self.url, quoted), self.method, headers, _filled(self.json, values))


@dataclass(frozen=True, slots=True)
class Provider:
    """One entry of API_PROVIDERS."""

    name: str
    shape: Shape
    call: Call
    poll: Call | None = None
    page: Mapping[str, str] | Literal["raw"] = RAW
    done: tuple[str, Any] | None = None  # path and value in the answer to `poll`
    failed: tuple[str, Any] | None = None
    job: str = "id"
    results: str = "results"
    result_url: str = "url"
    status_header: str = ""
    header_prefix: str = ""
    cost_path: str = ""
    cost_header: str = ""
    cost: float = 1.0
    concurrency: int = 4
    per_second: float = 5.0
    timeout_seconds: float = 90.0
    poll_seconds: float = 5.0
    job_seconds: float = 900.0
    batch_size: int = 20
    batch_seconds: float = 1.0

    @classmethod
    def read(cls, name: str, raw: Any) -> Self:
        """Raises ConfigError for an invalid entry."""
        where = f"API_PROVIDERS[{name!r}]"
        known = _TEXTS | set(_NUMBERS) | _OTHERS
        if not isinstance(raw, dict) or not known.issuperset(raw):
            raise ConfigError(where, _shown(raw), "a dict with the keys " + ", ".join(sorted(known)))
        values: dict[str, Any] = {key: _text(where, key, raw[key]) for key in _TEXTS & set(raw)}
        for key in set(_NUMBERS) & set(raw):
            read, low, high = _NUMBERS[key]
            values[key] = read({f"{where}[{key!r}]": raw[key]}, f"{where}[{key!r}]", low, high)
        values["shape"] = config.choice({f"{where}['shape']": raw.get("shape")}, f"{where}['shape']", SHAPES)
        values |= _calls(where, raw, values["shape"])
        return cls(name=name, **values)

    def job_id(self, answer: bytes) -> str:
        """The job id in the answer to `call`; raises AnswerError."""
        found = at(parsed(answer), self.job)
        if not isinstance(found, (str, int)) or found == "":
            raise AnswerError(f"no job id at {self.job!r}")
        return str(found)

    def state(self, answer: bytes) -> Literal["done", "failed", "waiting"]:
        """The job's state, from the answer to `poll`."""
        document = parsed(answer)
        if self.failed and at(document, self.failed[0]) == self.failed[1]:
            return "failed"
        return "done" if self.done is None or at(document, self.done[0]) == self.done[1] else "waiting"

    def found(self, url: str, answer: bytes, status: int, headers: Sequence[tuple[str, str]]) -> PageFound:
        """The page in an answer; raises AnswerError. *headers*: of the answer, with names in lower case."""
        if self.page == RAW:
            return self._raw(answer, status, headers)
        document = parsed(answer)
        if self.shape == "batch":
            document = self._result(document, url)
        status = at(document, self.page["status"]) if "status" in self.page else 200
        told = at(document, self.page["headers"]) if "headers" in self.page else {}
        body = at(document, self.page["body"])
        if not isinstance(status, int) or not 100 <= status <= 999 or not isinstance(body, str):
            raise AnswerError("no status and body at the configured paths")
        return PageFound(status, pairs(told), self._bytes(body), self._cost(at(document, self.cost_path)))

    def _raw(self, answer: bytes, status: int, headers: Sequence[tuple[str, str]]) -> PageFound:
        first = dict(reversed(headers))
        told = first.get(self.status_header.lower(), str(status)).strip()
        if not (told.isdecimal() and len(told) == 3 and int(told) >= 100):
            raise AnswerError(f"no status in {self.status_header}")
        start = self.header_prefix.lower()
        kept = [(name.removeprefix(start), value) for name, value in headers if name.startswith(start)]
        if not start or not kept:
            kept = [(name, value) for name, value in headers if name == "content-type"]
        return PageFound(int(told), kept, answer, self._cost(first.get(self.cost_header.lower())))

    def _result(self, document: Any, url: str) -> Any:
        results = at(document, self.results)
        for result in results if isinstance(results, list) else ():
            if at(result, self.result_url) == url:
                return result
        raise AnswerError("the batch has no result for this URL")

    def _bytes(self, body: str) -> bytes:
        if cast("Mapping[str, str]", self.page).get("encoding") != "base64":
            return body.encode("utf-8", "replace")  # half of a surrogate pair is what scripts cut texts to
        try:
            return base64.b64decode(body, validate=True)
        except binascii.Error as error:
            raise AnswerError(f"the body is not base64: {error}") from None

    def _cost(self, told: Any) -> float:
        try:
            cost = float(told)
        except (TypeError, ValueError, OverflowError):
            return self.cost
        return cost if 0 <= cost <= MAX_COST else self.cost  # NaN would spoil all counting


def read_providers(settings: Mapping[str, Any]) -> dict[str, Provider]:
    """All of API_PROVIDERS, in order; raises ConfigError."""
    raw = settings.get("API_PROVIDERS") or {}
    if isinstance(raw, str):
        try:
            raw = json.loads(raw)
        except ValueError:
            raise ConfigError("API_PROVIDERS", _shown(raw), "a dict, or a JSON object") from None
    if not hasattr(raw, "items") or not raw:
        raise ConfigError("API_PROVIDERS", _shown(raw), "a dict with at least one provider, for workers of tier api")
    return {str(name): Provider.read(str(name), entry) for name, entry in raw.items()}


def _calls(where: str, raw: Mapping[str, Any], shape: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key in ["call", "poll"] if shape != "sync" else ["call"]:
        try:
            values[key] = Call.read(raw.get(key))
        except (TypeError, ValueError):
            allowed = "a dict with an http(s) `url`, and `method`, `headers`, `json` where needed"
            raise ConfigError(f"{where}[{key!r}]", _shown(raw.get(key)), allowed) from None
    wanted = "urls" if shape == "batch" else "url"
    if not values["call"].uses(wanted):
        raise ConfigError(f"{where}['call']", _shown(raw["call"]), f"{{{wanted}}} in its url, headers or json")
    for key in {"done", "failed"} & set(raw):
        if not isinstance(raw[key], (list, tuple)) or len(raw[key]) != 2 or not isinstance(raw[key][0], str):
            raise ConfigError(f"{where}[{key!r}]", raw[key], "a path and the value expected there")
        values[key] = tuple(raw[key])
    page = raw.get("page", RAW)
    is_paths = isinstance(page, dict) and "body" in page and all(isinstance(path, str) for path in page.values())
    if page != RAW and not is_paths:
        raise ConfigError(f"{where}['page']", page, "'raw', or a dict with paths for body, status, headers")
    if shape == "batch" and page == RAW:
        raise ConfigError(f"{where}['page']", page, "a dict with paths: a batch is JSON")
    return values | {"page": page}


def _text(where: str, key: str, raw: Any) -> str:
    name = f"{where}[{key!r}]"
    return config.text({name: raw}, name)


def _shown(raw: Any) -> Any:
    """What an error may show of *raw*: none of its text, which may contain a key in place of {key}."""
    if isinstance(raw, dict):
        return dict.fromkeys(raw, "...")
    return "..." if isinstance(raw, str) and raw else raw


def _filled(template: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(template, dict):
        return {key: _filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [_filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if (whole := _PLACE.fullmatch(template)) and whole[1] in values:
        return values[whole[1]]
    # in one pass: a URL may contain braces itself
    return _PLACE.sub(lambda place: str(values.get(place[1], place[0])), template)
