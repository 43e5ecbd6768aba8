"""Items become documents faithfully, or are refused with a reason."""

from __future__ import annotations

import copy
import enum
import pickle
from collections import OrderedDict, deque
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import ip_address
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, ClassVar
from unittest.mock import Mock
from uuid import UUID

import attrs
import bson
import pytest
import scrapy
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, HttpUrl

from crawler.items import Item, PageItem, ProductItem
from crawler.storage.items import documents
from crawler.storage.items.codec import CODEC
from crawler.storage.items.digest import digest_of
from crawler.storage.items.documents import StoredDocument, document, identity
from crawler.storage.items.origin import Origin
from crawler.storage.items.rejections import Rejection
from crawler.storage.items.values import LIGHT, HeavyError, UnstorableError

NOW = datetime(2026, 3, 1, 12, 30, 15, 123_456, tzinfo=UTC)
MAX = 2**20


def stored(item: Any) -> dict[str, Any]:
    return bson.decode(document(item, NOW, MAX).body.raw, CODEC)


def page(**fields: Any) -> PageItem:
    return PageItem(url="http://a.example/", **fields)


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = {"a": value}
    return value


@dataclass(slots=True, kw_only=True)
class Versioned(Item):
    collection: ClassVar[str] = "versioned"
    version: int = 1


@dataclass(slots=True, kw_only=True)
class Homeless(Item):
    title: str = ""


def test_document_carries_fields_and_bookkeeping() -> None:
    body = stored(ProductItem(url="http://a.example/p", title="Knife", price=Decimal("10.50")))
    milliseconds = NOW.replace(microsecond=123_000)
    assert body["_id"] == body["url"] == "http://a.example/p"
    assert (body["title"], str(body["price"]), body["brand"], body["version"]) == ("Knife", "10.50", None, 1)
    times = ("fetched_at", "first_seen_at", "last_seen_at", "last_changed_at")
    assert {body[name] for name in times} == {milliseconds}


def test_fetch_time_of_another_zone_is_the_same_moment() -> None:
    east = NOW.astimezone(timezone(timedelta(hours=5)))
    assert document(page(), east, MAX).fetched_at == document(page(), NOW, MAX).fetched_at


def test_identity_has_the_key() -> None:
    assert identity(page(key="k")) == "http://a.example/#k"
    assert identity(page()) == "http://a.example/"


def test_untyped_items_are_their_content() -> None:
    first, same, other = (document(item, NOW, MAX) for item in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}))
    assert first.id == same.id == first.content_hash
    assert other.id != first.id
    assert stored(OrderedDict(a=(1, 2)))["item"] == {"a": [1, 2]}


def test_the_id_that_insert_one_of_a_projects_own_pipeline_gave_an_item_is_no_content() -> None:
    item = {"a": 1, "owner": ObjectId("65f000000000000000000001")}
    inserted = item | {"_id": ObjectId()}
    assert document(inserted, NOW, MAX).id == document(item, NOW, MAX).id
    assert stored(inserted)["item"] == {"a": 1, "owner": "65f000000000000000000001"}
    assert isinstance(inserted["_id"], ObjectId), "the project's"
    assert stored({"_id": "own"})["item"] == {"_id": "own"}


@pytest.mark.parametrize(
    ("value", "issue"),
    [
        ({"$set": 1}, "field_name"),
        ({"a.b": 1}, "field_name"),
        ({"a\0": 1}, "field_name"),
        ({"": 1}, "field_name"),
        ({1: 1}, "field_name"),
        ({"x": [{"$y": 1}]}, "field_name"),
        ({"\ud800": 1}, "lone_surrogate"),
        ({"a": "\udfff"}, "lone_surrogate"),
        ({"a": 2**63}, "integer_too_large"),
        ({"a": -(2**63) - 1}, "integer_too_large"),
        ({"a": float("nan")}, "not_finite"),
        ({"a": float("-inf")}, "not_finite"),
        ({"a": Decimal("NaN")}, "not_finite"),
        ({"a": Decimal("Infinity")}, "not_finite"),
        ({"a": Decimal("1." + "1" * 34)}, "decimal_too_long"),
        ({"a": Decimal("1E+7000")}, "decimal_too_long"),
        ({"a": timedelta(1)}, "unstorable_type"),
        ({"a": {1j}}, "unstorable_type"),
        ({"a": iter(())}, "unstorable_type"),
        ({"a": object()}, "unstorable_type"),
        ({"a": datetime.max.replace(tzinfo=timezone(-timedelta(hours=5)))}, "unstorable_value"),
        (nested(150), "too_deep"),
        (nested(100_000), "too_deep"),
        ({"a": "x" * MAX}, "too_large"),
    ],
)
def test_what_mongodb_cannot_hold_is_refused_by_name(value: Any, issue: str) -> None:
    with pytest.raises(UnstorableError) as in_field:
        document(page(metadata=value), NOW, MAX)
    assert in_field.value.issue == issue
    assert len(str(in_field.value)) < 500


