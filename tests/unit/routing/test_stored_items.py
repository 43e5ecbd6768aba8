"""Items in meta and cb_kwargs, as projects hand them from callback to callback."""

from __future__ import annotations

import dataclasses
import sys
import types
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import attrs
import msgpack
import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from scrapy import FormRequest, Request, Spider

from crawler.errors import CodecError, OtherReleaseError
from crawler.routing import codec, stored_items
from crawler.routing.readable import readable

URL = "https://shop.example/a"


class Named(scrapy.Item):
    """Scrapy's own kind; its constructor wants what the queue does not have."""

    name = scrapy.Field()
    seen = scrapy.Field()
    maker = scrapy.Field()

    def __init__(self, source: str, **fields: Any) -> None:
        super().__init__(**fields)


@dataclass(frozen=True, slots=True)
class Priced:
    """One that cannot be changed and reads what it is given."""

    price: str
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        assert not self.price.startswith("$"), "read again"
        object.__setattr__(self, "price", f"${self.price}")


@dataclass(frozen=True)
class Frozen:
    """One that may be in a set."""

    tags: Any


@attrs.define
class Made:
    """Of attrs, with a name that its constructor spells otherwise."""

    maker: str
    _inner: int = 3
    parts: list[Any] = attrs.field(factory=list)


class Model(BaseModel):
    """Of pydantic."""

    name: str
    count: int = 0


class Shop(Spider):
    """Has callbacks that take items."""

    name = "shop"

    def parse(self, response: Any, item: Any = None) -> None: ...


SPIDER = Shop()
MOMENT = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)


def there_and_back(request: Request, spider: Spider = SPIDER) -> Request:
    return codec.decode(codec.encode(request, spider), spider)


@pytest.mark.parametrize(
    "item",
    [
        Named("here", name="Lamp", seen=MOMENT, maker=Made("Acme", 5, [Priced("4")])),
        Named("here"),
        Priced("3", ["new"]),
        Made("Acme", 5, [{"deep": Priced("4")}, None, b"\xff"]),
        Model(name="Lamp", count=2),
    ],
)
def test_an_item_comes_back_as_it_was_wherever_it_was(item: Any) -> None:
    request = Request(URL, SPIDER.parse, meta={"item": item, "page": 2, "all": [item]}, cb_kwargs={"item": item})
    again = there_and_back(request)
    for one in (again.meta["item"], again.meta["all"][0], again.cb_kwargs["item"]):
        assert type(one) is type(item)
        assert one == item
    assert (again.meta["page"], again.callback) == (2, SPIDER.parse)
    assert type(there_and_back(FormRequest(URL, meta={"item": item}))) is FormRequest


@given(st.dictionaries(st.sampled_from(["name", "seen"]), st.none() | st.text() | st.binary() | st.integers(0, 9)))
def test_only_what_is_set_comes_back(fields: dict[str, Any]) -> None:
    assert dict(there_and_back(Request(URL, meta={"item": Named("here", **fields)})).meta["item"]) == fields


def test_a_dict_stays_one_and_costs_no_mark() -> None:
    request = Request(URL, meta={"item": {"name": "Lamp"}})
    assert there_and_back(request).meta["item"] == {"name": "Lamp"}
    assert "t" not in msgpack.unpackb(codec.encode(request, SPIDER))


@pytest.mark.parametrize("kind", [Request, FormRequest])
def test_a_release_that_knows_no_items_leaves_it_to_others(kind: type[Request]) -> None:
    """It names the class of the request, and gives one back whose name it does not know."""
    stored = msgpack.unpackb(codec.encode(kind(URL, meta={"item": Priced("3")}), SPIDER), strict_map_key=False)
    assert stored["t"] not in {"f", "j"}


def test_counts_of_later_tries_and_people_find_it_too() -> None:
    body = codec.encode(Request(URL, meta={"item": Made("Acme", 5, [Priced("4")])}), SPIDER)
    later = codec.restored(body, Request(URL, meta={"retry_times": 2, "item": object()}))
    meta = codec.decode(codec.passed_on(later)[1], SPIDER).meta
    assert (meta["item"], meta["retry_times"]) == (Made("Acme", 5, [Priced("4")]), 2)
    shown = readable(body)
    assert isinstance(shown, dict)
    assert shown["meta"]["item"]["item"].endswith("test_stored_items:Made")
    assert shown["meta"]["item"]["fields"]["parts"][0]["fields"] == {"price": "$4", "tags": []}


