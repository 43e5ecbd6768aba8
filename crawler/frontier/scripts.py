"""Builds the Lua scripts from lua/*.lua and runs them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.cluster import RedisCluster
from redis.exceptions import NoScriptError, ResponseError

from crawler.errors import ServiceError

Client = Redis | RedisCluster
_LUA = files("crawler.frontier") / "lua"
_INCLUDE = "-- include: "


def source(name: str) -> str:
    """The text of lua/<name>.lua."""
    return (_LUA / f"{name}.lua").read_text()


class Scripts:
    """One script per operation: its first line, the constants, the parts it includes, its body.

    *replaced* gives other texts by name: tests put a clock of their own in place of lib/clock.
    """

    def __init__(
        self, client: Client, constants: Mapping[str, float | str], replaced: Mapping[str, str] | None = None
    ) -> None:
        self._client = client
        self._constants = "\n".join(f"local {name} = {value!r}" for name, value in constants.items())
        self._replaced = replaced or {}
        self._built: dict[str, tuple[str, str]] = {}

    async def run(self, name: str, keys: Sequence[str], *arguments: bytes | str | float) -> Any:
        """Run lua/<name>.lua on the node of *keys*; a server that does not know it yet is given its text."""
        text, digest = self._built.get(name) or self._build(name)
        try:
            return await self._client.evalsha(digest, len(keys), *keys, *arguments)
        except NoScriptError:
            return await self._client.eval(text, len(keys), *keys, *arguments)
        except ResponseError as error:
            raise _explained(error) from None

    def _build(self, name: str) -> tuple[str, str]:
        shebang, _, body = self._text(name).partition("\n")
        included = [part for line in body.splitlines() if line.startswith(_INCLUDE) for part in line.split()[2:]]
        parts = [self._text(f"lib/{part}") for part in included]
        text = "\n".join((shebang, self._constants, *parts, body))
        self._built[name] = text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
        return self._built[name]

    def _text(self, name: str) -> str:
        return self._replaced.get(name) or source(name)


def _explained(error: ResponseError) -> Exception:
    if "SHOALSCHEMA" in str(error):
        return ServiceError(
            "the frontier's data in Redis was written by a newer release (schema "
            f"{str(error).rpartition(' ')[2]}): upgrade this worker, or use another FRONTIER_KEY"
        )
    return error