class Size(enum.Enum):
    BIG = ("big", 3)


@dataclass
class Part:
    name: str
    made: date


class Shelf(BaseModel):
    home: HttpUrl
    parts: list[Part]


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (date(2026, 3, 1), "2026-03-01"),
        (time(12, 30), "12:30:00"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ({"b", "a"}, ["a", "b"]),
        (frozenset({Decimal("1.50")}), [Decimal("1.50")]),
        ((1, {"a": (2,)}), [1, {"a": [2]}]),
        (deque([1]), [1]),
        (bytearray(b"x"), b"x"),
        (memoryview(b"x"), b"x"),
        (Size.BIG, ["big", 3]),
        (PurePosixPath("/a"), "/a"),
        (ip_address("::1"), "::1"),
        (MappingProxyType({"a": date(2026, 3, 1)}), {"a": "2026-03-01"}),
        (Part("leg", date(2026, 3, 1)), {"name": "leg", "made": "2026-03-01"}),
        (
            Shelf(home="http://a.example/", parts=[Part("leg", date.min)]),  # type: ignore[arg-type]
            {"home": "http://a.example/", "parts": [{"name": "leg", "made": "0001-01-01"}]},
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_mongodb_has_no_type_for_has_a_stored_form(value: Any, form: Any) -> None:
    """In a field of ours and in an item of another class, and the same again is the same content."""
    assert stored(page(metadata={"a": value}))["metadata"] == {"a": form}
    assert stored({"a": value})["item"] == {"a": form}
    first, again = (document(page(metadata={"a": each}), NOW, MAX) for each in (value, copy.copy(form)))
    assert first.content_hash == again.content_hash or isinstance(value, (bytearray, memoryview))


class Scrapys(scrapy.Item):
    a = scrapy.Field()


@attrs.define
class Attrs:
    a: Decimal


class Pydantic(BaseModel):
    a: Decimal


@dataclass
class Plain:
    a: Decimal


ITEMS = [{"a": Decimal(1)}, Scrapys(a=Decimal(1)), Attrs(Decimal(1)), Pydantic(a=Decimal(1)), Plain(Decimal(1))]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: type(item).__name__)
def test_an_item_of_any_class_says_where_it_is_from(item: Any) -> None:
    def made(url: str = "http://a.example/p", spider: str = "one", **source: str) -> StoredDocument:
        return document(item, NOW, MAX, Origin(url, NOW, {"spider": spider, "request_id": "0:1"} | source))

    body = bson.decode(made().body.raw, CODEC)
    assert (body["url"], body["item"]) == ("http://a.example/p", {"a": Decimal(1)})
    assert body["source"] == {"spider": "one", "request_id": "0:1"}
    assert made().id == made(request_id="0:2", worker="w").id
    assert len({made().id, made(spider="two").id, made(url="http://a.example/q").id}) == 3
    assert made().content_hash == made(spider="two").content_hash


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: type(item).__name__)
def test_a_rejected_item_of_any_class_is_its_page_s_and_its_spider_s(item: Any) -> None:
    def kept(url: str = "http://a.example/p", spider: str = "one", **source: str) -> str:
        origin = Origin(url, NOW, {"spider": spider, "request_id": "0:1"} | source)
        return Rejection.of(item, ["missing_title"], NOW, MAX, origin).id

    assert kept() == kept(request_id="0:2")
    assert len({kept(), kept(spider="two"), kept(url="http://a.example/q")}) == 3


def test_credentials_of_urls_are_stored_with_no_item() -> None:
    login = "https://user:s3cret@shop.example/a"
    item = {"url": login, "images": [login], "deep": {"x": (login,)}, "text": f"{login} by ann@b.example"}
    bare = "https://shop.example/a"
    assert stored(item)["item"] == {"url": bare, "images": [bare], "deep": {"x": [bare]}, "text": item["text"]}
    rejected = Rejection.of(item | {"o": object()}, ["unstorable_type: o"], NOW, MAX).body
    assert "s3cret" not in repr(rejected)


