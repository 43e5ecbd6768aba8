"""The product that a page is about, or None.

Sources in order of trust: the domain's rules, JSON-LD, microdata, RDFa, Open Graph, the visible page. If rules and
JSON-LD give title, price, currency, availability and identifier, no tree is built: of the other sources only meta
elements are read. Otherwise every source is read for what is missing.
"""

from __future__ import annotations

from typing import Final

from crawler.extraction.product import rules as domain
from crawler.extraction.product import script_brand, script_sku, state_product, stated_brand, stated_gtin
from crawler.extraction.product.draft import Draft
from crawler.extraction.product.shown import Shown
from crawler.extraction.product.stated import Structured, StructuredData
from crawler.extraction.structured import site_names
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import identifiers, other_kinds
from crawler.extraction.words import url_identifiers
from crawler.items import ProductItem
from crawler.policy.rules.domains import NO_RULES, DomainRules

NAMED: Final = 1.5  # evidence of a state whose product the page names: one sign of another kind outweighs it
_SHOWN: Final = ("html", "opengraph")


def extract_product(html: str | bytes | Document, url: str, rules: DomainRules | None = None) -> ProductItem | None:
    """The product of the page at *url*, or None if it is no product page. Never raises.

    It is a product page if a title is found and one of these holds: a `product` pattern of the rules matches the URL,
    or their `price` matches the page; structured data describes one main product (not the entries of a listing); the
    page calls itself a product and something else speaks for one (`Shown.is_called_product`); or it looks like one
    (`Shown.is_product`), which is skipped if structured data describes an article, or lists products and the URL does
    not name one, or if the rules have `product` patterns.

    `found_in` names the source of each field: rule, json-ld, microdata, rdfa, opengraph, html, state, url (the sku), or
    inferred (InStock, if there is a price and nothing says otherwise; the brand in its maker's own shop). If a
    *document* is passed instead of source, its tree is shared with other readers, and *url* must be its own.
    """
    document = html if isinstance(html, Document) else Document(html, url)
    rules = rules or NO_RULES
    draft = Draft(document)
    if rules.fields:
        draft.fill(domain.raw_fields(document, rules), "rule")
    structured, shown = Structured(draft), Shown(draft)
    if document.is_json:
        is_found = _stated_in_script(draft, structured) or _is_stated(draft, structured.evidence, rules)
        return _finished(draft, structured) if is_found else None
    is_guessed = not rules.names_products()
    is_told = _is_stated(draft, structured.evidence, rules)
    evidence = structured.read(is_looked_at=is_guessed or rules.is_product(document.url), is_product=is_told)
    if not (_is_stated(draft, evidence, rules) or shown.is_called_product(structured.metas)):
        is_listed = evidence.listed and url_identifiers.likelihood(document.url) < 1  # else of things beside it
        is_another = is_listed or evidence.other or not is_guessed
        if is_another or not (shown.is_product(evidence) or _is_in_state(draft, structured, shown)):
            return None
    if is_guessed and shown.is_listing(evidence):
        return None
    if shown.is_needed(evidence):
        shown.read(evidence)
    else:
        if shown.is_internal:
            shown.read_identifier()
        stated_gtin.settle(draft)
    stated_brand.settle(draft, shown.view)
    if draft.lacks("title", "price", "currency"):
        _stated_in_script(draft, structured)
    return _finished(draft, structured)


def _is_in_state(draft: Draft, structured: Structured, shown: Shown) -> bool:
    """Whether the page's state has the product that it is about: events, courses and homes have a name and a price,
    too."""
    return _stated_in_script(draft, structured) and not other_kinds.outweigh(shown.view, NAMED)


def _stated_in_script(draft: Draft, structured: Structured) -> bool:
    """Fill *draft* with the product in the page's state that heading or URL names; returns whether there is one."""
    document = draft.document
    if not document.priced_states:
        return False
    headings = [] if document.is_json else [*structured.headings, structured.metas.get("og:title", "")]
    fields = state_product.raw_fields(document.priced_states, document.url, headings)
    draft.fill(fields, "state")
    return bool(fields)


def _is_stated(draft: Draft, evidence: StructuredData, rules: DomainRules) -> bool:
    return evidence.main or rules.is_product(draft.document.url) or draft.found_in.get("price") == "rule"


def _finished(draft: Draft, structured: Structured) -> ProductItem | None:
    """The item, with fields that follow from others."""
    if draft.lacks("title"):
        draft.set("title", structured.metas.get("og:title"), "opengraph")
    title = draft.fields.get("title")
    if title is None:
        return None
    evidence = structured.evidence
    if draft.lacks("category") and evidence.trail:
        trail = evidence.trail[:-1] if evidence.trail[-1].strip() == title else evidence.trail
        draft.set("category", " > ".join(trail), evidence.trail_source)
    _finish_brand(draft, title)
    _finish_sku(draft, title)
    if draft.lacks("price") and draft.found_in.get("currency") != "rule":
        draft.drop("currency")  # it says how a price is to be read
    if draft.lacks("availability") and not draft.lacks("price"):
        draft.set("availability", "InStock", "inferred")
    return draft.item()


def _finish_brand(draft: Draft, title: str) -> None:
    """Set a missing brand, or replace the site's own name that structured data has for one."""
    if draft.lacks("brand"):
        draft.set("brand", site_names.maker(title, draft.document), "inferred")
    if not stated_brand.is_open(draft) or draft.found_in.get("brand") == "inferred":
        return
    in_script = script_brand.brand(draft.document, title, draft.fields.get("sku"))
    if draft.lacks("brand") or (in_script and not site_names.is_site(in_script, draft.document)):
        draft.set("brand", in_script, "state")


def _finish_sku(draft: Draft, title: str) -> None:
    """Set a missing identifier, at last to a GTIN that the page shows; leave out the number of a database's row."""
    if draft.lacks("sku"):
        draft.set("sku", script_sku.sku(draft.document, title), "state")
        if draft.lacks("sku") and (source := draft.found_in.get("gtin")) in _SHOWN:
            draft.set("sku", draft.fields["gtin"], source)
    elif draft.found_in["sku"] != "rule" and identifiers.is_row(draft.fields["sku"], draft.document):
        draft.drop("sku")
