"""Encodes a Request as msgpack and decodes it: only what differs from a plain GET, never a pickle.

The classes that may be rebuilt are listed here, callbacks are names of the spider's own methods, and items are fields
of its own classes (`stored_items`), so that write access to Redis does not mean running code in a worker. Tuples come
back as lists, but for meta's `bindaddress` and `cookiejar`; what cannot be encoded (lambdas, other objects) raises
CodecError naming the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgpack
from scrapy import Request, Spider
from scrapy.http import FormRequest, JsonRequest

from crawler.errors import CodecError, OtherReleaseError
from crawler.meta import CREDENTIALS, HTTP_AUTH, PARENT_ID, UNSTORED, pooled
from crawler.routing import callback_arguments, callback_names, page_methods, stored_items
from crawler.urls import without_credentials

MAX_BYTES: Final = 262_144  # per request; larger ones do not belong in Redis
_TRIES: Final = ("retry_times", "unfinished_times", "complained", "proxy_retries", "proxy_tried", "proxy_doubted")
# Counts kept from try to try, also when a request is put back in its queued form.
_COUNTED_META: Final = (*_TRIES, "min_tier", "tier_failed")
MAX_SHOWN: Final = 200  # characters of a value in an error
_REFERER: Final = b"Referer"
UNSTORED_HEADERS: Final = frozenset({b"Proxy-Authorization"})  # secret

_CLASSES: Final[dict[str, type[Request]]] = {"f": FormRequest, "j": JsonRequest}
_NAMES: Final = {cls: name for name, cls in _CLASSES.items()}
_WITH_ITEMS: Final = "i"  # behind a class's name: earlier releases give such a request back, for one that knows items
_INT_MAX: Final = 1 << 63
_PASSED_ON: Final = "x"  # in a stored request: the count of `passed_on`; a release that can read the request drops it
_MISTAKEN: Final = "y"  # in a stored request: not even the release that yielded it takes its cb_kwargs
_PARENT: Final = "i"  # the id of the request that it was found by, for log lines: earlier releases ignore it
MAX_ID: Final = 40  # characters: "<shard>:<number>"
_VERBATIM: Final = {"verbatim_url": True}  # a stored URL is escaped already: escaping it again took half of the time
_FREE: Final = ("d", "c", "k", "g")  # of a stored request, what a spider fills: meta, cookies, cb_kwargs, flags
_FLAT: Final = frozenset({str, int, float, bool, bytes, type(None)})
_FIELDS: Final = {"c": "cookies", "k": "cb_kwargs", "g": "flags"}
_LOOKED_UP: Final = ("bindaddress", "cookiejar")  # in meta: Scrapy's middlewares and our pool use them as keys


def shown(value: object) -> str:
    """A short form of *value*, even if its repr fails."""
    try:
        text = f"<{value.method} {without_credentials(value.url)}>" if isinstance(value, Request) else repr(value)
    except Exception as error:  # noqa: BLE001 - a spider's own class
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def refused(request: Request, key: str, value: object, allowed: str) -> CodecError:
    """The error for an invalid *value* in *request*."""
    return CodecError(f"{shown(request)} cannot be queued: {key} = {shown(value)} is invalid: expected {allowed}")


def encode(request: Request, spider: Spider | type[Spider]) -> bytes:
    """*request* as bytes; raises CodecError if it contains anything that cannot be stored."""
    try:
        return _encode(request, spider)
    except CodecError:
        raise
    except Exception as error:
        raise CodecError(f"{shown(request)} cannot be queued ({type(error).__name__}: {error})") from error


def _encode(request: Request, spider: Spider | type[Spider]) -> bytes:
    state: dict[str, Any] = {"u": without_credentials(request.url)}
    if request.method != "GET":
        state["m"] = request.method
    if name := _NAMES.get(type(request)):
        state["t"] = name
    elif type(request) is not Request:
        raise CodecError(f"{request}: class {type(request).__name__} cannot be queued, use Request or FormRequest")
    if headers := _stored_headers(request):
        state["h"] = headers
    if request.body:
        state["b"] = request.body
    if meta := _stored_meta(request):
        state["d"] = meta
    if _is_id(parent := request.meta.get(PARENT_ID)):
        state[_PARENT] = parent
    for key, field in _FIELDS.items():
        if value := getattr(request, field):
            state[key] = value
    _encode_rest(state, request, spider)
    return _pack(state, request, spider)


def _stored_headers(request: Request) -> dict[bytes, list[bytes]]:
    headers = {name: values for name, values in dict.items(request.headers) if name not in UNSTORED_HEADERS}
    if _REFERER in headers:
        headers[_REFERER] = [without_credentials(url.decode("latin-1")).encode("latin-1") for url in headers[_REFERER]]
    return headers


def restored(body: bytes, request: Request) -> bytes:
    """*body*, the queued form of *request*, with its present counts and priority.

    For a request that can no longer be encoded, because a middleware has put an object into its meta, or whose callback
    may have changed it.
    Raises CodecError if *body* is not from `encode`.
    """
    state = _unpacked(body)
    counts = {key: request.meta[key] for key in _COUNTED_META if _is_plain(request.meta.get(key))}
    if meta := state.get("d", {}) | counts:
        state["d"] = meta
    if _is_plain(request.priority):
        state["p"] = request.priority
    packed: bytes = msgpack.packb(state, datetime=True)
    return packed


def passed_on(body: bytes) -> tuple[int, bytes]:
    """How often *body* was left to workers of another release, and *body* with that count plus one."""
    state = _unpacked(body)
    known = state.get(_PASSED_ON)
    before = known if isinstance(known, int) and 0 <= known < _INT_MAX else 0
    state[_PASSED_ON] = before + 1
    packed: bytes = msgpack.packb(state, datetime=True)
    return before, packed


def afresh(body: bytes) -> bytes:
    """*body* of a dead letter: as of a request that was not tried yet, for whoever retries it."""
    state = _unpacked(body)
    state.pop(_PASSED_ON, None)
    if meta := state.get("d"):
        state["d"] = {name: value for name, value in meta.items() if name not in _TRIES}
    packed: bytes = msgpack.packb(state, datetime=True)
    return packed


def decode(body: bytes, spider: Spider) -> Request:
    """The Request from `encode`'s output; raises OtherReleaseError if its class, callback or errback is unknown,
    CodecError for anything else."""
    state = _unpacked(body)
    try:
        if str(state.get("t")).endswith(_WITH_ITEMS):
            state = stored_items.unpacked(body, spider, state["u"])
        request = _class(spider, state)(
            url=without_credentials(state["u"]),  # an earlier release stored credentials
            method=state.get("m", "GET"),
            headers=state.get("h"),
            body=state.get("b", b""),
            meta=_VERBATIM | _restored_meta(state.get("d", {})),
            priority=state.get("p", 0),
            dont_filter=state.get("n", False),
            encoding=state.get("e", "utf-8"),
            callback=callback_names.method_of(spider, "callback", state.get("f"), state["u"]),
            errback=callback_names.method_of(spider, "errback", state.get("r"), state["u"]),
            **{field: state[key] for key, field in _FIELDS.items() if key in state},
        )
        if "verbatim_url" not in state.get("d", ()):
            del request.meta["verbatim_url"]
        if _is_id(parent := state.get(_PARENT)):
            request.meta[PARENT_ID] = parent
    except CodecError:
        raise
    except Exception as error:
        raise _unreadable(body, error) from error
    return request


def check_arguments(body: bytes, request: Request, spider: Spider) -> None:
    """Raises OtherReleaseError if *request*, decoded from *body*, has `cb_kwargs` that its callback takes in another
    release only. A mistake of its author's is none: the callback shall fail at once."""
    name = callback_arguments.unexpected(request, spider)
    if name and not _unpacked(body).get(_MISTAKEN):
        called = f"{getattr(request.callback or spider.parse, '__name__', '')}({name}=)"
        raise OtherReleaseError(spider.name, "callback", called, request.url)


