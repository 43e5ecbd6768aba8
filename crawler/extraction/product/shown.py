"""Reads the visible page, for fields that structured data does not state."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Final

from crawler import urls
from crawler.extraction.product import price_in_source, stated_price
from crawler.extraction.product.draft import Draft
from crawler.extraction.product.stated import StructuredData
from crawler.extraction.product.stated_price import ShownAs
from crawler.extraction.structured import opengraph
from crawler.extraction.visible import (
    attribute_price,
    buy_buttons,
    identifiers,
    on_request,
    other_kinds,
    surroundings,
    unnamed_price,
    visible_brand,
    visible_facts,
    visible_free,
    visible_gtin,
    visible_price,
    visible_stock,
)
from crawler.extraction.visible.shown_price import Price
from crawler.extraction.visible.view import View
from crawler.extraction.words import url_identifiers, values
from crawler.utils.lazy import cached_property

# A short text, and a button's label; each begins with what is found fast.
_SHORT = re.compile(r">\s{0,20}([^<>\s][^<>]{1,39})(?=<)")
_LABEL = re.compile(r'value="([^<>"]{2,40})"')
BEHIND, SHORT = 5_000, 16  # characters of source from the heading on, and short texts, among which a buy button stands
MAX_PROSE = 30  # characters; longer texts count as sentences
ENOUGH = 3.0  # evidence for a product page
LISTED = 2.0  # more if structured data lists other products
PERIODIC = 2.0  # less for a price that is paid each month


class Shown:
    """Fills a draft from its visible page."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.view = View(draft.document)

    def is_product(self, evidence: StructuredData) -> bool:
        """Whether the page looks like a product page: enough of the following, which listings and articles do not
        combine.

        Its own price by the heading (2, 0.5 more if named a price, 0.5 in a sentence), a buy button (2), a labelled
        identifier (1), out-of-stock wording (1), a URL that names a product (1) or has an identifier (0.5), structured
        data with a product's name (0.5), that one asks for the price (2, beside 1 of the former). A price for a month
        or a night, and a front page, count 2 less. It takes 3, without a heading 4, and 2 more if structured data lists
        other products. A price that repeats like those of a listing's entries or of plans rules it out.
        """
        if self.is_of_several:
            return False
        enough = ENOUGH + (self.view.heading is None) + LISTED * evidence.listed
        best = self._own_price
        score = 0.5 * evidence.named - 2.0 * urls.is_front(self.draft.document.url)
        if best is not None:
            score -= PERIODIC * surroundings.is_of_period(self.view, best.index)
        if best is not None and best.index != self.view.heading_index:
            score += 2.5 if best.named else 2.0 if len(self.view.texts[best.index][0]) <= MAX_PROSE else 0.5
        score += 2.0 * (buy_buttons.buy_button(self.view) is not buy_buttons.Button.NONE)
        score += url_identifiers.likelihood(self.draft.document.url)
        if best is None and score >= 1:
            score += 2.0 * on_request.is_said(self.view)
        if score < enough - 2:  # for the two signs below; pages that sell nothing are told here
            return False
        score += identifiers.has_label(self.view)
        if enough - 1 <= score < enough:
            score += visible_stock.is_out(self.view)
        return score >= enough and not other_kinds.outweigh(self.view, score - enough)

    def is_called_product(self, metas: Mapping[str, str]) -> bool:
        """Whether the page calls itself a product (og:type), and anything else stated or shown speaks for one: some
        sites call all of their pages products."""
        if not opengraph.is_product(metas):
            return False
        is_stated = not all(map(self.draft.lacks, _SIGNS))
        is_shown = self._own_price is not None or any(self._signs.values())
        return is_stated or is_shown or visible_stock.is_out(self.view)

    def lacking(self) -> list[str]:
        """Of the signs that weigh most in `is_product`, those that the page lacks, in words."""
        return [name for name, is_there in self._signs.items() if not is_there]

    @cached_property
    def _signs(self) -> dict[str, bool]:
        return {
            "price of its own by a heading": self._own_price is not None and self.view.heading is not None,
            "buy button": buy_buttons.buy_button(self.view) is not buy_buttons.Button.NONE,
            "identifier with a label": identifiers.has_label(self.view),
            "URL like a product's": url_identifiers.likelihood(self.draft.document.url) > 0,
        }

    @property
    def is_of_several(self) -> bool:
        """Whether its prices repeat like those of a listing's entries or of plans."""
        if visible_price.are_listed(self._by_score):
            return True
        best = self._best_price
        return best is not None and (best.repeated or self._is_of_cards(best))

    def is_listing(self, evidence: StructuredData) -> bool:
        """Whether a page that only may be a product's shows several: the likeliest price is in the card of one, or all
        are of a list where structured data just calls the page a product."""
        if not evidence.vague:
            is_called = not evidence.main and self.draft.lacks("price")
            return is_called and visible_price.are_listed(self._by_score)
        best = self._best_price
        return best is not None and visible_price.is_in_card(self.view, best)

    def _is_of_cards(self, best: Price) -> bool:
        heading = self.view.heading_index  # above it a cart may offer something
        near = best.score - visible_price.ASIDE  # less: from which shipping is free, without tax, or paid in parts
        likely = [each for each in self._prices if each.score > near]
        below = [each for each in likely if each.index > heading or best.index < heading]
        alike = any(each is not best and each.look == best.look for each in below)
        return alike and visible_price.is_of_cards(self.view, best, below, buy_buttons.buy_places(self.view))

    def read(self, evidence: StructuredData) -> None:
        """Fill missing fields, and correct the stated price if the page shows another one."""
        draft, page = self.draft, self.view
        if draft.lacks("title"):
            draft.set("title", visible_facts.shown_title(page), "html")
        if draft.lacks("price", "currency") or self._is_contradicted(evidence):
            self._read_price(evidence)
        if draft.lacks("availability") or (self._is_denied() and visible_stock.is_sold(page)):
            draft.set("availability", visible_stock.shown_availability(page), "html")
        elif self._is_promised():
            draft.set("availability", visible_stock.contradiction(page), "html")
        self._read_details(evidence)

    def is_needed(self, evidence: StructuredData) -> bool:
        """Whether the visible page may contradict or add to structured data."""
        is_asked = not evidence.complete or self.is_doubtful(evidence) or self._is_denied()
        return is_asked or (self._is_promised() and self._may_be_out())

    def _may_be_out(self) -> bool:
        """Whether a short text in the source right behind the heading denies the stock: few pages have one."""
        document = self.draft.document
        markup = document.markup
        start = document.heading_at
        if start < 0:
            start = markup.find(self.draft.fields["title"], markup.find("<body"))
        if start < 0:
            return False
        texts = [found[1] for found in islice(_SHORT.finditer(markup, start, start + BEHIND), SHORT)]
        texts = [text.lower() for text in (*texts, *_LABEL.findall(markup, start, start + BEHIND))]
        lexicon = self.view.lexicon
        likely = lexicon.of_denial.among(texts)
        return any(lexicon.availability(texts[at]) in _DENIALS for at in likely)

    def _is_denied(self) -> bool:
        """Whether structured data says out of stock: a working buy button overrides that."""
        draft = self.draft
        return draft.fields.get("availability") in _DENIALS and draft.found_in["availability"] != "rule"

    def _is_promised(self) -> bool:
        """Whether structured data says in stock: a button that does not work, and words beside it, override that."""
        draft = self.draft
        return draft.fields.get("availability") in _PROMISES and draft.found_in["availability"] != "rule"

    @cached_property
    def is_internal(self) -> bool:
        """Whether the identifier in structured data is not visible, or is a GTIN, and the page labels another one."""
        if self.draft.lacks("sku") or self.draft.found_in["sku"] == "rule":
            return False
        document, sku = self.draft.document, self.draft.fields["sku"]
        if identifiers.is_shown(sku, document.markup) and values.gtin(sku) is None:
            return False
        return document.has_tree or identifiers.may_label(document.markup)  # a tree answers in less time

    def is_doubtful(self, evidence: StructuredData) -> bool:
        """Whether the stated price may not be the current one."""
        if self.draft.lacks("price") or self.draft.found_in["price"] == "rule":
            return False
        price, document = self.draft.fields["price"], self.draft.document
        if len(set(evidence.prices)) > 1 or evidence.others or evidence.highest or price_in_source.is_net(document):
            return True
        markup = document.markup
        places = price_in_source.places_of(price, markup)
        if price_in_source.is_reduced(price, markup, places) or not price_in_source.is_shown(price, markup, places):
            return True
        return evidence.complete and price_in_source.is_untaxed(price, markup, places)  # else texts are asked

    def read_identifier(self) -> None:
        """Replace an invisible identifier by the labelled one."""
        if self.is_internal and (labelled := identifiers.labelled_sku(self.view)):
            self.draft.set("sku", labelled, "html")

    @cached_property
    def _prices(self) -> list[Price]:
        return visible_price.chosen(self.view, self._by_score)

    @cached_property
    def _by_score(self) -> list[Price]:
        return visible_price.by_score(self.view)

    @cached_property
    def _best_price(self) -> Price | None:
        """The likeliest price; none behind a text that says to ask for it."""
        best = self._likeliest() if self._prices else None
        if best is None or on_request.is_before(self.view, best.index):
            return None
        return (best.aside and unnamed_price.beside(self.view, best, self._prices)) or best

    def _likeliest(self) -> Price | None:
        best = visible_price.best_price(self._prices)
        if best is None:
            best = unnamed_price.price_by_button(self.view, self._prices, buy_buttons.buy_places(self.view))
            if best is None and buy_buttons.buy_button(self.view) is not buy_buttons.Button.NONE:
                best = unnamed_price.only_price(self.view, self._prices)
            elif best is None and (regular := unnamed_price.regular_price(self._prices)):
                best = regular if visible_stock.is_out(self.view) else None
        return best

    @cached_property
    def _own_price(self) -> Price | None:
        """The best price, unless it stands in the card of another product."""
        best = self._best_price
        return None if best is not None and visible_price.is_in_card(self.view, best) else best

    def _standing(self, evidence: StructuredData) -> ShownAs:
        """Whether the page shows the one price that is stated: in its texts that costs less than to doubt it."""
        if len(set(evidence.prices)) > 1 or evidence.others:
            return ShownAs.NOWHERE
        return stated_price.standing(self.view, self.draft.fields["price"], self.draft.fields.get("currency"))

    def _is_contradicted(self, evidence: StructuredData) -> bool:
        """Whether the page may ask another price than the stated one.

        A page with complete data is mostly here for its stock: its source is asked first, without the prices in it.
        """
        if self.draft.found_in["price"] == "rule":
            return False
        if evidence.complete and not self.is_doubtful(evidence):
            return False
        standing = self._standing(evidence)
        if standing is ShownAs.ASKED:
            return evidence.highest is not None
        return standing is ShownAs.ELSEWHERE or self.is_doubtful(evidence)

    def _read_price(self, evidence: StructuredData) -> None:
        draft = self.draft
        if draft.lacks("price"):
            best = self._best_price
            if visible_free.says_free(self.view, best, is_stated=evidence.free):
                draft.set_free()
                return
            if best is None and (hidden := attribute_price.hidden_price(self.view)):
                draft.set("currency", draft.fields.get("currency") or hidden[1], "html")
                draft.set("price", hidden[0], "html")
        elif draft.found_in["price"] == "rule":
            best = None
        else:
            stated, currency = evidence.prices or [draft.fields["price"]], draft.fields.get("currency")
            best = stated_price.in_another(self._prices, currency, evidence.others)
            best = best or stated_price.corrected(stated, self._prices, currency, evidence.highest)
            if currency is not None and draft.found_in["currency"] != "rule":
                draft.set("currency", stated_price.currency_instead(stated[0], currency, best, self._prices), "html")
        if best is not None:
            draft.set("price", best.amount, "html")
        if draft.lacks("currency") and not draft.lacks("price"):
            currency = stated_price.currency_of(draft.fields["price"], self._prices)
            draft.set("currency", currency, "html")

    def _read_details(self, evidence: StructuredData) -> None:
        draft, page = self.draft, self.view
        if draft.lacks("sku") and (sku := identifiers.shown_sku(page, evidence.other_ids)):
            draft.set("sku", *sku)
        else:
            self.read_identifier()
        if draft.lacks("rating") and (rating := visible_facts.shown_rating(page)):
            draft.set("rating", rating[0], "html", scale=rating[1])
        for name, read in _DETAILS.items():
            if draft.lacks(name):
                draft.set(name, read(page), "html")


_SIGNS: Final = ("price", "availability", "sku", "gtin", "brand")  # of a product, in structured data
_DENIALS: Final = ("OutOfStock", "Discontinued")
_PROMISES: Final = ("InStock", "LimitedAvailability")
_DETAILS: Final[dict[str, Callable[[View], str | None]]] = {
    "gtin": visible_gtin.shown_gtin,
    "brand": visible_brand.shown_brand,
    "review_count": visible_facts.shown_reviews,
    "image": visible_facts.shown_image,
    "category": visible_facts.shown_category,
}
