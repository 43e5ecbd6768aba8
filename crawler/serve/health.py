"""Liveness and readiness of this replica, answered from memory: a probe never waits for Redis."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from crawler.serve.leadership import Leadership


class ServiceHealth:
    """What the probes report; may be read from any thread.

    Alive: the event loop ran within *max_lag_seconds*; a Redis that is away must not get replicas killed.
    Ready: Redis answered within *fresh_seconds*, whoever leads.
    """

    def __init__(
        self,
        leadership: Leadership,
        max_lag_seconds: float,
        fresh_seconds: float,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._leadership = leadership
        self._max_lag = max_lag_seconds
        self._fresh = fresh_seconds
        self._clock = clock
        self._beat = clock()
        self.is_closing = False

    def beat(self) -> None:
        """Called by the event loop several times a second."""
        self._beat = self._clock()

    @property
    def lag(self) -> float:
        """Seconds since the event loop last ran."""
        return self._clock() - self._beat

    def healthz(self, _: Request) -> Response:
        """503 requests a restart."""
        if (lag := self.lag) > self._max_lag:
            words = f"the event loop has not run for {lag:.0f} s (limit {self._max_lag:.0f} s)\n"
            return PlainTextResponse(words, 503)
        return PlainTextResponse(f"ok, the event loop ran {lag:.1f} s ago\n")

    def readyz(self, request: Request) -> Response:
        """503 while it does nothing for the fleet; JSON for `?verbose`."""
        why = self._unready()
        if "verbose" in request.query_params:
            return JSONResponse(self._told(why), 503 if why else 200)
        return PlainTextResponse(f"{why or self._standing()}\n", 503 if why else 200)

    def _told(self, why: str) -> dict[str, Any]:
        leadership, lag = self._leadership, self.lag
        standing = leadership.standing
        checks = {
            "event_loop": {"ok": lag <= self._max_lag, "lag_seconds": round(lag, 3)},
            "redis": {
                "ok": standing is not None and leadership.silence <= self._fresh,
                "silent_seconds": round(leadership.silence, 3),
            },
        }
        leads = {"leads": leadership.lead is not None, "leader": standing.holder if standing else ""}
        return {"ready": not why, "reason": why, **leads, "checks": checks}

    def _unready(self) -> str:
        if self.is_closing:
            return "closing"
        if self._leadership.standing is None:
            return "starting"
        if self._leadership.silence > self._fresh:
            return f"Redis has not answered for {self._leadership.silence:.0f} s"
        return f"the event loop has not run for {self.lag:.0f} s" if self.lag > self._max_lag else ""

    def _standing(self) -> str:
        standing = self._leadership.standing
        if self._leadership.lead is not None:
            return "ok, this replica leads"
        return f"ok, {standing.holder} leads" if standing and standing.holder else "ok"
