"""What each demo host answers: listings, redirects, missing pages and faults, as a pure function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, Literal
from urllib.parse import urlencode

from demo import render
from demo.catalogue import Catalogue, Product, Store

CRAWL_DELAY: Final = 0.1  # seconds
DISALLOWED: Final = ("/private/", "/cart")
PER_PAGE: Final = 9


@dataclass(frozen=True, slots=True)
class Reply:
    """One response."""

    status: int
    body: bytes = b""
    location: str = ""
    content_type: str = "text/html; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong the first *times* a path is requested, by any client."""

    kind: Literal["busy", "drop", "slow"]
    times: int


@dataclass(frozen=True, slots=True)
class Roles:
    """Which of a store's products have problems; the lists do not overlap."""

    redirected: Sequence[Product]  # only linked by an old URL
    elsewhere: Sequence[Product]  # of the next store, also linked by a 302 to that host
    shouted: Sequence[Product]  # also linked in capitals
    on_sale: Sequence[Product]  # also served at a second URL that names the first as canonical
    faulty: Mapping[str, Fault]  # by path


class Site:
    """One host of the shop."""

    def __init__(self, catalogue: Catalogue, store: Store) -> None:
        self.store = store
        self.products = {f"/product/{product.slug}": product for product in catalogue.of(store)}
        self.retired = {f"/product/{item.slug}" for item in catalogue.retired if item.store is store}
        self.roles = _roles(catalogue, store)
        self._moves = dict(self._redirects())
        self._listings = dict(self._listing_cards())

    def fault(self, path: str) -> Fault | None:
        """The fault planted at *path*, if any."""
        return self.roles.faulty.get(path)

    def reply(self, path: str, query: Mapping[str, str]) -> Reply:
        """The response for one path; product paths are case-insensitive, as in many shops."""
        path = path.lower()
        if path == "/robots.txt":
            return Reply(200, robots().encode(), content_type="text/plain")
        if path in self._moves:
            status, location = self._moves[path]
            return Reply(status, location=location)
        if path in self._listings:
            return self._listing(path, query)
        if path.startswith(("/product/", "/sale/")):
            return self._product("/product/" + path.rsplit("/", 1)[-1])
        if path.startswith(("/help/", *DISALLOWED)):
            return Reply(200, render.text_page(self.store, path.rsplit("/", 1)[-1].title()))
        return Reply(404, render.text_page(self.store, "Not found"))

    def _product(self, path: str) -> Reply:
        product = self.products.get(path)
        if product is None:
            gone = path in self.retired or path.startswith("/product/discontinued-")
            return Reply(410 if gone else 404, render.text_page(self.store, "No longer sold"))
        return Reply(200, render.product_page(product, self._related(product)))

    def _related(self, product: Product) -> list[render.Card]:
        """Six others of the same category; their links have tracking parameters."""
        others = [item for item in self.products.values() if item.category == product.category]
        start = others.index(product) + 1
        wanted = (others + others)[start : start + min(6, len(others) - 1)]
        return [
            render.card(item, self._link(item, utm_source="related", utm_content=f"slot-{place}"))
            for place, item in enumerate(wanted)
        ]

    def _listing(self, path: str, query: Mapping[str, str]) -> Reply:
        title, cards = self._listings[path]
        pages = max(1, -(-len(cards) // PER_PAGE))
        number = query.get("page", "1")
        page = int(number) if number.isascii() and number.isdigit() else 0
        if not 1 <= page <= pages:
            return Reply(404, render.text_page(self.store, "Not found"))
        shown = cards[(page - 1) * PER_PAGE : page * PER_PAGE]
        previous = _page_link(path, page - 1) if page > 1 else ""
        following = _page_link(path, page + 1) if page < pages else ""
        return Reply(200, render.listing_page(self.store, title, shown, previous, following))

    def _listing_cards(self) -> Iterator[tuple[str, tuple[str, list[render.Card]]]]:
        products = list(self.products.values())
        yield "/", (self.store.name, [render.card(item, self._link(item)) for item in products[:PER_PAGE]])
        yield "/new", ("New arrivals", [*self._oddities(), *self._dead_links()])
        for category in dict.fromkeys(product.category for product in products):
            cards = [
                render.card(item, self._link(item, utm_source="listing", gclid=item.sku))
                for item in products
                if item.category == category
            ]
            yield render.category_path(category), (category, cards)

    def _oddities(self) -> list[render.Card]:
        """Other spellings of URLs: capitals, a sale path, a redirect from another shop."""
        cards = [render.card(item, f"/Product/{item.slug.upper()}") for item in self.roles.shouted]
        cards += [render.card(item, f"/sale/{item.slug}?utm_campaign=sale") for item in self.roles.on_sale]
        return cards + [render.card(item, f"/out/{item.sku}") for item in self.roles.elsewhere]

    def _dead_links(self) -> list[render.Card]:
        kinds = ("discontinued", "misspelt")  # 410 and 404
        return [render.Card(f"/product/{kind}-{n}", f"Last season's {kind} {n}") for kind in kinds for n in (1, 2)]

    def _link(self, product: Product, **parameters: str) -> str:
        moved = product in self.roles.redirected
        path = f"/old/{product.sku}" if moved else f"/product/{product.slug}"
        return f"{path}?{urlencode(parameters)}" if parameters else path

    def _redirects(self) -> Iterator[tuple[str, tuple[int, str]]]:
        for place, product in enumerate(self.roles.redirected):
            yield f"/old/{product.sku}", (301 if place % 2 else 302, f"/product/{product.slug}")
        for product in self.roles.elsewhere:
            yield f"/out/{product.sku}", (302, product.url)


def robots() -> str:
    """The robots.txt of every host."""
    lines = [f"Disallow: {path}" for path in DISALLOWED]
    return "\n".join(["User-agent: *", *lines, f"Crawl-delay: {CRAWL_DELAY}", ""])


def is_disallowed(path: str) -> bool:
    """Whether robots.txt forbids *path*."""
    return path.startswith(DISALLOWED)


def start_urls(catalogue: Catalogue) -> list[str]:
    """The start URLs of a crawl: the front page of each host."""
    return [f"http://{store.host}:{catalogue.port}/" for store in catalogue.stores]


def _page_link(path: str, page: int) -> str:
    """Parameters in either order, with or without tracking: still one page."""
    if page == 1:
        return path
    pairs = [("page", str(page)), ("per", str(PER_PAGE))]
    ordered = pairs if page % 2 else [*reversed(pairs), ("utm_medium", "pager")]
    return f"{path}?{urlencode(ordered)}"


def _roles(catalogue: Catalogue, store: Store) -> Roles:
    """Assign the roles to the store's products in order, at most one each."""
    products = catalogue.of(store)
    neighbours = catalogue.of(catalogue.stores[(catalogue.stores.index(store) + 1) % len(catalogue.stores)])
    step = max(1, len(products) // 20)
    dealt = (products[place * step % len(products)] for place in count())
    faults = (Fault("busy", 1), Fault("busy", 2), Fault("drop", 1), Fault("drop", 1), Fault("slow", 1))
    return Roles(
        redirected=[next(dealt) for _ in range(4)],
        elsewhere=neighbours[-2:],
        shouted=[next(dealt) for _ in range(5)],
        on_sale=[next(dealt) for _ in range(3)],
        faulty={f"/product/{next(dealt).slug}": fault for fault in faults},
    )