def remade(module: str, name: str, *fields: Any) -> Any:
    """A dataclass of that *name* as another release of *module* has it."""
    made = dataclasses.make_dataclass(name, fields)
    made.__module__ = module  # Python 3.12 takes the caller's, whatever the namespace says
    return made


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of another package."""
    module: Any = types.ModuleType("elsewhere_items")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module.Foreign = remade(module.__name__, "Foreign", "a")
    return module


def test_an_item_of_another_package_is_one_that_the_spiders_module_imports(
    elsewhere: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = Request(URL, meta={"item": elsewhere.Foreign(1)})
    with pytest.raises(CodecError, match="elsewhere_items:Foreign is not an item class of the spider's own project"):
        codec.encode(request, SPIDER)
    monkeypatch.setattr(sys.modules[__name__], "Foreign", elsewhere.Foreign, raising=False)
    body = codec.encode(request, SPIDER)
    assert codec.decode(body, SPIDER).meta["item"] == elsewhere.Foreign(1)
    monkeypatch.delattr(sys.modules[__name__], "Foreign")
    with pytest.raises(OtherReleaseError, match="no item class 'elsewhere_items:Foreign'"):
        codec.decode(body, SPIDER)


@pytest.mark.parametrize(
    "name",
    ["os:system", "os:environ", "builtins:dict", "subprocess:Popen", "nowhere:Item", "", ":", "tests:x.y", "json:"],
)
def test_nothing_but_an_item_class_is_rebuilt(name: str) -> None:
    item = msgpack.ExtType(2, msgpack.packb([name, msgpack.packb({"args": "true"})]))
    with pytest.raises(OtherReleaseError, match="item class"):
        codec.decode(msgpack.packb({"u": URL, "t": "i", "d": {"item": item}}), SPIDER)


@pytest.mark.parametrize("data", [b"", b"\xc1", msgpack.packb([1]), msgpack.packb(["a:b"]), msgpack.packb(7)])
def test_damage_is_named(data: bytes) -> None:
    with pytest.raises(CodecError):
        codec.decode(msgpack.packb({"u": URL, "t": "i", "d": {"item": msgpack.ExtType(2, data)}}), SPIDER)
    shown = readable(msgpack.packb({"u": URL, "t": "i", "d": {"item": msgpack.ExtType(2, data)}}))
    assert isinstance(shown, dict)
    assert (shown["url"], shown["meta"]) == (URL, {"item": msgpack.ExtType(2, data)})


@pytest.mark.parametrize("depth", [20, 21, 3_000])
def test_items_in_items_are_bounded(depth: int) -> None:
    """Deeper ones ended the process: each level of unpacking takes its part of the C stack."""
    deep, name = msgpack.packb({}), f"{__name__}:Named"
    for _ in range(depth):
        deep = msgpack.packb({"maker": msgpack.ExtType(2, msgpack.packb([name, deep]))})
    body = msgpack.packb({"u": URL, "t": "i", "d": msgpack.unpackb(deep)})
    assert readable(body)
    item = Named("here")
    for _ in range(depth - 1):
        item = Named("here", maker=item)
    request = Request(URL, meta={"maker": item})
    if depth == 20:
        assert codec.decode(body, SPIDER).meta["maker"] == there_and_back(request).meta["maker"] == item
        return
    with pytest.raises(CodecError, match="more than 20 deep"):
        codec.decode(body, SPIDER)
    with pytest.raises(CodecError, match="more than 20 deep"):
        codec.encode(request, SPIDER)


def test_a_field_that_was_added_has_its_default_and_one_that_was_removed_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = codec.encode(Request(URL, meta={"item": Priced("3")}), SPIDER)
    module = sys.modules[__name__]
    monkeypatch.setattr(module, "Priced", remade(__name__, "Priced", ("price", str), ("unit", str, "kg")))
    with pytest.raises(OtherReleaseError, match=r"field 'Priced.tags'"):
        codec.decode(body, SPIDER)
    added: Any = ("sizes", list, field(default_factory=list)), ("unit", str, "kg")
    monkeypatch.setattr(module, "Priced", remade(__name__, "Priced", ("price", str), ("tags", list), *added))
    item: Any = codec.decode(body, SPIDER).meta["item"]
    assert (item.price, item.tags, item.sizes, item.unit) == ("$3", [], [], "kg")


def test_so_it_is_with_attrs(monkeypatch: pytest.MonkeyPatch) -> None:
    body = codec.encode(Request(URL, meta={"item": Made("Acme")}), SPIDER)
    names = {name: attrs.field() for name in ("maker", "_inner", "parts")}
    added = {"more": attrs.field(factory=list), "less": attrs.field(default=1)}
    newer = attrs.make_class("Made", names | added, class_body={"__module__": __name__})
    monkeypatch.setattr(sys.modules[__name__], "Made", newer)
    made: Any = codec.decode(body, SPIDER).meta["item"]
    assert (made.maker, made.more, made.less) == ("Acme", [], 1)


def test_what_an_item_holds_has_to_be_storable() -> None:
    with pytest.raises(CodecError, match=r"meta\['item'\] = .*type complex cannot be stored"):
        codec.encode(Request(URL, meta={"item": Named("here", name=1j)}), SPIDER)
    item = Named("here")
    item["maker"] = item
    with pytest.raises(CodecError, match="cannot be queued"):
        codec.encode(Request(URL, meta={"item": item}), SPIDER)


def test_what_could_not_be_read_back_is_refused_by_name() -> None:
    """Lists are in no set: a tuple in an item comes back as one."""
    item = Frozen(("a", "b"))
    for value in ({item}, [frozenset({(1, item)})]):
        with pytest.raises(CodecError, match=r"meta\['x'\] = .*unhashable type: 'list'"):
            codec.encode(Request(URL, meta={"x": value}), SPIDER)
    body = codec.encode(Request(URL, meta={"x": {Frozen("a")}}), SPIDER)
    assert codec.decode(body, SPIDER).meta["x"] == {Frozen("a")}


def test_plain_values_are_shown_as_such_and_given_back_by_a_release_without_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = codec.encode(Request(URL, meta={"on": date(2027, 1, 2), "seen": {1}}), SPIDER)
    shown = readable(body)
    assert isinstance(shown, dict)
    assert shown["meta"] == {"on": "2027-01-02", "seen": [1]}
    monkeypatch.setattr(stored_items, "_VALUES", {})
    with pytest.raises(OtherReleaseError, match=r"datetime:date|builtins:set"):
        codec.decode(body, SPIDER)