def test_an_item_that_cannot_be_read_is_refused() -> None:
    class Lazy(dict[str, int]):
        def __iter__(self) -> Any:
            raise RuntimeError("too late")

        keys = __iter__

    with pytest.raises(UnstorableError) as error:
        document(Lazy(a=1), NOW, MAX)
    assert error.value.issue == "unreadable"


def test_too_much_is_refused_before_it_is_converted() -> None:
    doubled: list[Any] = [1]
    for _ in range(60):  # more values than any memory holds
        doubled = [doubled, doubled]
    text = ["x" * 100] * MAX
    for bad in ({"a": doubled}, {"a": {"b": text}}, page(metadata={"a": doubled}), page(links=text)):
        with pytest.raises(UnstorableError) as error:
            document(bad, NOW, 2**14)
        assert error.value.issue == "too_large"
        assert len(Rejection.of(bad, ["too_large: it is"], NOW, 2**14).body["item"]["text"]) < 2**17


def test_many_values_are_no_work_for_the_event_loop() -> None:
    numbers = list(range(2 * LIGHT))
    for item in ({"a": numbers}, page(metadata={"a": [numbers]}), {"a": ["x" * 1000] * LIGHT}):
        with pytest.raises(HeavyError):
            document(item, NOW, 2**24, light=LIGHT)
        assert document(item, NOW, 2**24).id
    with pytest.raises(HeavyError):
        documents.content_hash(page(metadata={"a": numbers}))


@pytest.mark.parametrize(
    "at", ["2026-03-01", 1.5, date(2026, 3, 1), datetime.min.replace(tzinfo=timezone(timedelta(1) / 2))]
)
def test_a_time_that_is_none_is_refused(at: Any) -> None:
    for item in (page(), {"a": 1}):
        with pytest.raises(UnstorableError, match="fetched_at = "):
            document(item, at, MAX)


@pytest.mark.parametrize("changes", [{"source": "me"}, {"source": None}, {"issues": "none"}])
def test_provenance_of_another_type_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(UnstorableError) as error:
        document(page(**changes), NOW, MAX)
    assert error.value.issue == "wrong_type"


def test_an_item_that_contains_itself_is_refused() -> None:
    item: dict[str, Any] = {}
    item["self"] = item
    for bad in (item, page(metadata=item)):
        with pytest.raises(UnstorableError) as error:
            document(bad, NOW, MAX)
        assert error.value.issue == "too_deep"


@pytest.mark.parametrize(
    ("item", "issue"),
    [
        (Versioned(url="http://a.example/"), "reserved_field"),
        (Homeless(url="http://a.example/"), "missing_collection"),
        (PageItem(url=""), "missing_url"),
        ("text", "not_an_item"),
        (None, "not_an_item"),
    ],
)
def test_items_without_a_place_are_refused(item: Any, issue: str) -> None:
    with pytest.raises(UnstorableError) as error:
        document(item, NOW, MAX)
    assert error.value.issue == issue


def test_edges_that_mongodb_holds_are_stored() -> None:
    class Colour(enum.StrEnum):
        RED = "red"

    metadata = {
        "integers": [2**63 - 1, -(2**63)],
        "long": Decimal("1." + "1" * 33),
        "tiny": Decimal("1E-6176"),
        "nul": "a\0b",
        "emoji": "🐟",
        "price in US$": 1,
        "bytes": b"\0\xff",
        "enum": Colour.RED,
        "deep": nested(90),
    }
    assert stored(page(metadata=metadata))["metadata"] == metadata


moments = st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
decimals = st.decimals(-(10**12), 10**12, places=4)
names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="$.\0"), min_size=1)
texts = st.text(st.characters(exclude_categories=["Cs"]))
scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | texts | moments | decimals | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)
anything = st.recursive(
    st.none()
    | st.integers()
    | st.floats()
    | st.text()
    | st.decimals()
    | st.binary()
    | st.dates()
    | st.complex_numbers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, values, max_size=4))
def test_what_is_accepted_comes_back_as_it_was(metadata: dict[str, Any]) -> None:
    assert stored(page(metadata=metadata))["metadata"] == metadata


def outcome(item: Any) -> StoredDocument | UnstorableError:
    try:
        return document(item, NOW, MAX)
    except UnstorableError as error:
        return error


