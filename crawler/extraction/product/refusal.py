"""Why a page is taken for no product, in words for somebody who expected one."""

from __future__ import annotations

from crawler.extraction.product import rules as domain
from crawler.extraction.product.draft import Draft
from crawler.extraction.product.shown import Shown
from crawler.extraction.product.stated import Structured
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import other_kinds
from crawler.extraction.words import url_identifiers
from crawler.policy.rules.domains import DomainRules


def refusal(document: Document, rules: DomainRules) -> str:
    """The likeliest reason for which `extract_product` gives None for *document*; call it only then.

    Known weakness: of signs that are too weak together it names those that are missing, not what each weighs.
    """
    if rules.names_products() and not rules.is_product(document.url):
        patterns = ", ".join(repr(rule.pattern.pattern) for rule in rules.product if rule.pattern is not None)
        return f"the domain's rule product = {patterns} (DOMAINS_FILE) does not match the URL"
    if document.is_json:
        return "no object of this JSON has a name and a price, and is named by the URL"
    draft = Draft(document)
    draft.fill(domain.raw_fields(document, rules), "rule")
    return _of_html(Structured(draft), Shown(draft), is_told=rules.is_product(document.url) or not draft.lacks("price"))


def _of_html(structured: Structured, shown: Shown, *, is_told: bool) -> str:
    evidence = structured.read(is_product=is_told)
    is_stated = is_told or evidence.main or shown.is_called_product(structured.metas)
    if evidence.other and not is_stated:
        return "structured data describes a page of another kind, such as an article"
    if evidence.listed and not is_stated and url_identifiers.likelihood(structured.document.url) < 1:
        return "structured data lists several products, and the URL names none of them"
    if shown.is_of_several or shown.is_listing(evidence):
        return "its prices stand in the cards of several products, or repeat like those of a list"
    if is_stated:
        return "it has no title: neither a heading nor structured data names the product"
    against = [f"no {sign}" for sign in shown.lacking()]
    if other_kinds.outweigh(shown.view, 0):
        against.append("URL, heading or text as of a search, a recipe, an event or an article")
    told = ", ".join(against) or "what it shows weighs little, as a price for a month does"
    return f"structured data describes no product, and too little of the page speaks for one: {told}"
