"""What the demo shops sell, as a pure function of seed, day and size: the truth that the crawl is scored against.

Day 1 is the first state; each later day changes some prices, takes some products away and adds some.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from random import Random
from typing import Any, Final

from demo import words

SMALLEST: Final = 20  # products of a store: each planted problem needs its own
JSON_LD: Final = "json-ld"
MICRODATA: Final = "microdata"
HTML: Final = "html"


@dataclass(frozen=True, slots=True)
class Store:
    """One host: its name, its price format, and the markup styles of its product pages."""

    host: str
    name: str
    language: str
    currency: str  # ISO 4217
    money: str  # price format
    decimals: int
    styles: tuple[str, ...]  # used by products in turn


@dataclass(frozen=True, slots=True)
class Product:
    """One true product; `url` is its canonical URL."""

    store: Store
    url: str
    slug: str
    title: str
    brand: str
    category: str
    sku: str
    gtin: str
    price: Decimal
    was: Decimal | None  # a higher price, struck through beside the current one
    availability: str  # schema.org ItemAvailability without its prefix
    rating: float
    reviews: int
    style: str

    def truth(self) -> dict[str, Any]:
        """The scored fields, as JSON."""
        fields = ("url", "title", "brand", "category", "sku", "gtin", "availability", "rating", "style")
        known = {name: getattr(self, name) for name in fields}
        return known | {
            "price": str(self.price),
            "currency": self.store.currency,
            "review_count": self.reviews,
        }


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything on sale on one day, and what was on sale before."""

    day: int
    port: int
    stores: tuple[Store, ...]
    products: tuple[Product, ...]
    retired: tuple[Product, ...] = ()
    changed: dict[str, tuple[Decimal, Decimal]] = field(default_factory=dict)  # URL -> price the day before, now

    def of(self, store: Store) -> list[Product]:
        """The products of one store."""
        return [product for product in self.products if product.store is store]

    def truth(self) -> dict[str, Any]:
        """What a complete crawl of this day finds, as JSON."""
        return {
            "day": self.day,
            "products": [product.truth() for product in self.products],
            "retired": [product.truth() for product in self.retired],
            "changed": {url: [str(before), str(now)] for url, (before, now) in self.changed.items()},
        }


STORES: Final = (
    Store("127.0.0.2", "Nordlicht Depot", "en-IE", "EUR", "€{:,.2f}", 2, (JSON_LD,)),
    Store("127.0.0.3", "Harrow & Finch", "en-GB", "GBP", "£{:,.2f}", 2, (MICRODATA,)),
    Store("127.0.0.4", "Redwood Supply", "en-US", "USD", "${:,.2f}", 2, (HTML,)),
    Store("127.0.0.5", "Fjällboden", "sv-SE", "SEK", "{:,.2f} kr", 2, (JSON_LD, HTML)),
    Store("127.0.0.6", "Kumo Living", "ja-JP", "JPY", "¥{:,.0f}", 0, (MICRODATA, JSON_LD)),
)
# Exchange rate of one euro in each store: keeps prices in a believable range.
_SCALE: Final = {"EUR": 1, "GBP": 1, "USD": 1, "SEK": 11, "JPY": 160}
_STOCK: Final = ("InStock",) * 8 + ("OutOfStock", "PreOrder")


def build(*, seed: int = 7, day: int = 1, port: int = 8000, size: int = 104) -> Catalogue:
    """The catalogue of *day*, with *size* products in each store, at least SMALLEST. Raises ValueError."""
    if size < SMALLEST or day < 1:
        raise ValueError(f"size {size} and day {day} must be at least {SMALLEST} and 1")
    products = tuple(item for store in STORES for item in stock(store, seed=seed, port=port, size=size))
    catalogue = Catalogue(1, port, STORES, products)
    for following in range(2, day + 1):
        catalogue = _next_day(catalogue, Random(f"{seed}/{following}"), size)
    return catalogue


def stock(store: Store, *, seed: int, port: int, size: int) -> list[Product]:
    """The first *size* products of one store."""
    return [_product(Random(f"{seed}/{store.host}/{number}"), store, number, port) for number in range(size)]


def worth(store: Store, euros: Decimal) -> Decimal:
    """*amount* in the store's currency, with its usual number of decimals."""
    return _round(euros * _SCALE[store.currency], store)


def money(store: Store, amount: Decimal) -> str:
    """*amount* in the store's format: `1 299,00 kr` in Sweden."""
    text = store.money.format(amount)
    if store.currency != "SEK":
        return text
    return text.replace(",", "\u00a0").replace(".", ",")


def _product(rng: Random, store: Store, number: int, port: int) -> Product:
    category = list(words.NOUNS)[number % len(words.NOUNS)]
    noun, adjective = rng.choice(words.NOUNS[category]), words.ADJECTIVES[number % len(words.ADJECTIVES)]
    title = f"{adjective} {noun} {100 + number}"
    slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in title.lower())
    slug = "-".join(part for part in slug.split("-") if part)
    price = _price(rng, store)
    return Product(
        store=store,
        url=f"http://{store.host}:{port}/product/{slug}",
        slug=slug,
        title=title,
        brand=rng.choice(words.BRANDS),
        category=category,
        sku=f"{store.host[-1]}-{number:05d}",
        gtin=_gtin(rng),
        price=price,
        was=_round(price * Decimal("1.25"), store) if rng.random() < 0.3 else None,
        availability=rng.choice(_STOCK),
        rating=rng.randrange(20, 51) / 10,
        reviews=rng.randrange(3, 900),
        style=store.styles[number // len(words.NOUNS) % len(store.styles)],
    )


def _price(rng: Random, store: Store) -> Decimal:
    euros = Decimal(rng.randrange(2, 1600)) + rng.choice((Decimal("0.99"), Decimal("0.50"), Decimal(0)))
    return worth(store, euros)


def _round(amount: Decimal, store: Store) -> Decimal:
    return amount.quantize(Decimal(1).scaleb(-store.decimals))


def _gtin(rng: Random) -> str:
    digits = [4, 0, *(rng.randrange(10) for _ in range(10))]
    weighted = sum(digit * (3 if place % 2 else 1) for place, digit in enumerate(digits))
    return "".join(map(str, [*digits, -weighted % 10]))


def _next_day(before: Catalogue, rng: Random, size: int) -> Catalogue:
    """A tenth of the prices change, and a fiftieth of each store's products is replaced by new ones."""
    turnover = max(1, size // 50)
    products: list[Product] = []
    retired: list[Product] = list(before.retired)
    changed: dict[str, tuple[Decimal, Decimal]] = {}
    for store in before.stores:
        old = before.of(store)
        gone = rng.sample(old, turnover)
        retired += gone
        products += [_reprice(product, rng, changed) for product in old if product not in gone]
        first = size + turnover * (before.day - 1)
        products += [_product(rng, store, number, before.port) for number in range(first, first + turnover)]
    return Catalogue(before.day + 1, before.port, before.stores, tuple(products), tuple(retired), changed)


def _reprice(product: Product, rng: Random, changed: dict[str, tuple[Decimal, Decimal]]) -> Product:
    factor = rng.choice((Decimal("0.85"), Decimal("0.9"), Decimal("1.1"), Decimal("1.2")))
    price = _round(product.price * factor, product.store)
    if rng.random() >= 0.1 or price == product.price:
        return product
    changed[product.url] = (product.price, price)
    return replace(product, price=price, was=product.price if price < product.price else None)