def url_of(body: bytes) -> str:
    """The URL of a stored request; raises CodecError like `decode`."""
    return str(_unpacked(body).get("u"))


def _unpacked(body: bytes) -> dict[str, Any]:
    try:
        return dict(_unpack(body))
    except Exception as error:
        raise _unreadable(body, error) from error


def _unreadable(body: bytes, error: Exception) -> CodecError:
    return CodecError(f"not a queued request ({type(error).__name__}: {error}): {body[:80]!r}")


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_ID


def _is_plain(value: Any) -> bool:
    """Whether *value* has a type that counts have: number, string, list of strings."""
    if isinstance(value, (list, tuple)):
        return all(isinstance(each, str) for each in value) and _packs(value)
    return (isinstance(value, str) and _packs(value)) or (isinstance(value, int) and abs(value) < _INT_MAX)


def _stored_meta(request: Request) -> dict[str, Any]:
    """A request's own proxy is kept if it has no credentials. One with credentials, and those for a site, are refused,
    unless a downloader middleware has set them: that middleware sets them again before the next attempt."""
    if HTTP_AUTH not in request.meta and (given := [key for key in CREDENTIALS if request.meta.get(key)]):
        raise CodecError(
            f"{shown(request)} cannot be queued: meta[{given[0]!r}] is a credential, which never goes to Redis; "
            "set HTTPAUTH_USER, HTTPAUTH_PASS and HTTPAUTH_DOMAIN instead (docs/spiders.md)"
        )
    meta = {name: value for name, value in request.meta.items() if name not in UNSTORED}
    proxy = str(meta.get("proxy") or "")
    if "@" in proxy and "_auth_proxy" not in request.meta:
        raise CodecError(
            f"{request} cannot be queued: meta['proxy'] has credentials, which never go to Redis; "
            "name a pool in meta['proxy_pool'] instead (docs/proxies.md)"
        )
    if pooled(request) or not {"_auth_proxy", "_scheme_proxy"}.isdisjoint(request.meta):
        meta.pop("proxy", None)
    return page_methods.stored(meta, request)


