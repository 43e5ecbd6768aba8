"""The brand with a label on the page, where structured data states none, or the shop's own name instead."""

from __future__ import annotations

import re
from typing import Final

from crawler.extraction.product.draft import Draft
from crawler.extraction.structured import site_names
from crawler.extraction.tree.document import Document
from crawler.extraction.visible import maker_links, visible_brand
from crawler.extraction.visible.view import View
from crawler.extraction.words import labels

BEHIND: Final = 100_000  # characters of source from the heading on, that have the texts which are read
MAX_WORDS: Final = 5  # of a name
_VALUE: Final = re.compile(r"(?:[:：\s]|<[^<>]{0,300}>){0,20}([^<>]{1,100})")  # behind a label in the source
_SENTENCE: Final = re.compile(r"[.!?]$|[.!?] ")


def is_open(draft: Draft) -> bool:
    """Whether *draft* has no brand, or the site's own name as one, that no rule states."""
    brand = draft.fields.get("brand")
    return brand is None or (draft.found_in["brand"] != "rule" and site_names.is_site(brand, draft.document))


def settle(draft: Draft, page: View) -> None:
    """Take the labelled brand if the draft's is open; its page is parsed for that only if a label stands in its source.
    Of a page with a tree also the one that the title names, for one that it does not name.

    Not a company with its legal form or address, or a longer form of the shop's name, for the shop's name: the first is
    who makes it for the shop. Known weakness: labels more than 100,000 characters behind the heading.
    """
    _name_maker(draft)
    stated: str | None = draft.fields.get("brand")
    if stated is not None and not is_open(draft):
        if page.document.has_tree and draft.found_in["brand"] != "rule" and not _is_in_title(stated, draft):
            labelled = page.once(visible_brand.labelled_brand)
            draft.set("brand", labelled if labelled and _is_in_title(labelled, draft) else None, "html")
        return
    if not page.document.has_tree and not _may_be_labelled(page.document, stated or ""):
        return
    labelled = page.once(visible_brand.labelled_brand)
    if labelled and _is_name(labelled) and not (stated and _is_makers(labelled, stated)):
        draft.set("brand", labelled, "html")
    elif stated and page.document.has_tree and (linked := page.once(visible_brand.linked_brand)):
        is_another = _is_in_title(linked, draft) and not site_names.is_site(linked, page.document)
        draft.set("brand", linked if is_another else None, "html")


def _name_maker(draft: Draft) -> None:
    """Leave only the name in a brand that is the text of a link: `More from Acme`."""
    stated, source = draft.fields.get("brand"), draft.found_in.get("brand", "rule")
    if stated is not None and source != "rule":
        draft.set("brand", maker_links.name_in(stated, draft.fields.get("title", "")), source)


def _is_in_title(value: str, draft: Draft) -> bool:
    return site_names.squeezed(value) in site_names.squeezed(draft.fields.get("title", ""))


def _is_name(value: str) -> bool:
    return len(value) < visible_brand.MAX_BRAND and len(value.split()) <= MAX_WORDS and not _SENTENCE.search(value)


def _is_makers(value: str, stated: str) -> bool:
    own, other = site_names.squeezed(stated), site_names.squeezed(value)
    return own in other or other in own or labels.COMPANY.search(value) is not None


def _may_be_labelled(document: Document, stated: str) -> bool:
    """Whether the source has a label behind the heading, and behind it not what is *stated*."""
    markup = document.markup
    start = max(0, document.heading_at)
    label = labels.BRAND_IN_SOURCE.search(markup, start, start + BEHIND)
    value = _VALUE.match(markup, label.end() - 1) if label is not None else None
    return value is not None and not (stated and stated in value[1])
