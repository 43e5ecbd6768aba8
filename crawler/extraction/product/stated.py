"""A page's structured data: JSON-LD, microdata, RDFa, Open Graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from crawler.extraction.product.draft import CORE, Draft
from crawler.extraction.structured import jsonld, markup, opengraph, properties, references, schema_org
from crawler.extraction.tree import elements
from crawler.extraction.tree.nodetext import text_of
from crawler.extraction.words import url_identifiers, values
from crawler.utils.lazy import cached_property

LIKELY = 3  # required likeness of page and one of several products on an article or a list
MAX_HEADING = 400  # characters
MAX_HEADINGS = 10


@dataclass(slots=True)
class StructuredData:
    """What was learned about the page besides its fields."""

    main: bool = False  # one main product is described
    vague: bool = False  # that may be a category
    named: bool = False  # a product is named, but nothing shows that it is for sale
    listed: bool = False  # the entries of a listing are described
    other: bool = False  # an article or a page of another kind is described
    free: bool = False  # a price of zero is stated: often a template's, so that the page has to confirm it
    prices: list[Decimal] = field(default_factory=list)  # stated prices, in order of trust
    others: set[tuple[Decimal, Any]] = field(default_factory=set)  # stated in another currency, with it
    highest: Decimal | None = None  # of the range of prices whose lowest is the first of these
    other_ids: list[str] = field(default_factory=list)  # identifiers besides the sku
    trail: list[str] = field(default_factory=list)  # breadcrumbs
    trail_source: str = ""
    complete: bool = False  # rules and JSON-LD have a complete offer: other sources are not needed


class Structured:
    """Fills a draft from its page's structured data."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.document = draft.document
        self.evidence = StructuredData()

    def read(self, *, is_looked_at: bool = True, is_product: bool = False) -> StructuredData:
        """Fill the draft, reading each source only while something is missing that it may have.

        *is_looked_at*: whether the visible page is read too, if JSON-LD does not tell what it is about. Then its tree
        is asked for markup, and its source not searched for signs of it. *is_product*: whether the page is a product's,
        whatever is found.
        """
        evidence = self.evidence
        self._take(jsonld.blocks(self.document.html, self.document.source.scripts), "json-ld")
        evidence.complete = not self.draft.lacks(*CORE, "sku")
        if is_looked_at and not (evidence.complete or evidence.listed or evidence.other):
            self.document.parse()
        is_another = not is_product and self._is_another()
        for syntax in (markup.MICRODATA, markup.RDFA):
            is_asked = not is_another or markup.has_type(self.document, syntax, schema_org.PRODUCTS | schema_org.SOLD)
            if is_asked and self.draft.lacks(*CORE, "sku"):
                self._take(markup.items(self.document, syntax), syntax.name)
        if self.draft.lacks(*CORE, "sku", "brand", "image", "description") or ":price:amount" in self.document.head:
            raw = opengraph.raw_fields(self.metas)
            self._note_price(raw)
            # Its title is written for sharing ("Buy X at Y"): the page's heading comes first.
            self.draft.fill({name: value for name, value in raw.items() if name != "title"}, "opengraph")
            if "twitter:data1" in self.metas and self.draft.lacks("price"):
                self.draft.fill(opengraph.card_fields(self.metas, self.document), "opengraph")
        return evidence

    @cached_property
    def metas(self) -> dict[str, str]:
        """The page's meta elements by name."""
        return opengraph.metas(self.document)

    def _is_another(self) -> bool:
        """Whether only markup of a product could still make it a product's page."""
        evidence = self.evidence
        return evidence.other and not (evidence.main or opengraph.is_product(self.metas))

    @cached_property
    def headings(self) -> list[str]:
        """The page's h1 and title."""
        title = self.document.first("title")
        named = [*([title] if title is not None else ()), *elements.of(self.document).h1s[:MAX_HEADINGS]]
        return [text_of(node, MAX_HEADING) for node in named]

    def _take(self, items: Iterable[Any], source: str) -> None:
        evidence, items = self.evidence, list(items)
        if not items:  # as on most pages
            return
        found = schema_org.search(items)
        if found.breadcrumbs and not evidence.trail:
            evidence.trail, evidence.trail_source = found.breadcrumbs, source
        node = self._main_product(found) if found.products else None
        if node is not None:
            self._believe(references.resolved(node, items), found, source)
            return
        evidence.listed = evidence.listed or found.listed > 1 or len(found.products) > 1
        names_another = self._names_no_product if found.products else self._names_another
        evidence.other = evidence.other or found.other_page or names_another(found)

    def _main_product(self, found: schema_org.Found) -> schema_org.Node | None:
        """The product of those *found* that the page is about; a page about an article has none."""
        several = len(found.products) > 1
        headings = self.headings if several or found.articles else ()
        is_doubted = found.articles or found.other_page
        node = schema_org.main_product(found.products, self.document.url, headings, least=LIKELY if is_doubted else 0)
        if node is not None and not several and self._is_elsewhere(node):
            node = None
        if found.articles and schema_org.is_article(found, node, headings):
            self.evidence.other, node = True, None
        return node

    def _believe(self, node: schema_org.Node, found: schema_org.Found, source: str) -> None:
        evidence, is_bare = self.evidence, schema_org.is_bare(node)
        evidence.vague = schema_org.is_vague(node) and (evidence.vague or not evidence.main)
        evidence.main, evidence.named = evidence.main or not is_bare, evidence.named or is_bare
        raw = schema_org.raw_fields(node, self.document.url, found.products)
        self._note_price(raw)
        self.draft.fill(raw, source)
        self._note_identifiers(raw["other_ids"], source)

    def _is_elsewhere(self, node: schema_org.Node) -> bool:
        """Whether the only product that is described has a page of its own, and not this page's title or heading."""
        if not schema_org.is_of_other_page(node, self.document.url):
            return False
        named = [name] if (name := properties.name_of(node.get("name"))) else []
        title = self.document.written_title
        return bool(named) and not (
            schema_org.is_heading(named, [title]) or schema_org.is_heading(named, self.headings)
        )

    def _names_another(self, found: schema_org.Found) -> bool:
        """Whether title or headings name what is *found*, no product; most titles do, and tell it without a tree."""
        if not (found.articles or found.subjects or found.events):
            return False
        if self._is_shared_article(found):
            return True
        title = self.document.written_title
        written = [title[:MAX_HEADING]] if title else []
        return schema_org.names_another(found, written) or schema_org.names_another(found, self.headings)

    def _names_no_product(self, found: schema_org.Found) -> bool:
        """The same where there are products, of which none is the page's."""
        headings = self.headings if len(found.products) > 1 or found.articles else ()
        return self._is_shared_article(found) or schema_org.is_subject(found, headings)

    def _is_shared_article(self, found: schema_org.Found) -> bool:
        return bool(found.articles) and self.metas.get("og:type") == "article"

    def _note_price(self, raw: Mapping[str, Any]) -> None:
        stated = raw.get("price")
        if stated is None:
            return
        currency = self.draft.fields.get("currency")
        if (price := values.price(stated, currency)) is not None:
            highest = values.price(raw.get("highest_price"), currency) if not self.evidence.prices else None
            self.evidence.highest = highest if highest is not None and highest > price else self.evidence.highest
            others = ((values.price(other, code), code) for other, code in raw.get("other_prices", ()))
            self.evidence.others.update((other, code) for other, code in others if other is not None)
            self.evidence.prices.append(price)
        elif values.is_zero(stated):
            self.evidence.free = True

    def _note_identifiers(self, others: Sequence[Any], source: str) -> None:
        """Keep *others*; one that is the URL's identifier of the product replaces the sku."""
        cleaned = [identifier for other in others if (identifier := values.identifier(other))]
        self.evidence.other_ids += cleaned
        sku = self.draft.fields.get("sku")
        if not cleaned or sku is None or self.draft.found_in["sku"] != source:
            return
        if sku.lower() not in self.document.url.lower():
            in_url = set(url_identifiers.identifiers(self.document.url))
            self.draft.set("sku", next((other for other in cleaned if other in in_url), None), source)