@given(anything)
def test_anything_is_stored_or_refused_with_a_reason(value: Any) -> None:
    for item in (value, {"value": value}, page(metadata={"value": value})):
        match outcome(item):
            case UnstorableError() as error:
                assert str(error)
            case made:
                assert bson.decode(made.body.raw, CODEC), "what is taken can be stored"


@pytest.mark.parametrize("one", ["x", "é", b"x"])
@pytest.mark.parametrize("place", [lambda value: value, lambda value: [value], lambda value: {"b": value}])
def test_much_text_is_work_for_a_thread(one: Any, place: Any) -> None:
    enough = LIGHT * 256
    assert document({"a": place(one * (enough - 10_000))}, NOW, 2**24, light=LIGHT)
    with pytest.raises(HeavyError):
        document({"a": place(one * enough)}, NOW, 2**24, light=LIGHT)


def test_a_login_in_a_url_is_no_content() -> None:
    items = [ProductItem(url="http://shop.example/1", image=f"http://me:{n}@shop.example/1.png") for n in range(2)]
    before = content_hash(items[0])
    assert [documents.content_hash(item) for item in items] == [content_hash(item) for item in items] == [before] * 2


def content_hash(item: Any) -> str:
    return document(item, NOW, MAX).content_hash


def test_hash_is_of_the_content_alone() -> None:
    first = ProductItem(url="http://a.example/", title="Knife", price=Decimal("10.0"))
    same = ProductItem(
        url="http://a.example/2",
        key="k",
        title="Knife",
        price=Decimal("10.00"),
        fetched_at=NOW,
        source={"worker": "w"},
        issues=["missing_currency"],
        found_in={"title": "html"},
    )
    assert content_hash(first) == content_hash(same)


def test_hash_is_worked_out_once_while_the_content_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    digests = Mock(wraps=digest_of)
    monkeypatch.setattr(documents, "digest_of", digests)
    item = ProductItem(url="http://a.example/", title="Knife", price=Decimal(10))
    first = documents.content_hash(item)
    item.url, item.source["worker"] = "http://a.example/2", "w"
    assert documents.content_hash(item) == content_hash(item) == first
    assert digests.call_count == 1
    item.title = "Knives"
    assert content_hash(item) == content_hash(replace(item)) != first
    assert digests.call_count == 3  # another object is another item


def test_hash_follows_what_changes_inside_a_field() -> None:
    item = page(metadata={"a": 1})
    first = documents.content_hash(item)
    item.metadata["a"] = 2
    assert documents.content_hash(item) == content_hash(page(metadata={"a": 2})) != first


def test_a_kept_hash_is_no_part_of_the_item() -> None:
    item, same = page(title="Knife"), page(title="Knife")
    documents.content_hash(item)
    assert item == same
    assert (repr(item), asdict(item)) == (repr(same), asdict(same))
    assert documents.content_hash(pickle.loads(pickle.dumps(item))) == documents.content_hash(copy.deepcopy(item))


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (ProductItem(url="http://a.example/", sku="K1"), True),
        (ProductItem(url="http://a.example/", title="Knife"), False),
        (page(text="long " * 50), True),
        (page(text="short"), False),
        (page(text=5), False),
        ({"sku": "K1"}, False),
    ],
)
def test_document_tells_whether_its_content_is_recognised_elsewhere(item: Any, told: bool) -> None:
    assert document(item, NOW, MAX).distinctive is told


@pytest.mark.parametrize("field", [{"title": "Knives"}, {"price": Decimal("10.01")}, {"rating": 4.0}, {"brand": ""}])
def test_hash_differs_with_any_content_field(field: dict[str, Any]) -> None:
    base: dict[str, Any] = {"url": "http://a.example/", "title": "Knife", "price": Decimal(10)}
    assert content_hash(ProductItem(**base)) != content_hash(ProductItem(**base | field))


@given(decimals, st.integers(0, 4))
def test_hash_counts_a_decimal_by_its_value(price: Decimal, zeros: int) -> None:
    longer = Decimal(f"{price:f}" + ("" if "." in f"{price:f}" else ".") + "0" * zeros)
    assert content_hash({"price": price}) == content_hash({"price": longer})


@given(st.dictionaries(names, values, max_size=4), st.randoms())
def test_hash_ignores_the_order_of_names(metadata: dict[str, Any], random: Any) -> None:
    shuffled = list(metadata.items())
    random.shuffle(shuffled)
    assert content_hash(page(metadata=metadata)) == content_hash(page(metadata=dict(shuffled)))