def _restored_meta(meta: dict[str, Any]) -> dict[str, Any]:
    tuples = {key: stored_items.hashable(meta[key]) for key in _LOOKED_UP if isinstance(meta.get(key), list)}
    return page_methods.restored(meta | tuples if tuples else meta)


def _encode_rest(state: dict[str, Any], request: Request, spider: Spider | type[Spider]) -> None:
    if not isinstance(request.priority, int) or not -_INT_MAX <= request.priority < _INT_MAX:
        raise refused(request, "priority", request.priority, "an integer of 64 bits")
    if request.priority:
        state["p"] = request.priority
    if request.dont_filter:
        state["n"] = True
    if request.encoding != "utf-8":
        state["e"] = request.encoding
    if request.callback is not None:
        state["f"] = callback_names.name_of(spider, request.callback, request)
    if request.errback is not None:
        state["r"] = callback_names.name_of(spider, request.errback, request)
    if callback_arguments.unexpected(request, spider):
        state[_MISTAKEN] = True


def _pack(state: dict[str, Any], request: Request, spider: Spider | type[Spider]) -> bytes:
    try:
        body = _packed(state, spider)
        if not all(_is_flat(state.get(key, {})) for key in _FREE):
            _unpack(body)  # or a worker that leases it makes a dead letter of it
    except (TypeError, ValueError, OverflowError) as error:
        key, value = _culprit(state, spider)
        raise CodecError(
            f"{shown(request)} cannot be queued: {key} = {shown(value)} ({error}): meta and cb_kwargs may "
            "hold text, numbers, bytes, lists, maps, sets, dates, datetimes, decimals, items of the project"
        ) from error
    if len(body) > MAX_BYTES:
        raise CodecError(f"{request} is {len(body)} bytes, at most {MAX_BYTES} can be queued")
    return body


def _packed(state: dict[str, Any], spider: Spider | type[Spider]) -> bytes:
    try:
        body: bytes = msgpack.packb(state, datetime=True)
    except (TypeError, ValueError):  # perhaps an item, or a time without a zone
        return stored_items.packed(state | {"t": f"{state.get('t', '')}{_WITH_ITEMS}"}, spider)
    return body


def _culprit(state: dict[str, Any], spider: Spider | type[Spider]) -> tuple[str, object]:
    """The key and value that keep *state* from being packed."""
    for key, value in state.items():
        field = _FIELDS.get(key, "meta" if key == "d" else key)
        entries = value.items() if isinstance(value, dict) else ()
        for name, entry in entries:
            if not _packs({name: entry}, spider):
                return f"{field}[{shown(name)}]", entry
        if not _packs(value, spider):
            return field, value
    return "the whole", state


def _packs(value: object, spider: Spider | type[Spider] = Spider) -> bool:
    try:
        _unpack(stored_items.packed(value, spider))
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_flat(fields: Any) -> bool:
    """Whether *fields* comes back for certain if it can be packed; a tuple as a key of a map, say, does not."""
    return isinstance(fields, dict) and all(type(key) is str and type(fields[key]) in _FLAT for key in fields)


def _unpack(body: bytes) -> Any:
    return msgpack.unpackb(body, timestamp=3, strict_map_key=False)


def _class(spider: Spider, state: Mapping[str, Any]) -> type[Request]:
    name = state.get("t")
    if name in {None, _WITH_ITEMS}:
        return Request
    name = str(name).removesuffix(_WITH_ITEMS)
    if name not in _CLASSES:
        raise OtherReleaseError(spider.name, "request class", name, str(state["u"]))
    return _CLASSES[name]
